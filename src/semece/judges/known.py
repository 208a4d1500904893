"""The judges that there are, and how each is opened by its spelling."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any

from semece.errors import SemeceError, meant
from semece.judges.exact import ExactJudge
from semece.judges.given import GivenJudge
from semece.judges.judged_questions import FreeJudge
from semece.judges.llm import METHODS, PROMPTS, TEXTS, LLMJudge

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


@cache
def _nli(path: str, variant: str) -> Judge:
    from semece.judges.nli import WAYS, NLIJudge

    if variant not in WAYS:
        raise SemeceError(f"after # the judge nli/PATH takes {' or '.join(WAYS)}; got {variant!r}")
    return FreeJudge(NLIJudge(path, variant))


def _open_nli(name: str, variant: str | None, **_: Any) -> Judge:  # noqa: ANN401 - the options of a model
    """Open a classifier; its libraries and weights are found then, and loaded when it is first asked."""
    return _nli(name.removeprefix(NLI), "strict" if variant is None else variant)


MODEL, NLI = "SERVICE/NAME", "nli/"
"""Stands in the table for every spelling of a model; what the spelling of a classifier begins with."""

JUDGES: dict[str, KnownJudge] = {
    "rules": KnownJudge("rules of English, no model: free", _without_variants(_rules)),
    "exact": KnownJudge("equal strings, no model: free", _without_variants(partial(FreeJudge, ExactJudge()))),
    "math": KnownJudge("equal as mathematics, words by the rules, no model: free", _without_variants(_math)),
    f"{NLI}PATH": KnownJudge("a classifier of entailment in a folder, no language model: free", _open_nli),
    "given": KnownJudge(
        "labels and grades that came with the samples", _without_variants(GivenJudge), came_with_samples=True
    ),
    MODEL: KnownJudge("a language model, asked with a prompt", _open_llm, asks_model=True),
}
"""By spelling. Adding a judge is adding a row."""

ALWAYS = tuple(n for n, row in JUDGES.items() if not row.asks_model and not row.came_with_samples and "/" not in n)
"""Judges under which every run can be read."""


def row_of(spelling: str) -> KnownJudge:
    """Find the row of a judge, with or without what follows a ``#``.

    Raises
    ------
    SemeceError
        It is neither a judge nor a model's spelling.
    """
    name = spelling.partition("#")[0]
    known = f"{NLI}PATH" if name.startswith(NLI) else MODEL if "/" in name else name
    row = JUDGES.get(known)
    if row is None:
        own = ", ".join(known for known in JUDGES if known != MODEL)
        raise SemeceError(
            f"there is no judge {spelling!r}{meant(name, JUDGES)}: a judge is one of {own}, or a model's spelling such "
            "as openai/gpt-4o-mini"
        )
    return row


def open_judge(spelling: str, *, prompt: str = "default", seed: int = 0, order: int = 0) -> Judge:
    """Open a judge: ``rules``, ``exact``, ``math``, ``given``, ``nli/PATH``, or any model's spelling.

    After a ``#`` a model's spelling may say how it judges: ``openai/gpt-4o-mini#strict`` (a prompt),
    ``openai/gpt-4o-mini#order=1`` (another order of the answers), ``local/smollm2#pairs`` (two answers are compared at
    a time), ``openai/o4-mini#max-tokens=16384`` (room for a reply, 2,048 tokens if nothing is said),
    ``openai/gpt-4o-mini#v1`` (the older texts), or several, separated by commas; ``nli/PATH`` takes ``#loose``.

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


_TEXTS = {f"v{version}": version for version in range(1, TEXTS + 1)}
"""How the version of the texts is spelled."""


def _option(part: str) -> tuple[str, str | int]:
    """Read one part of what follows the ``#``: a field of the judge, and its value."""
    option, equals, value = part.partition("=")
    if option in PROMPTS and not equals:
        return "prompt", option
    if option in METHODS and not equals:
        return "method", option
    if option == "prompt" and value in PROMPTS:
        return "prompt", value
    if not equals and option in _TEXTS:
        return "texts", _TEXTS[option]
    least = {"order": 0, "seed": 0, "max-tokens": 1}
    if option in least and value.isdecimal() and len(value) < 19 and int(value) >= least[option]:
        return option.replace("-", "_"), int(value)
    words = ", ".join((*PROMPTS, *METHODS, *_TEXTS))
    raise SemeceError(
        f"after # a judge's spelling takes {words}, order=NUMBER, seed=NUMBER or max-tokens=NUMBER, separated by "
        f"commas; got {part!r}{meant(part, (*PROMPTS, *METHODS, *_TEXTS))}"
    )


def with_room(spelling: str, max_tokens: int | None) -> str:
    """Spell a judge with a limit on tokens of a reply; one without a model, or with a limit already, stays as it is.

    Examples
    --------
    >>> with_room("openai/o4-mini#strict", 9000), with_room("rules", 9000), with_room("openai/o4-mini", None)
    ('openai/o4-mini#max-tokens=9000,strict', 'rules', 'openai/o4-mini')
    """
    if max_tokens is None or "max-tokens=" in spelling.partition("#")[2]:
        return spelling
    return _varied(spelling, f"max-tokens={max_tokens}")


def with_method(spelling: str, method: str) -> str:
    """Spell a judge with the way in which it groups; one without a model, or that says it, stays as it is.

    Examples
    --------
    >>> with_method("local/smollm2", "pairs"), with_method("rules", "pairs"), with_method("openai/x", "classes")
    ('local/smollm2#pairs', 'rules', 'openai/x')
    """
    said = {part.strip() for part in spelling.partition("#")[2].split(",")}
    return spelling if method == METHODS[0] or said & set(METHODS) else _varied(spelling, method)


def _varied(spelling: str, part: str) -> str:
    """Add a part after the ``#`` of a model's spelling."""
    name, mark, variant = spelling.partition("#")
    return f"{name}#{part}{',' if mark else ''}{variant}" if row_of(spelling).asks_model else spelling


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
    pairs, name = prompt.startswith("pairs+"), prompt.removeprefix("pairs+").partition("@")[0]
    if name not in PROMPTS:
        return None
    judge = LLMJudge(model, name, int(seed), int(order), method="pairs" if pairs else "classes")
    every = (judge, *(replace(judge, texts=version) for version in range(TEXTS - 1, 0, -1)))
    return next((one.name for one in every if one.id == identity), None)


def open_judges(partition: str, grade: str, *, prompt: str = "default") -> tuple[Judge, Judge]:
    """Open the judges of the two stages.

    How answers are grouped has no meaning where one answer is graded: the grades of all orders and methods are the same
    replies.

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
        grader = replace(grader, seed=0, order=0, method="classes")
    if row_of(grade).came_with_samples and not row_of(partition).came_with_samples:
        raise SemeceError(f"the judge 'given' grades the classes that came with the file; got classes by {partition!r}")
    return open_judge(partition, prompt=prompt), grader


def as_asked(judge: Judge, known: Callable[[], set[str]]) -> Judge:
    """Give a model's judge with the newest texts to which there are replies; any other as it is.

    Parameters
    ----------
    judge : Judge
        As it would be asked today.
    known : callable
        Gives the ids of the judges whose replies there are.

    Examples
    --------
    >>> old = open_judge("openai/x#v1")
    >>> as_asked(open_judge("openai/x"), lambda: {old.id}).name, as_asked(open_judge("openai/x"), set).name
    ('openai/x#v1', 'openai/x')
    """
    if not isinstance(judge, LLMJudge):
        return judge
    ids = known()
    every = (judge, *(replace(judge, texts=version) for version in range(TEXTS - 1, 0, -1)))
    return next((one for one in every if one.id in ids), judge)


def models_of(judges: tuple[Judge, ...]) -> list[str]:
    """Spell the models that judges ask, each once."""
    return list(dict.fromkeys(judge.model for judge in judges if judge.model is not None))
