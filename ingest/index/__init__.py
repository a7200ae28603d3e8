"""The index: ports, tables, migrations and the SQLite adapter."""
