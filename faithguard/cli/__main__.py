"""`python -m faithguard.cli`: the same as `faithguard`."""

from faithguard.cli import main

main()
