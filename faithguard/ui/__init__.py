"""A store of records -> a page on this machine that shows them.

    with Server("records.db") as server:
        print(server.url)

In: what `faithguard.sinks.SqliteSink` wrote, also while it writes. Out: a page for a browser:
answers with their claims and evidence, and charts. It is served on 127.0.0.1 to those who have
the token in its address, loads nothing from elsewhere, and writes nothing unless labelling is on.
"""

from faithguard.ui._server import Server

__all__ = ["Server"]
