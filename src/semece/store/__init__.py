"""The run file: its tables, the texts in it, the keys of its rows."""
