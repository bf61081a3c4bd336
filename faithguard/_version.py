"""The version of faithguard: part of every report, since behaviour comes with it."""

__version__ = "0.1.0"
