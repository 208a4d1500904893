"""The judges that there are, and how each is opened by its spelling."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from semece.errors import SemeceError
from semece.judges.exact import ExactJudge
from semece.judges.given import GivenJudge
from semece.judges.judged_questions import FreeJudge
from semece.judges.llm import PROMPTS, LLMJudge

if TYPE_CHECKING:
    from collections.abc import Callable

    from semece.judges.judge_protocol import Judge


@dataclass(frozen=True, slots=True)
class KnownJudge:
    """A row of the table of judges.

    Parameters
    ----------
    about : str
        What it does, for people.
    open : callable
        From what follows the ``#`` of a spelling (None: there is no ``#``), the name before it, and the options of
        :func:`open_judge`, to the judge.
    asks_model : bool
        Whether its name is the spelling of a model, which is asked and may cost something.
    came_with_samples : bool
        Whether it says what a file of samples says, and so can judge nothing else.
    """

    about: str
    open: Callable[..., Judge]
    asks_model: bool = False
    came_with_samples: bool = False


def _open_llm(name: str, variant: str | None, **options: Any) -> Judge:  # noqa: ANN401 - those of open_judge
    judge = LLMJudge(name, **options)
    return judge if variant is None else replace(judge, **_variant(variant))


@cache
def _rules() -> Judge:
    from semece.judges.rules.rules_judge import RulesJudge  # its words and units take a while to load

    return FreeJudge(RulesJudge())


def _without_variants(make: Callable[[], Judge]) -> Callable[..., Judge]:
    """Make the opener of a judge that always judges in the same way."""

    def opened(name: str, variant: str | None, **_: Any) -> Judge:  # noqa: ANN401 - the options of a model
        if variant is not None:
            raise SemeceError(f"{name} has no variants: it always judges in the same way; got {f'{name}#{variant}'!r}")
        return make()

    return opened


def _math() -> Judge:
    """Open the mathematics judge; its library is found then."""
    from semece.judges.math import MathJudge

    return FreeJudge(MathJudge())


MODEL = "SERVICE/NAME"
"""Stands in the table for every spelling of a model."""

JUDGES: dict[str, KnownJudge] = {
    "rules": KnownJudge("rules of English, no model: free", _without_variants(_rules)),
    "exact": KnownJudge("equal strings, no model: free", _without_variants(partial(FreeJudge, ExactJudge()))),
    "math": KnownJudge("equal as mathematics, words by the rules, no model: free", _without_variants(_math)),
    "given": KnownJudge(
        "labels and grades that came with the samples", _without_variants(GivenJudge), came_with_samples=True
    ),
    MODEL: KnownJudge("a language model, asked with a prompt", _open_llm, asks_model=True),
}
"""By spelling. Adding a judge is adding a row."""

ALWAYS = tuple(name for name, row in JUDGES.items() if not row.asks_model and not row.came_with_samples)
"""Judges under which every run can be read."""


def row_of(spelling: str) -> KnownJudge:
    """Find the row of a judge, with or without what follows a ``#``.

    Raises
    ------
    SemeceError
        It is neither a judge nor a model's spelling.
    """
    name = spelling.partition("#")[0]
    row = JUDGES.get(MODEL if "/" in name else name)
    if row is None:
        own = ", ".join(known for known in JUDGES if known != MODEL)
        raise SemeceError(
            f"there is no judge {spelling!r}: a judge is one of {own}, or a model's spelling such as openai/gpt-4o-mini"
        )
    return row


def open_judge(spelling: str, *, prompt: str = "default", seed: int = 0, order: int = 0) -> Judge:
    """Open a judge: ``rules``, ``exact``, ``given``, or any model's spelling.

    After a ``#`` a model's spelling may say how it judges: ``openai/gpt-4o-mini#strict`` (a prompt),
    ``openai/gpt-4o-mini#order=1`` (another order of the answers), ``openai/o4-mini#max-tokens=16384`` (room for a
    reply, 2,048 tokens if nothing is said), or several, separated by commas.

    Parameters
    ----------
    spelling : str
        Who judges. What it says itself wins over the options.
    prompt : {'default', 'strict', 'loose'}
        Which texts instruct a model.
    seed, order : int
        Of the order in which a model is shown the answers.

    Raises
    ------
    SemeceError
        The spelling is neither, or what follows the ``#`` is unknown.

    Examples
    --------
    >>> open_judge("openai/gpt-4o-mini#strict", order=1).name
    'openai/gpt-4o-mini#strict,order=1'
    """
    name, mark, variant = spelling.partition("#")
    return row_of(spelling).open(name, variant if mark else None, prompt=prompt, seed=seed, order=order)


def _variant(text: str) -> dict[str, Any]:
    """Read what follows the ``#`` of a model's spelling."""
    given: dict[str, Any] = {}
    for part in text.split(","):
        name, value = _option(part.strip())
        if name in given:
            raise SemeceError(f"after # a judge's spelling says each thing once; got {text!r}")
        given[name] = value
    return given


def _option(part: str) -> tuple[str, str | int]:
    """Read one part of what follows the ``#``: a field of the judge, and its value."""
    option, equals, value = part.partition("=")
    if option in PROMPTS and not equals:
        return "prompt", option
    if option == "prompt" and value in PROMPTS:
        return "prompt", value
    least = {"order": 0, "seed": 0, "max-tokens": 1}
    if option in least and value.isdecimal() and len(value) < 19 and int(value) >= least[option]:
        return option.replace("-", "_"), int(value)
    raise SemeceError(
        f"after # a judge's spelling takes {', '.join(PROMPTS)}, order=NUMBER, seed=NUMBER or max-tokens=NUMBER, "
        f"separated by commas; got {part!r}"
    )


def with_room(spelling: str, max_tokens: int | None) -> str:
    """Spell a judge with a limit on tokens of a reply; one without a model, or with a limit already, stays as it is.

    Examples
    --------
    >>> with_room("openai/o4-mini#strict", 9000), with_room("rules", 9000), with_room("openai/o4-mini", None)
    ('openai/o4-mini#max-tokens=9000,strict', 'rules', 'openai/o4-mini')
    """
    name, mark, variant = spelling.partition("#")
    if max_tokens is None or not row_of(spelling).asks_model or "max-tokens=" in variant:
        return spelling
    return f"{name}#max-tokens={max_tokens}{',' if mark else ''}{variant}"


def spelling_of(identity: str) -> str | None:
    """Spell a judge by the id that stands beside its replies; None if its prompt has changed since.

    Examples
    --------
    >>> spelling_of(open_judge("openai/gpt-4o-mini#strict").id), spelling_of("llm:x/y;prompt=old@0;seed=0;order=0")
    ('openai/gpt-4o-mini#strict', None)
    """
    if identity in JUDGES:
        return identity
    model, *options = identity.removeprefix("llm:").rsplit(";", 3)
    prompt, seed, order = (option.partition("=")[2] for option in options)
    name = prompt.partition("@")[0]
    judge = LLMJudge(model, prompt=name, seed=int(seed), order=int(order)) if name in PROMPTS else None
    return judge.name if judge is not None and judge.id == identity else None


def open_judges(partition: str, grade: str, *, prompt: str = "default") -> tuple[Judge, Judge]:
    """Open the judges of the two stages.

    The order of the answers has no meaning where one answer is graded: the grades of all orders are the same replies.

    Parameters
    ----------
    partition, grade : str
        Spellings.
    prompt : str
        As in :func:`open_judge`.

    Raises
    ------
    SemeceError
        As :func:`open_judge`, and if given verdicts, which are of the file's own classes, were to grade others.

    Examples
    --------
    >>> [judge.name for judge in open_judges("openai/x#order=1", "openai/x#order=1")]
    ['openai/x#order=1', 'openai/x']
    """
    grader = open_judge(grade, prompt=prompt)
    if isinstance(grader, LLMJudge):
        grader = replace(grader, seed=0, order=0)
    if row_of(grade).came_with_samples and not row_of(partition).came_with_samples:
        raise SemeceError(f"the judge 'given' grades the classes that came with the file; got classes by {partition!r}")
    return open_judge(partition, prompt=prompt), grader


def models_of(judges: tuple[Judge, ...]) -> list[str]:
    """Spell the models that judges ask, each once."""
    return list(dict.fromkeys(judge.model for judge in judges if judge.model is not None))
