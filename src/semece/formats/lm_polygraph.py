"""Results of lm-polygraph: what ``UEManager.save`` writes with ``torch.save``, read without torch.

Schema: lm-polygraph at efea882, ``utils/manager.py`` (UEManager): ``estimations`` holds a list of uncertainties by
level and estimator, ``stats`` the ``input_texts`` and ``target_texts`` and what ``save_stats`` names. The answers are
``sample_texts``, which ``save_stats=["sample_texts"]`` keeps, else the one of ``greedy_texts``. Every estimation of a
sequence is a score of which less is surer. A JSON document with ``estimations`` by name and ``stats`` is read, too.

The archive holds a pickle. Of what it names only containers and numbers are built, so that nothing in a file is run.
"""

from __future__ import annotations

import collections
import io
import math
import pickle
import zipfile
from typing import TYPE_CHECKING, Any

from semece.formats.file_responses import FileQuestion, FileResponse, numbered, response_text
from semece.formats.sources import fault, list_in, value_in

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from semece.formats.sources import Opening, SampleFile, Wanted

LEVEL = "sequence"
"""The level of an estimation that is about an answer as a whole."""
_MEMBER = "/data.pkl"
_BUILT = {
    ("collections", "defaultdict"): collections.defaultdict,
    ("collections", "OrderedDict"): collections.OrderedDict,
    **{
        (module, kind.__name__): kind
        for module in ("builtins", "__builtin__")
        for kind in (list, dict, set, float, int)
    },
}
_WIDTHS = frozenset({"f2", "f4", "f8", "i4", "i8"})


def detect(opening: Opening) -> bool:
    """Whether a file begins like an archive of torch's, or is a document with estimations."""
    return any(name.endswith(_MEMBER) for name in opening.names) or opening.has("estimations", "stats")


def read(sources: Sequence[SampleFile], wanted: Wanted) -> Iterator[FileQuestion]:
    """Read one result; questions are named by their places, from 0.

    Raises
    ------
    ParseError
        Naming file, column, what was expected and what came.
    """
    del wanted
    if len(sources) > 1:
        raise fault(sources[1].path, "one result of lm-polygraph at a time", "a second one")
    (source,) = sources
    where = str(source.path)
    result = _unpickled(source) if source.opening.kind == "zip" else source.document()
    stats = value_in(result, where, "stats")
    texts, targets = list_in(stats, where, "input_texts"), stats.get("target_texts") or []
    drawn = stats.get("sample_texts") or []
    if not drawn:
        source.findings.note(
            "only greedy answers are there; save_stats=['sample_texts'] of UEManager keeps the samples"
        )
        drawn = [[text] for text in list_in(stats, where, "greedy_texts")]
    for name, column in (("answers", drawn), *((("target_texts", targets),) if targets else ())):
        if len(column) != len(texts):
            raise fault(where, f"{len(texts)} {name}, one per text of input_texts", len(column))
    scores = _scores(value_in(result, where, "estimations"), len(texts))
    source.findings.kinds.update(dict.fromkeys(scores, "lower"))
    for i in range(len(texts)):
        yield from source.findings.tried(_sample, source, i, (texts, targets, drawn), scores)


def _scores(estimations: object, n: int) -> dict[str, Sequence[Any]]:
    """Name the estimations of sequences, with one number per text."""
    found: dict[str, Sequence[Any]] = {}
    for key, values in estimations.items() if isinstance(estimations, dict) else ():
        level, name = key if isinstance(key, tuple) and len(key) == 2 else (LEVEL, key)
        if level == LEVEL and isinstance(name, str) and isinstance(values, list) and len(values) == n:
            found[name] = values
    return found


def _sample(
    source: SampleFile, i: int, columns: tuple[Sequence[Any], ...], scores: Mapping[str, Sequence[Any]]
) -> FileQuestion:
    place = f"question {i}"
    text, target, answers = (column[i] if len(column) else None for column in columns)
    if not isinstance(text, str) or not text.strip():
        raise fault(source.where(place), "text in input_texts", "none")
    if not isinstance(answers, list):
        raise fault(source.where(place), "a list of answers", type(answers).__name__)
    targets = target if isinstance(target, list) else [target]
    references = tuple(each.strip() for each in targets if isinstance(each, str) and each.strip())
    responses = tuple(FileResponse(response_text(answer), place) for answer in answers)
    numbers = {name: float(values[i]) for name, values in scores.items() if _is_number(values[i])}
    question = numbered(i, text, references)
    return FileQuestion(question, responses, file=str(source.path), place=place, whole=True, numbers=numbers)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class _Left:
    """Stands for what is not built: it takes whatever a pickle puts into it."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def _take(self, *_: object) -> None:
        pass

    __setstate__ = __setitem__ = append = extend = add = _take


class _NumberType(_Left):
    """The type of a number of numpy's."""

    def __init__(self, code: object = "", *_: object) -> None:
        self.code, self.order = code, "<"

    def __setstate__(self, state: tuple[Any, ...]) -> None:  # type: ignore[override]
        self.order = ">" if ">" in state[:2] else "<"


class _Numbers(pickle.Unpickler):
    """Builds containers and numbers, numpy's among them, and nothing else."""

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401 - what a pickle names
        """Give what a name stands for."""
        if module.startswith("numpy"):
            return {"scalar": _number, "dtype": _NumberType}.get(name, _Left)
        return _bytes if (module, name) == ("_codecs", "encode") else _BUILT.get((module, name), _Left)

    def persistent_load(self, _: object) -> Any:  # noqa: ANN401 - a storage of a tensor
        """Leave tensors out."""
        return _Left()


def _bytes(text: str, _: str) -> bytes:
    """Give the bytes that protocol 2 writes as text."""
    return text.encode("latin1")


def _number(kind: _NumberType, data: bytes = b"") -> float | None:
    """Read a number of numpy's; None for what is no number."""
    import numpy as np

    return float(np.frombuffer(data, dtype=f"{kind.order}{kind.code}")[0]) if kind.code in _WIDTHS else None


def _unpickled(source: SampleFile) -> Any:  # noqa: ANN401 - what the archive holds
    """Read the archive.

    Raises
    ------
    ParseError
        It is cut, damaged, or holds no pickle.
    """
    try:
        with source.reading(), zipfile.ZipFile(source.path) as archive:
            name = next(each for each in archive.namelist() if each.endswith(_MEMBER))
            return _Numbers(io.BytesIO(archive.read(name))).load()
    except Exception as error:
        where = f"{source.path}, byte {source.path.stat().st_size}"
        came = f"a damaged or cut one ({type(error).__name__})"
        raise fault(where, "the end of an archive of lm-polygraph", came) from None
