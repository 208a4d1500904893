"""The errors semece raises on purpose.

::

    SemeceError            something a person can act on; printed as one sentence, no traceback
    ├── ParseError         a file, a row or a reply that is not what was expected
    ├── StoreError         a run file that cannot be opened, locked, written or continued
    │   └── DiskError      the file system refuses: no space, no permission, a lock that another process holds
    ├── ModelError         a model that cannot be used (unknown name, missing key)
    │   └── ProviderError  the provider refuses (key, model, quota), or is not reached
    │       └── TransientError  nothing was delivered this time; asking again may work
    └── BudgetError        a cap was reached
    StoppedError           a person stopped a run; what was in flight is stored

Bad arguments of a function are ``ValueError``. What came from outside is shown in a sentence through :func:`visible`
and :func:`shortened`, money through :func:`in_dollars`; a name that nobody knows is followed by :func:`meant`; what a
provider says of the end of a reply is read by :func:`finish_status`.
"""

from __future__ import annotations

import errno
import stat
import unicodedata
from math import ceil, log10
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FinishStatus = Literal["ok", "content_filter", "truncated", "refusal"]
"""How a reply ended, as its provider says."""

_ENDINGS: dict[FinishStatus, str] = {
    "truncated": "length max_tokens max_output_tokens model_length model_context_window_exceeded continuation "
    "max_tokens_reached token_limit incomplete_max_tokens max_length",
    "content_filter": "content_filter content_filtered content_policy_violation safety recitation language blocklist "
    "prohibited_content spii image_safety image_prohibited_content image_recitation image_other guardrail_intervened "
    "safety_filter filtered blocked error_toxic",
    "refusal": "refusal refused",
}
_FINISHED: dict[str, FinishStatus] = {name: status for status, names in _ENDINGS.items() for name in names.split()}


def finish_status(reason: object) -> FinishStatus:
    """Say how a reply ended from what its provider calls it, in any case; what is not known ended well.

    Examples
    --------
    >>> finish_status("MAX_TOKENS"), finish_status("PROHIBITED_CONTENT"), finish_status("tool_calls")
    ('truncated', 'content_filter', 'ok')
    """
    name = reason.rpartition(".")[2].strip().lower().replace("-", "_") if isinstance(reason, str) else ""
    return _FINISHED.get(name, "ok")


class SemeceError(Exception):
    """Something a person can act on."""


class ParseError(SemeceError):
    """A file, a row or a reply that is not what was expected."""


class StoreError(SemeceError):
    """A run file that cannot be opened, locked, written or continued."""


class DiskError(StoreError):
    """What the file system refuses: no space, no permission, a lock that another process holds."""


class ModelError(SemeceError):
    """A model that cannot be used; asking again would not help."""


class ProviderError(ModelError):
    """A provider that refuses, or that nobody reaches."""


class TransientError(ProviderError):
    """Nothing was delivered this time; asking again may work.

    Parameters
    ----------
    message : str
        One sentence, without keys.
    status : {'rate_limited', 'timeout', 'connection', 'server', 'broken_body'}
        What went wrong.
    retry_after : float, optional
        Seconds the provider asked to wait.
    maybe_paid : bool
        True if the request may have been served and billed although no reply arrived.
    overloaded : bool
        True if the provider said that it has too much to do.

    Attributes
    ----------
    busy : bool
        Whether fewer requests at once may help: it is overloaded, limits the rate, or did not answer in time.
    """

    def __init__(
        self,
        message: str,
        *,
        status: str,
        retry_after: float | None = None,
        maybe_paid: bool = False,
        overloaded: bool = False,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.retry_after = retry_after
        self.maybe_paid = maybe_paid
        self.busy = overloaded or status in {"rate_limited", "timeout"}


class BudgetError(SemeceError):
    """A cap was reached; what was in flight is stored.

    Parameters
    ----------
    message : str
        One sentence.
    cost, tokens : float or None, int or None
        The least cap that lets the next call through, in USD or tokens: what is spent, set aside, and what it may take.
    """

    def __init__(self, message: str, *, cost: float | None = None, tokens: int | None = None) -> None:
        super().__init__(message)
        self.cost, self.tokens = cost, tokens


class StoppedError(Exception):
    """A person stopped a run: nothing new was sent, and what was in flight is stored."""


def visible(text: str, *, keep: str = "", json: bool = False) -> str:
    r"""Write what a terminal would obey or hide, or no file can hold, as its escape.

    Parameters
    ----------
    text : str
        What came from outside.
    keep : str
        Characters that stay as they are, such as line breaks.
    json : bool
        Whether the escapes are those of JSON.

    Examples
    --------
    >>> visible("a\x1b[31m\nb"), visible("a\x1b[31m\nb", keep="\n")
    ('a\\x1b[31m\\nb', 'a\\x1b[31m\nb')
    """
    if text.isprintable():
        return text
    return "".join(mark if _is_seen(mark) or mark in keep else _escape(mark, json=json) for mark in text)


def _is_seen(mark: str) -> bool:
    """Whether a terminal shows a character and does nothing else; blanks of every width are seen."""
    return mark.isprintable() or unicodedata.category(mark) == "Zs"


def _escape(mark: str, *, json: bool) -> str:
    """Write a character as Python or JSON does, which has two escapes for what lies above the first 65,536."""
    if not json:
        return repr(mark)[1:-1]
    units = mark.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[place : place + 4]}" for place in range(0, len(units), 4))


def in_dollars(cost: float, decimals: int = 2) -> str:
    """Write money: with so many decimals, or with two digits that count where it is less.

    Examples
    --------
    >>> in_dollars(1234.5), in_dollars(0.0), in_dollars(0.0312), in_dollars(0.0000123)
    ('$1,234.50', '$0.00', '$0.031', '$0.000012')
    """
    needed = ceil(-log10(cost)) + 1 if 0 < cost < 1 else 0
    return f"${cost:,.{max(decimals, needed)}f}"


def plural(count: int, noun: str, verb: str = "") -> str:
    """Count a noun, and let a verb agree with it.

    Examples
    --------
    >>> plural(1, "question"), plural(4326, "question"), plural(2, "class"), plural(2, "reply")
    ('1 question', '4,326 questions', '2 classes', '2 replies')
    >>> plural(1, "reply", "is"), plural(2, "reply", "is")
    ('1 reply is', '2 replies are')
    """
    if count == 1:
        return f"1 {noun} {verb}".rstrip()
    many = f"{noun[:-1]}ies" if noun.endswith("ply") else f"{noun}{'es' if noun.endswith('s') else 's'}"
    return f"{count:,} {many} {_OF_MANY[verb]}".rstrip()


_OF_MANY = {"": "", "is": "are", "was": "were", "has": "have", "enters": "enter"}
"""Verbs as they stand after several."""


def shortened(text: str, most: int = 80, *, mark: str = "…", kept: int | None = None) -> str:
    """Cut a text that is too long, and mark the cut.

    Parameters
    ----------
    text : str
        Any text.
    most : int
        The longest text that stays whole.
    mark : str
        Ends a text that was cut.
    kept : int, optional
        Characters that are left before the mark; by default as many as make the result ``most`` long.

    Examples
    --------
    >>> shortened("abcdef", 6), shortened("abcdef", 5), shortened("abcdef", 5, mark="...", kept=2)
    ('abcdef', 'abcd…', 'ab...')
    """
    return text if len(text) <= most else text[: most - len(mark) if kept is None else kept] + mark


def on_one_line(text: str, most: int = 80) -> str:
    r"""Put a text on one line of at most so many characters.

    Examples
    --------
    >>> on_one_line("a\n b"), len(on_one_line("x" * 1000))
    ('a b', 80)
    """
    return shortened(" ".join(text.split()), most)


def meant(name: str, names: Iterable[str]) -> str:
    """Ask whether the nearest known name was meant: words in parentheses to put behind an unknown name, or nothing.

    Parameters
    ----------
    name : str
        What came.
    names : iterable of str
        What is known.

    Examples
    --------
    >>> meant("simpelqa", ["simpleqa", "popqa"]), meant("x", ["simpleqa"])
    (" (did you mean 'simpleqa'?)", '')
    """
    found = nearest(name, names)
    return "" if found is None else f" (did you mean {visible(found)!r}?)"


def if_percent(value: object) -> str:
    """Ask whether a number that must be a share is a percentage; empty where it cannot be one.

    Examples
    --------
    >>> if_percent(80.0), if_percent("80%"), if_percent("0.8"), if_percent(-1)
    (' (percent? divide by 100)', ' (percent? divide by 100)', '', '')
    """
    marked = isinstance(value, str) and value.rstrip().endswith("%")
    return " (percent? divide by 100)" if marked or (isinstance(value, int | float) and 1 < value <= 100) else ""


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Find the known name that is most like a name, in any case; None if none is like it.

    Examples
    --------
    >>> nearest("Questoin", ["text", "question"])
    'question'
    """
    from difflib import get_close_matches

    known = {each.casefold(): each for each in names}
    found = get_close_matches(name.casefold(), known, n=1, cutoff=0.6)
    return known[found[0]] if found else None


_KINDS = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))


def ordinary(path: Path) -> Path:
    """Give a path back if a file is there that can be read more than once and has an end.

    Raises
    ------
    OSError
        Nothing is there, links lead in a circle, or it is a folder, a pipe, a socket or a device.
    """
    try:
        mode = path.stat().st_mode
    except FileNotFoundError as error:
        raise FileNotFoundError(error.errno, f"it does not exist{beside(path)}") from None
    if not stat.S_ISREG(mode):
        kind = next((name for is_kind, name in _KINDS if is_kind(mode)), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}; expected a file")
    return path


_MOST_NAMES = 10_000
"""Names of a folder that are looked through for one that was meant."""


def beside(path: Path) -> str:
    """Ask whether a file that is not there is a near name of its folder, or say that the folder is not there.

    Endings do not make names alike: of ``b.jsonl`` no ``a.jsonl`` is near, but a ``b.json`` is. A file with another
    ending is near only if nothing else differs. A link that leads nowhere is not near itself.
    """
    from itertools import islice

    if path.parent.exists() and not path.parent.is_dir():
        return f": {visible(str(path.parent))} is no folder"
    if not path.parent.is_dir():
        return f": there is no folder {visible(str(path.parent))}"
    try:
        there = [each for each in sorted(islice(path.parent.iterdir(), _MOST_NAMES)) if each.name != path.name]
    except OSError:
        return ""
    stem = nearest(path.stem, (each.stem for each in there if each.suffix == path.suffix))
    wanted = [each for each in there if each.suffix == path.suffix and each.stem == stem]
    alike = wanted or [each for each in there if each.stem == path.stem]
    return f" (did you mean {visible(alike[0].name)!r}?)" if alike else ""
