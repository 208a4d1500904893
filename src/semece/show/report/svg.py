"""A matplotlib figure as a piece of a page: its colours are the page's, its text is text."""

from __future__ import annotations

import io
import re
from html import escape
from typing import TYPE_CHECKING

from semece.show import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

VARIABLES: dict[str, str] = {
    figures.INK: "var(--ink)",
    figures.MUTED: "var(--muted)",
    figures.FAINT: "var(--faint)",
    **{color: f"var(--{name})" for name, color in figures.COLORS.items()},
}
"""Which colour of a figure is which variable of the page's style, so that figures follow light and dark."""


def inline_svg(fig: Figure, *, prefix: str, title: str) -> str:
    """Draw a figure for a page.

    Parameters
    ----------
    fig : Figure
        What to draw.
    prefix : str
        Letters and digits that set its ids apart from those of the page's other figures.
    title : str
        Read aloud in place of the figure; escaped here.

    Returns
    -------
    str
        One ``<svg>`` element.

    Examples
    --------
    >>> text = inline_svg(figures.figure()[0], prefix="a", title="x < y")
    >>> text.startswith("<svg"), 'aria-label="x &lt; y"' in text, "#1b1b1f" in text
    (True, True, False)
    """
    buffer = io.StringIO()
    with figures.style({"svg.fonttype": "none"}):
        fig.savefig(buffer, format="svg", metadata={"Date": None}, facecolor="none")
    text = buffer.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"\s*<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    for color, variable in VARIABLES.items():
        text = text.replace(color, variable)
    text = re.sub(r'\b(id=")', rf"\g<1>{prefix}-", text)
    text = re.sub(r"(url\(#|href=\"#)", rf"\g<1>{prefix}-", text)
    head, _, body = text.partition(">")
    box = re.search(r'viewBox="[^"]*"', head)
    assert box is not None  # noqa: S101 - matplotlib always writes one
    return f'<svg role="img" aria-label="{escape(title)}" {box.group()} xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{body}'
