"""Engines that do the same thing with many parts: this process, Daft or Ray. They are imported when they are asked for.

What a part gives does not depend on who computed it, and parts are put together exactly, whatever their order.
"""

from __future__ import annotations

import os
import pickle
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from semece.errors import SemeceError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

ENGINES = ("local", "daft", "ray")
"""Their names."""

_SILENT = ("DO_NOT_TRACK", "true"), ("DAFT_ANALYTICS_ENABLED", "0"), ("RAY_USAGE_STATS_ENABLED", "0")
"""Neither engine reports its use to anybody."""
_PER_CORE = 2
"""So many parts for each core are given to Ray at once."""

Part = TypeVar("Part")
Found = TypeVar("Found")


def check_engine(engine: str) -> None:
    """Refuse an engine that nobody knows.

    Raises
    ------
    SemeceError
        The engine is unknown.
    """
    if engine not in ENGINES:
        raise SemeceError(f"engine must be one of {', '.join(ENGINES)}; got {engine!r}")


def mapped(engine: str, function: Callable[[Part], Found], parts: Iterable[Part]) -> Iterator[Found]:
    """Compute something of many parts.

    Parameters
    ----------
    engine : {'local', 'daft', 'ray'}
        Where: in this process; in processes of Daft's runner; on Ray, that of ``RAY_ADDRESS`` or one on this machine.
    function : callable
        From a part to what is wanted of it; it and the parts can be pickled.
    parts : iterable
        The parts. Daft takes all of them at once.

    Yields
    ------
    What the function gives, in any order.

    Raises
    ------
    SemeceError
        The engine is unknown or not installed, or the function raised one.

    Examples
    --------
    >>> list(mapped("local", abs, [-1, 2]))
    [1, 2]
    """
    check_engine(engine)
    if engine == "local":
        yield from map(function, parts)
        return
    for name, value in _SILENT:
        os.environ.setdefault(name, value)
    task = partial(_packed, function)
    for packed in (_on_daft if engine == "daft" else _on_ray)(task, parts):
        found = pickle.loads(packed)  # noqa: S301 - by this program, in another process
        if isinstance(found, SemeceError):
            raise found
        yield found


def _packed(function: Callable[[Any], Any], part: bytes) -> bytes:
    """Compute one part in another process; a refusal comes back as what it says."""
    try:
        return pickle.dumps(function(pickle.loads(part)))  # noqa: S301 - as above
    except SemeceError as refusal:
        return pickle.dumps(refusal)


def _on_daft(task: Callable[[bytes], bytes], parts: Iterable[Any]) -> Iterator[bytes]:
    daft = _imported("daft")
    made = daft.func(return_dtype=daft.DataType.binary(), use_process=True)(_named(task))
    table = daft.from_pydict({"part": [pickle.dumps(part) for part in parts]}).into_batches(1)
    for row in table.select(made(daft.col("part")).alias("found")).iter_rows():
        yield row["found"]


def _named(task: Callable[[bytes], bytes]) -> Callable[[bytes], bytes]:
    """Give a task the name and the types that Daft reads off a function."""

    def counted(part: bytes) -> bytes:
        return task(part)

    return counted


def _on_ray(task: Callable[[bytes], bytes], parts: Iterable[Any]) -> Iterator[bytes]:
    ray = _imported("ray")
    own = not ray.is_initialized()
    if own:
        _start(ray)
    try:
        remote, most = ray.remote(_named(task)), _PER_CORE * int(ray.cluster_resources().get("CPU", 1))
        waiting: list[Any] = []
        for part in parts:
            if len(waiting) >= most:
                done, waiting = ray.wait(waiting)
                yield from ray.get(done)
            waiting.append(remote.remote(pickle.dumps(part)))
        while waiting:
            done, waiting = ray.wait(waiting)
            yield from ray.get(done)
    finally:
        if own:
            ray.shutdown()


def _start(ray: Any) -> None:  # noqa: ANN401 - a module
    """Join the cluster of ``RAY_ADDRESS``, or start Ray on this machine."""
    try:
        ray.init(log_to_driver=False, include_dashboard=False, logging_level="error")
    except Exception as error:  # Ray raises what it likes
        where = os.environ.get("RAY_ADDRESS", "this machine")
        raise SemeceError(f"--engine ray: Ray did not start on {where}: {error}") from None


def _imported(name: str) -> Any:  # noqa: ANN401 - a module
    try:
        return import_module(name)
    except ImportError:
        raise SemeceError(f"--engine {name} needs {name}: pip install 'semece[scale]'") from None
