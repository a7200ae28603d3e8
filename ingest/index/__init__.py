"""The index: ports, tables, migrations and the SQLite adapter.

`open_reader` and `open_writer` choose the adapter by the scheme of DATABASE_URL.
"""

from ingest.index.factory import open_reader, open_writer

__all__ = ["open_reader", "open_writer"]
