"""What the outputs of batch interfaces have in common: a line a request, under the custom id that somebody chose.

A custom id is the id of a question, or that id, a separator and the number of the request (``q7-3``, ``q7__chunk3``).
The lines say nothing of what was asked: texts and references come from a file of questions.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from semece.errors import ParseError
from semece.formats.drawn import Gathering, Sample, natural
from semece.formats.sources import text_in

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from semece.formats.drawn import Drawn
    from semece.formats.sources import Source, Wanted
    from semece.records import Question

    ReadLine = Callable[[Source, dict[str, Any], str, Wanted], tuple[Drawn, ...] | None]

_NUMBER = re.compile(r"[-_.:#/ ]+[A-Za-z]*[0-9]+")
"""What follows a question's id in the custom id of one of several requests."""


def gathered(sources: Sequence[Source], wanted: Wanted, read_line: ReadLine) -> list[Sample]:
    """Read the lines of batches and put those of each question together, by their custom ids.

    Parameters
    ----------
    sources : sequence of Source
        Outputs of the same batch, or of several.
    wanted : Wanted
        The questions, and which model.
    read_line : callable
        From source, line, place and what is wanted to the responses in it, None if it is of another model.

    Returns
    -------
    list of Sample
        In the order of the questions.

    Raises
    ------
    ParseError
        Naming file, line, what was expected and what came.
    """
    if not wanted.questions:
        raise ParseError(
            f"{sources[0].path}: expected a file of the questions beside the output of a batch, which does not hold "
            "them; name it with --questions"
        )
    gathering = Gathering()
    for source in sources:
        for line, row in source.rows():
            sample = source.findings.tried(_sample, source, row, f"line {line}", wanted, read_line)
            if sample is not None:
                gathering.add(sample, natural(row["custom_id"]))
    order = {name: place for place, name in enumerate(wanted.questions)}
    return sorted(gathering.samples(), key=lambda sample: order[sample.question.id])


def _sample(source: Source, row: dict[str, Any], place: str, wanted: Wanted, read_line: ReadLine) -> Sample | None:
    where = source.where(place)
    question = asked(text_in(row, where, "custom_id"), wanted.questions, where)
    drawn = read_line(source, row, place, wanted)
    return None if drawn is None else Sample(question, drawn, file=str(source.path), place=place, whole=True)


def asked(custom_id: str, questions: Mapping[str, Question], where: str) -> Question:
    """Find the question of a custom id.

    Raises
    ------
    ParseError
        There is none, or there are two.

    Examples
    --------
    >>> from semece.records import Question
    >>> asked("q7-3", {"q7": Question("q7", "2 + 2?")}, "here").id
    'q7'
    """
    stems = (custom_id[:end] for end in range(1, len(custom_id)) if _NUMBER.fullmatch(custom_id, end))
    found = [name for name in dict.fromkeys([custom_id, *stems]) if name in questions]
    if len(found) == 1:
        return questions[found[0]]
    came = f"{custom_id!r}, which may be {' or '.join(map(repr, found))}" if found else repr(custom_id)
    raise ParseError(
        f"{where}: expected in custom_id the id of one of the questions, or that with a number such as -3; got {came}"
    )
