"""Elicitations: ways to ask a model how sure it is of an answer it has given, and the readers of its replies.

Each is a pair of texts, for models that chat and for those that continue a text, with a version and a source. A run's
own prompt asks for a confidence with the answer; these ask afterwards, about the answer that was given most often.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from semece.prompts.listed_guesses import read_guesses
from semece.prompts.probabilities import read_probability
from semece.prompts.truths import read_true
from semece.prompts.word_scales import SCALES, read_words

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from semece.prompts.statements import Guess

VERSION = "elicited-5"
"""The id of what reads these replies: changes whenever a reading may change."""

GUESSES = 4
"""How many guesses ``top-k`` asks for."""

IDEAS = 5
"""How many sampled answers ``p-true`` shows, as Kadavath et al. did."""


class AskedAnswer(NamedTuple):
    """What an elicitation is about.

    Parameters
    ----------
    question, answer : str
        The question, and the answer the model gave most often.
    ideas : sequence of str
        Answers it gave, in the order in which they were drawn.
    """

    question: str
    answer: str
    ideas: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Elicitation:
    """A way to ask for a confidence.

    Parameters
    ----------
    name : str
        ``linguistic``, ``linguistic-mielke``, ``top-k``, ``two-stage`` or ``p-true``.
    source : str
        Where it comes from.
    read : callable
        From a reply to its guesses; none if it states nothing that can be read with certainty.
    grammar : str
        A GBNF grammar of the reply, for models that continue a text and take one.
    draws : int
        How many replies are drawn for a question if nothing is said.
    about_answer : bool
        Whether it asks about the answer; else it asks the question anew.
    sampled : bool
        Whether the shares of the replies estimate a probability, so that they are drawn at temperature 1.
    """

    name: str
    source: str
    read: Callable[[str], tuple[Guess, ...]] = field(repr=False)
    grammar: str = field(repr=False)
    draws: int = 1
    about_answer: bool = True
    sampled: bool = False

    @property
    def score(self) -> str:
        """The name of its confidence in tables."""
        return self.name.replace("-", "_")

    def text_name(self, style: str) -> str:
        """Name its text, with the version."""
        return f"elicit-{self.name}-{style}-v1"

    def turns(self, asked: AskedAnswer, text: str, *, style: str) -> tuple[tuple[str, str], ...]:
        r"""Put it to a model: roles and contents.

        Parameters
        ----------
        asked : AskedAnswer
            What it is about.
        text : str
            Its text in this style. A line ``---`` parts the turns of a conversation, which a person begins.
        style : {'chat', 'completion'}
            A conversation, or one text to be continued.

        Examples
        --------
        >>> asked = AskedAnswer("Capital of France?", "Paris")
        >>> ELICITATIONS["two-stage"].turns(asked, "Q: {question}\n---\nA: {answer}\n---\nSure?", style="chat")
        (('user', 'Q: Capital of France?'), ('assistant', 'A: Paris'), ('user', 'Sure?'))
        """
        values = {"question": asked.question.strip(), "answer": _on_one_line(asked.answer)}
        values["ideas"] = "\n".join(map(_on_one_line, asked.ideas[:IDEAS]))
        filled = [_filled(part, values) for part in re.split(r"\n---\n", text)]
        roles = ("completion",) if style == "completion" else ("user", "assistant", "user")
        return tuple(zip(roles, filled, strict=False))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def _filled(text: str, values: Mapping[str, str]) -> str:
    """Fill the placeholders of a text; one that stands in a value is left alone."""
    return re.sub(r"\{(question|answer|ideas)\}", lambda found: values[found[1]], text)


def choices(words: Iterable[str]) -> str:
    """Write words as alternatives of a grammar."""
    return " | ".join(f'"{word}"' for word in words)


_LINE = r"[^\n]{1,40}"
_PERCENT = '"100%" | [1-9]? [0-9] "%"'
_LISTING = " ".join(
    f'{"" if k == 1 else f"""{chr(34)}G{k}: {chr(34)}"""} line "\\nP{k}: " num "\\n"' for k in range(1, GUESSES + 1)
)

ELICITATIONS: Mapping[str, Elicitation] = {
    each.name: each
    for each in (
        Elicitation(
            "linguistic",
            "Lin, Hilton and Evans 2022, Teaching models to express their uncertainty in words",
            partial(read_words, scale="linguistic"),
            f'root ::= " " ({choices(SCALES["linguistic"])})\n',
        ),
        Elicitation(
            "linguistic-mielke",
            "Mielke et al. 2022, Reducing conversational agents' overconfidence through linguistic calibration",
            partial(read_words, scale="linguistic-mielke"),
            f'root ::= " " ({choices(SCALES["linguistic-mielke"])})\n',
        ),
        Elicitation(
            "top-k",
            "Tian et al. 2023, Just ask for calibration; Xiong et al. 2024, Can LLMs express their uncertainty?",
            read_guesses,
            f'root ::= " " {_LISTING}\nline ::= {_LINE}\nnum ::= {_PERCENT}\n',
            about_answer=False,
        ),
        Elicitation(
            "two-stage",
            "Tian et al. 2023, Just ask for calibration (2S); Xiong et al. 2024, Can LLMs express their uncertainty?",
            read_probability,
            f'root ::= " " ({_PERCENT})\n',
        ),
        Elicitation(
            "p-true",
            "Kadavath et al. 2022, Language models (mostly) know what they know",
            read_true,
            'root ::= "A)" | "B)"\n',
            draws=10,
            sampled=True,
        ),
    )
}
"""By name. Adding an elicitation is adding a row and its two texts."""
