"""From a spelling to a judge."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from semece.errors import SemeceError
from semece.judges.exact import ExactJudge
from semece.judges.given import GivenJudge
from semece.judges.llm import PROMPTS, LLMJudge
from semece.judges.rules.rules_judge import RulesJudge

if TYPE_CHECKING:
    from collections.abc import Callable

    from semece.sampling.stages import Judge

FREE_JUDGES: dict[str, Callable[[], Judge]] = {"rules": RulesJudge, "exact": ExactJudge, "given": GivenJudge}


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
    >>> open_judge("openai/gpt-4o-mini#strict,order=1").order
    1
    """
    name, mark, variant = spelling.partition("#")
    if name in FREE_JUDGES:
        if mark:
            raise SemeceError(f"{name} has no variants: it always judges in the same way; got {spelling!r}")
        return FREE_JUDGES[name]()
    if "/" not in name:
        raise SemeceError(
            f"there is no judge {spelling!r}: a judge is one of {', '.join(FREE_JUDGES)}, or a model's spelling "
            "such as openai/gpt-4o-mini"
        )
    judge = LLMJudge(name, prompt=prompt, seed=seed, order=order)
    return _variant(judge, variant) if mark else judge


def _variant(judge: LLMJudge, text: str) -> LLMJudge:
    """Change a judge as the part of its spelling after the ``#`` says."""
    given: dict[str, Any] = {}
    for part in text.split(","):
        name, value = _option(part.strip())
        if name in given:
            raise SemeceError(f"after # a judge's spelling says each thing once; got {text!r}")
        given[name] = value
    return replace(judge, **given)


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


def spelling_of(identity: str) -> str | None:
    """Spell a judge by the id that stands beside its replies; None if its prompt has changed since.

    Examples
    --------
    >>> spelling_of(open_judge("openai/gpt-4o-mini#strict").id), spelling_of("llm:x/y;prompt=old@0;seed=0;order=0")
    ('openai/gpt-4o-mini#strict', None)
    """
    if identity in FREE_JUDGES:
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
    if isinstance(grader, GivenJudge) and partition != GivenJudge.name:
        raise SemeceError(f"the judge 'given' grades the classes that came with the file; got classes by {partition!r}")
    return open_judge(partition, prompt=prompt), grader
