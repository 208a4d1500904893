"""Tables as text: Markdown, LaTeX, CSV, JSON.

CSV and JSON keep every column and every digit. Markdown and LaTeX are for reading: two decimals unless told otherwise,
a number and its interval in one cell, null as a dash.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from semece.errors import meant, plural
from semece.runs.metrics import titles
from semece.stats import MISSING, end_text, number_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "COMPARED",
    "FORMULA",
    "KEY_COMPARED",
    "KEY_SIGNED",
    "LABELS",
    "METRIC_TITLES",
    "NUMBER",
    "SIGNED",
    "TINTS",
    "Format",
    "cells",
    "end_text",
    "escaped_latex",
    "guarded",
    "heading",
    "label",
    "latex_rows",
    "number_text",
    "plural",
    "render",
    "shown",
    "to_csv",
    "to_json",
    "to_latex",
    "to_markdown",
    "value_text",
]

Format = Literal["md", "latex", "csv", "json"]

LABELS: dict[str, str] = {
    "run": "Run",
    "dataset": "Dataset",
    "model": "Model",
    "questions": "N",
    "outcomes": "Right / wrong / not answered / failed",
    "excluded": "Excluded",
    "refused": "Not answered",
    "ver_questions": "N (Ver)",
    "sem2_split_questions": "N (split)",
    "regimes": "Jensen / low / large margin",
    "failures": "Failed answers",
    "judge": "Judge",
    "verbalized": "Ver",
    "sem1": "Sem1",
    "sem2": "Sem2",
    "verbalized_gap": "Ver − accuracy",
    "sem1_gap": "Sem1 − accuracy",
    "sem2_gap": "Sem2 − accuracy",
    "mean_difference": "Sem1 − Sem2",
    "ece_gap": "Sem1-ECE − Sem2-ECE",
    "ece_difference": "Sem1-ECE − Sem2-ECE",
    "tokens": "Tokens per question",
    "adjusted_rand": "adjusted rand",
    "modal_jaccard": "modal jaccard",
    "same_mode": "same mode",
    "recalibrated_ece": "ECE, recalibrated",
    "recalibrated_brier": "Brier score, recalibrated",
    "low_margin_questions": "N (low margin)",
    "low_margin_mean_difference": "Sem1 − Sem2 (low margin)",
    "low_margin_ece_difference": "Sem1-ECE − Sem2-ECE (low margin)",
} | titles()
"""Headings, those of metrics among them; another column is headed by its name with spaces."""

CONFIDENCE_COLUMNS = frozenset({"score", "estimator"})
"""Columns whose values are names of confidences; those of ``quantity`` are names of numbers."""

METRIC_TITLES = {"ece": "-ECE", "auroc": "-AUROC", "aurc": "-AURC", "gap": " − accuracy"}
"""Metrics whose columns of scores with a name of their own are headed by both."""

SIGNED: dict[str, str | None] = {
    "mean_difference": None,
    "ece_difference": "note",
    "low_margin_mean_difference": None,
    "low_margin_ece_difference": "low_margin_note",
}
"""Columns in which LaTeX prints a number bold if its interval leaves out 0; none if the second column has a note."""

COMPARED: tuple[str, ...] = ("ver_ece", "sem1_ece", "sem2_ece")
"""Columns among which the smallest of a row is printed bold and the second underlined."""

TINTS: dict[str, tuple[str, str]] = {"sem1_ece": ("semonetint", "FBE4EF"), "sem2_ece": ("semtwotint", "E1EEFA")}
"""Background colours of LaTeX columns: name and HTML code."""

KEY_COMPARED = "% bold: the least ECE of a row, underlined: the second; whether they differ, the intervals say"
KEY_SIGNED = "% bold: the interval of a difference leaves out 0"


def cells(table: pl.DataFrame, *, digits: int = 2) -> tuple[list[str], list[list[str]]]:
    """Format a table for reading.

    Parameters
    ----------
    table : DataFrame
        Columns ``x_low`` and ``x_high`` beside a column ``x`` are printed in the cell of ``x``.
    digits : int
        Decimals, >= 0.

    Returns
    -------
    tuple of list of str and list of list of str
        Headings and rows, unescaped.

    Examples
    --------
    >>> import polars as pl
    >>> cells(pl.DataFrame({"run": ["a"], "ece": [0.214], "ece_low": [0.15], "ece_high": [0.28]}))
    (['Run', 'ECE'], [['a', '0.21 [0.15, 0.28]']])
    """
    names = shown(table.columns)
    rows = [[_cell(row, name, digits) for name in names] for row in table.to_dicts()]
    return [heading(name) for name in names], rows


def shown(columns: Sequence[str]) -> list[str]:
    """Leave out the columns that are printed as another one's interval."""
    present = set(columns)
    ends = {name + end for name in columns for end in ("_low", "_high") if {name + "_low", name + "_high"} <= present}
    return [name for name in columns if name not in ends]


def label(name: str) -> str:
    """Write the name of a number; a score that a run was given keeps its own.

    Examples
    --------
    >>> label("sem1_gap"), label("p_true"), label("p_true_ece")
    ('Sem1 − accuracy', 'p_true', 'p_true-ECE')
    """
    if name in LABELS:
        return LABELS[name]
    metric = next((each for each in METRIC_TITLES if name.endswith(f"_{each}")), None)
    return name if metric is None else f"{name.removesuffix(f'_{metric}')}{METRIC_TITLES[metric]}"


def heading(column: str) -> str:
    """Head a column by what its number is called, or else by its name with spaces."""
    found = label(column)
    return column.replace("_", " ") if found == column else found


def _cell(row: dict[str, Any], name: str, digits: int) -> str:
    """Format one value, with its interval if the row has one; the name of a number as it is headed."""
    if name == "quantity":
        return label(str(row[name]))
    if name in CONFIDENCE_COLUMNS:
        return LABELS.get(str(row[name]), str(row[name]))
    low, high = row.get(name + "_low"), row.get(name + "_high")
    text = value_text(row, name, digits)
    return text if low is None or high is None else f"{text} [{end_text(low, digits)}, {end_text(high, digits)}]"


def value_text(row: Mapping[str, Any], name: str, digits: int = 2) -> str:
    """Format a number of a row: with more decimals where it would look like 0 and its interval leaves 0 out.

    Examples
    --------
    >>> value_text({"ece": 0.004, "ece_low": 0.001, "ece_high": 0.02}, "ece"), value_text({"ece": 0.004}, "ece")
    ('0.004', '0.00')
    """
    low, high = row.get(name + "_low"), row.get(name + "_high")
    sure = low is not None and high is not None and (low > 0 or high < 0)
    return end_text(row[name], digits) if sure else number_text(row[name], digits)


def to_markdown(table: pl.DataFrame, *, digits: int = 2) -> str:
    r"""Write a table as Markdown.

    Parameters
    ----------
    table : DataFrame
        Any table.
    digits : int
        Decimals, >= 0.

    Returns
    -------
    str
        Ends with a newline. Pipes, backslashes, line breaks and what would be markup in a cell are escaped.

    Examples
    --------
    >>> import polars as pl
    >>> print(to_markdown(pl.DataFrame({"run": ["a|b"], "questions": [24]})), end="")
    | Run | N |
    | :-- | --: |
    | a\|b | 24 |
    """
    names = shown(table.columns)
    head, rows = cells(table, digits=digits)
    rule = ["--:" if table.schema[name].is_numeric() else ":--" for name in names]
    escaped = [[_markdown(text) for text in line] for line in (head, *rows)]
    lines = [escaped[0], rule, *escaped[1:]]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _markdown(text: str) -> str:
    """Escape what Markdown would read as markup inside a cell."""
    return re.sub(r"([\\`*_{}<>|\[\]~&])", r"\\\1", " ".join(text.split())).replace(r"\[", "[").replace(r"\]", "]")


def to_latex(table: pl.DataFrame, *, digits: int = 2) -> str:
    r"""Write a table for a paper, with booktabs.

    The smallest ECE of a row is bold, the second underlined, the columns of Sem1 and Sem2 are tinted; a difference is
    bold if its interval leaves out 0.

    Parameters
    ----------
    table : DataFrame
        Any table.
    digits : int
        Decimals, >= 0.

    Returns
    -------
    str
        A ``tabular`` that needs the packages ``booktabs``, ``xcolor`` and ``colortbl``.

    Examples
    --------
    >>> import polars as pl
    >>> text = to_latex(pl.DataFrame({"run": ["50 %"], "ver_ece": [0.3], "sem1_ece": [0.2], "sem2_ece": [0.1]}))
    >>> print(text.splitlines()[-3])
    50 \% & 0.30 & \underline{0.20} & \textbf{0.10} \\
    """
    names = shown(table.columns)
    head, _ = cells(table)
    tints = [TINTS[name] for name in names if name in TINTS]
    columns = "".join(_column(table, name) for name in names)
    lines = [
        r"% \usepackage{booktabs,xcolor,colortbl}",
        *([KEY_COMPARED] if len({*names} & {*COMPARED}) > 1 else []),
        *([KEY_SIGNED] if {*names} & {*SIGNED} else []),
        *(rf"\definecolor{{{name}}}{{HTML}}{{{code}}}" for name, code in tints),
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        " & ".join(escaped_latex(text) for text in head) + r" \\",
        r"\midrule",
        *(" & ".join(_latex_row(row, names, digits)) + r" \\" for row in table.to_dicts()),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines) + "\n"


def _column(table: pl.DataFrame, name: str) -> str:
    """Choose the alignment and tint of a LaTeX column."""
    align = "r" if table.schema[name].is_numeric() else "l"
    return rf">{{\columncolor{{{TINTS[name][0]}}}}}{align}" if name in TINTS else align


def latex_rows(table: pl.DataFrame, names: Sequence[str], *, digits: int = 2) -> list[list[tuple[str, str]]]:
    r"""Format the cells of some columns: each as plain text, and for LaTeX with its mark and a small interval.

    Examples
    --------
    >>> import polars as pl
    >>> latex_rows(pl.DataFrame({"ece": [0.2], "ece_low": [0.1], "ece_high": [0.3]}), ["ece"])
    [[('0.20 [0.10, 0.30]', '0.20 {\\scriptsize[0.10, 0.30]}')]]
    """
    small = re.compile(r" (\[.*\])$")
    return [
        [
            (_cell(row, name, digits), small.sub(r" {\\scriptsize\1}", text))
            for name, text in zip(names, _latex_row(row, names, digits), strict=True)
        ]
        for row in table.to_dicts()
    ]


def _latex_row(row: dict[str, Any], names: Sequence[str], digits: int) -> list[str]:
    """Format a row; equal printed numbers get equal marks."""
    compared = {name: value_text(row, name, digits) for name in names if name in COMPARED}
    printed = {name: text for name, text in compared.items() if text != MISSING}
    ranked = sorted(set(printed.values()), key=float)
    ranks = dict(zip(ranked, (r"\textbf", r"\underline"), strict=False)) if len(printed) > 1 else {}
    marks = {name: ranks.get(text, "") for name, text in printed.items()}
    marks |= {name: r"\textbf" for name in names if name in SIGNED and _leaves_out_zero(row, name)}
    texts = []
    for name in names:
        text, mark = escaped_latex(_cell(row, name, digits)), marks.get(name)
        number, space, interval = text.partition(" ")
        texts.append(f"{mark}{{{number}}}{space}{interval}" if mark else text)
    return texts


def _leaves_out_zero(row: dict[str, Any], name: str) -> bool:
    """Whether the interval of a difference is on one side of 0, and no note says that it is unreliable."""
    low, high, noted = row.get(name + "_low"), row.get(name + "_high"), row.get(SIGNED[name] or "")
    return not noted and low is not None and high is not None and (low > 0 or high < 0)


_LATEX: dict[str, str] = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\char34{}",
    MISSING: "---",
    "−": "$-$",
    "·": r"\textperiodcentered{}",
} | {character: "\\" + character for character in "{}$&#%_"}


def escaped_latex(text: str) -> str:
    """Escape every character that LaTeX would read as a command; other scripts need XeLaTeX or LuaLaTeX.

    What cannot be printed is left out. A cell that begins with a bracket or a star is braced: after the end of a row
    LaTeX would take it for an option.
    """
    shown = " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())
    first = f"{{{shown[:1]}}}" if shown[:1] in {"[", "*"} else _LATEX.get(shown[:1], shown[:1])
    return first + "".join(_LATEX.get(character, character) for character in shown[1:])


FORMULA = r"^'*[\s\x{a0}]*[=+\-@＝＋－＠]"
"""What a spreadsheet takes a cell for a formula by, and what was guarded against it before."""

NUMBER = r"^[+-]?[0-9][0-9.,]*([eE][+-]?[0-9]+)?%?$"


def guarded(table: pl.DataFrame) -> pl.DataFrame:
    """Keep spreadsheets from taking texts for formulas: an apostrophe stands before them, which readers take off.

    Examples
    --------
    >>> import polars as pl
    >>> guarded(pl.DataFrame({"answer": ["=1+1", " @x", "-5", "'=1", "a=b"]}))["answer"].to_list()
    ["'=1+1", "' @x", '-5', "''=1", 'a=b']
    """
    texts = [name for name, kind in table.schema.items() if kind == pl.String]
    formula = {name: pl.col(name).str.contains(FORMULA) & ~pl.col(name).str.contains(NUMBER) for name in texts}
    return table.with_columns(
        pl.when(formula[name]).then(pl.lit("'") + pl.col(name)).otherwise(pl.col(name)).alias(name) for name in texts
    )


def to_csv(table: pl.DataFrame) -> str:
    r"""Write a table as CSV: all columns, all digits, null as an empty field, blanks between the entries of a list.

    Texts that a spreadsheet would take for formulas are guarded, as :func:`guarded` says.

    Examples
    --------
    >>> import polars as pl
    >>> to_csv(pl.DataFrame({"run": ["a,b"], "ece": [None]}, schema={"run": pl.String, "ece": pl.Float64}))
    'run,ece\n"a,b",\n'
    """
    lists = [name for name, kind in table.schema.items() if isinstance(kind, pl.List)]
    joined = table.with_columns(pl.col(name).cast(pl.List(pl.String)).list.join(" ") for name in lists)
    return guarded(joined).write_csv()


def to_json(table: pl.DataFrame) -> str:
    """Write a table as a JSON list of objects: all columns, all digits; nan and null are null.

    Examples
    --------
    >>> import polars as pl
    >>> to_json(pl.DataFrame({"run": ["a"], "questions": [3]}))
    '[{"run": "a", "questions": 3}]'
    """
    return json.dumps(table.fill_nan(None).to_dicts(), ensure_ascii=False, allow_nan=False)


def render(table: pl.DataFrame, form: Format, *, digits: int = 2) -> str:
    """Write a table in a format by name.

    Parameters
    ----------
    table : DataFrame
        Any table.
    form : {'md', 'latex', 'csv', 'json'}
        How.
    digits : int
        Decimals of Markdown and LaTeX, >= 0.

    Returns
    -------
    str

    Raises
    ------
    ValueError
        If the format is another one.

    Examples
    --------
    >>> import polars as pl
    >>> render(pl.DataFrame({"n": [1]}), "xml")
    Traceback (most recent call last):
    ...
    ValueError: format must be one of md, latex, csv, json; got 'xml'
    """
    readable = {"md": to_markdown, "latex": to_latex}
    exact = {"csv": to_csv, "json": to_json}
    if form not in readable | exact:
        raise ValueError(
            f"format must be one of {', '.join(readable | exact)}; got {form!r}{meant(form, readable | exact)}"
        )
    return readable[form](table, digits=digits) if form in readable else exact[form](table)
