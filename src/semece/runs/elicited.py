"""A run's model is asked how sure it is of the answers that it gave most often, in ways chosen after the run.

Replies are stored like all others, under a stage of their own: nothing is drawn again, and nothing asked twice. Which
elicitations a run has stands in its file, and :func:`semece.runs.question_views.elicited_scores` reads them.
"""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, Any, NamedTuple

from semece.runs.question_views import answers_asked, elicited_scores
from semece.runs.renderers import number_text, plural
from semece.runs.run import Run
from semece.sampling import (
    Callers,
    CallSettings,
    Connections,
    PricePlan,
    ResponseStage,
    check_options,
    drawn_as,
    follow_up,
    own_model,
    plan_follow_ups,
    silent,
)
from semece.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from semece.sampling import FollowUp, GivenModel, Progress, RequestTemplate


async def elicit(
    path: str | Path,
    names: Sequence[str],
    *,
    draws: int | None = None,
    calls: CallSettings | None = None,
    model: GivenModel | None = None,
    progress: Progress | None = None,
) -> int:
    """Ask a run's model how sure it is of the answers that it gave most often; what is stored is not asked again.

    Parameters
    ----------
    path : str or Path
        The run file.
    names : sequence of str
        Elicitations: ``linguistic``, ``linguistic-mielke``, ``top-k``, ``two-stage``, ``p-true``.
    draws : int, optional
        Replies per question; if not given one, and ten of ``p-true``.
    calls : CallSettings, optional
        How the model is asked.
    model : Model or callable, optional
        The run's model, if who asks has opened it.
    progress : callable, optional
        Called with (name of the score, steps done); first with a negative number for all steps.

    Returns
    -------
    int
        Replies that are still missing: call again for them.

    Raises
    ------
    SemeceError
        A name is unknown, the file holds samples of another program, the model cannot be asked, or a cap was reached;
        what was delivered is stored.
    """
    asked, missing = calls or CallSettings(), 0
    own = None if model is None else own_model(model)[1]
    check_options(asked)
    with Store(path, write=True, lock=not asked.no_lock) as store:
        about = _About(store, names, draws)
        async with aclosing(Connections(asked, about.model, about.questions, own=own)) as connections:
            callers = Callers(store, connections)
            await callers.collect()
            for name, template in about.templates():
                stage = ResponseStage(
                    callers, template, about.questions, about.options[name]["draws"], progress or silent
                )
                if own is None and any(map(stage.count_missing, about.questions)):
                    connections.open(about.model)
                store.set_meta("elicitations", store.meta("elicitations", {}) | {name: about.options[name]})
                missing += await stage.do()
    return missing


def plan_elicitations(
    path: str | Path,
    names: Sequence[str],
    *,
    draws: int | None = None,
    calls: CallSettings | None = None,
    expected_tokens: int | None = None,
) -> PricePlan:
    """Plan what :func:`elicit` would ask and cost; nothing is asked and nothing written.

    Parameters
    ----------
    path, names, draws, calls
        As there.
    expected_tokens : int, optional
        Tokens per reply, instead of what stored replies took.

    Raises
    ------
    SemeceError
        As there.
    """
    asked = calls or CallSettings()
    check_options(asked)
    with Store(path) as store:
        about = _About(store, names, draws)
        return plan_follow_ups(
            store,
            [(template, about.options[name]["draws"]) for name, template in about.templates()],
            about.questions,
            calls=asked,
            expected_tokens=expected_tokens,
        )


class _About:
    """What is asked about: the questions of a run file, their most frequent answers, and the model that gave them."""

    def __init__(self, store: Store, names: Sequence[str], draws: int | None) -> None:
        run = Run(store)
        self._identity: dict[str, Any] = store.meta("identity")
        self.options = {name: drawn_as(self._identity, name, draws) for name in dict.fromkeys(names)}
        views = run.question_views()
        self._asked = answers_asked(views)
        self.model = run.model
        self.questions = [view.question for view in views if view.question.id in self._asked]

    def templates(self) -> Iterator[tuple[str, RequestTemplate[FollowUp]]]:
        """Say what is asked, one elicitation after the other."""
        for name, options in self.options.items():
            yield name, follow_up(self._identity, name, options, self._asked)


def elicitation_notes(path: str | Path, names: Sequence[str], *, draws: int | None = None) -> list[str]:
    """Say what a person should know before :func:`elicit` asks: where a probability is counted, not told.

    Parameters
    ----------
    path, names, draws
        As there.
    """
    with Store(path) as store:
        about = _About(store, names, draws)
        return [
            f"{about.model} tells no log probabilities: {template.stage} is the share of "
            f"{about.options[name]['draws']} replies that say true"
            for name, template in about.templates()
            if template.prompt.elicitation.sampled and template.logprobs is None
        ]


class Elicited(NamedTuple):
    """A score that a run's model was asked for.

    Parameters
    ----------
    name : str
        The score.
    asked, read : int
        Questions that were asked about, and those of which a reply can be read.
    mean : float or None
        Over those, in [0, 1].
    """

    name: str
    asked: int
    read: int
    mean: float | None

    @property
    def sentence(self) -> str:
        """All of it."""
        mean = "" if self.mean is None else f", mean {number_text(self.mean)}"
        return f"{self.name}: {self.read:,} of {plural(self.asked, 'question')} read{mean}"


def elicited(path: str | Path, names: Sequence[str]) -> list[Elicited]:
    """Say of elicited confidences of a run how many questions have them, and their means.

    Parameters
    ----------
    path : str or Path
        The run file.
    names : sequence of str
        Elicitations.
    """
    with Store(path) as store:
        scores = elicited_scores(store, Run(store).question_views(), names)
    found = {name: [value for value in values.values() if value is not None] for name, values in scores.items()}
    return [
        Elicited(name, len(scores[name]), len(read), sum(read) / len(read) if read else None)
        for name, read in found.items()
    ]
