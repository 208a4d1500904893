"""A run from settings in one step, as most tests need it."""

from semece.sampling.job import resolve
from semece.sampling.stages import make_run


async def execute(settings, path, *, dataset=None, model=None, progress=None, budget=None):
    """Do what is missing of a run; a model that is given stands for the one that the settings spell."""
    job = resolve(settings, path, dataset=dataset, model=model)
    return await make_run(job, progress=progress, budget=budget)
