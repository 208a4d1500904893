"""A run from settings in one step, as most tests need it; and a run file that is changed as if it had been so."""

import sqlite3
from contextlib import closing

from semece.sampling.job import resolve
from semece.sampling.stages import make_run
from semece.store.run_store import _COLUMNS
from semece.store.schema import add_functions


async def execute(settings, path, *, dataset=None, model=None, progress=None, budget=None):
    """Do what is missing of a run; a model that is given stands for the one that the settings spell."""
    job = resolve(settings, path, dataset=dataset, model=model)
    return await make_run(job, progress=progress, budget=budget)


def change(path, sql, values=()):
    """Change rows of a run file, and their checksums with them."""
    with closing(sqlite3.connect(path)) as connection, connection:
        add_functions(connection)
        connection.execute(sql, values)
        connection.execute(f"UPDATE replies SET checksum = reply_checksum({_COLUMNS})")
