r"""Names that LaTeX would read as commands, in every table: no special character is left bare, and every row ends.

The text is checked by its structure: what is escaped is taken out, and then nothing that LaTeX obeys may be left but
the commands that tables are made of.
"""

import json
import re
from pathlib import Path

import pytest

from semece.runs import escaped_latex
from semece.show.tables import TABLES

NAMES = (
    r"[a_b] 100% & #1 $x$ {y} ~ ^ \input{/etc/passwd} \\[9cm] \end{tabular} ``q'' <|>",
    "*star\nnew\tline\u202eRTL\u2066\u200b\x1b[31m \u00fcn\u00efc\u00f6d\u00e9 \u6a21\u578b [tail]",
)
COMMANDS = frozenset(
    re.findall(
        r"\w+",
        """usepackage begin end centering footnotesize setlength tabcolsep caption label toprule midrule bottomrule
        shortstack scriptsize textbf underline rightskip relax allowbreak definecolor columncolor textbackslash
        textasciitilde textasciicircum textless textgreater textbar char textperiodcentered""",
    )
)
"""Those that tables are made of."""
ENVIRONMENTS = {"table", "table*", "tabular", "longtable"}


def check(text):
    """Refuse a LaTeX text in which something from outside is obeyed."""
    assert not re.search("[\u202a-\u202e\u2066-\u2069\u200b\x1b]", text)
    assert not re.search(r"\\\\\*?\s*[\[*]", text), "the end of a row takes what follows for an option"
    assert set(re.findall(r"\\(?:begin|end)\{([^}]*)\}", text)) <= ENVIRONMENTS
    opened = re.findall(r"\\(begin|end)\{([^}]*)\}", text)
    stack = []
    for act, name in opened:
        if act == "begin":
            stack.append(name)
        else:
            assert stack.pop() == name
    assert not stack
    assert set(re.findall(r"\\([a-zA-Z]+)", text.replace(r"\\", ""))) <= COMMANDS
    bare = re.sub(r"\\[{}$&#%_]|\$-\$|\\\\|(?m:^%.*$)", "", text)
    assert not re.search(r"[$#~^]|(?<!\\)%|\\[^a-zA-Z]", re.sub(r"\{tab:[^}]*\}", "", bare)), bare
    assert "_" not in re.sub(r"\\label\{[^}]*\}", "", bare)
    depth = 0
    for character in bare:
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0
    for body in re.findall(r"\\toprule\n(.*?)\\bottomrule", text, re.DOTALL):
        rows = [line for line in body.splitlines() if line != r"\midrule"]
        assert all(row.endswith(r" \\") for row in rows)
        assert len({len(re.findall(r"(?<!\\)&", row)) for row in rows}) == 1, rows


@pytest.mark.parametrize("name", NAMES)
def test_an_escaped_text_holds_no_command(name):
    for cut in range(len(name)):
        check(escaped_latex(name[cut:]))


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Two run files of samples with hostile names of models, questions, slices and answers."""
    from semece.runs import SamplesReading, score

    folder, paths = tmp_path_factory.mktemp("hostile"), []
    for number, name in enumerate(NAMES):
        rows = [
            {
                "id": f"{name}{i}",
                "question": f"{name}?",
                "references": [name],
                "answers": [name, name, f"other {i}", name] if i % 3 else [f"other {i}"] * 4,
                "confidences": [0.9, 0.8, 0.3, 0.5],
                name: name[: i % 5],
            }
            for i in range(40)
        ]
        (folder / f"{number}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        paths.append(folder / f"{number}.db")
        reading = SamplesReading(None, False, None, None, None, None, {}, "all", name, NAMES[0])
        score([folder / f"{number}.jsonl"], paths[-1], judge="exact", reading=reading)
    return paths


@pytest.mark.parametrize("words", [(), ("--width", "3.03")], ids=["plain", "width"])
@pytest.mark.parametrize("table", TABLES)
def test_no_name_is_obeyed_in_a_table(semece, hostile, table, words):
    code, _, err = semece("table", table, *hostile, "-f", "latex", "-o", "a.tex", *words)
    if code == 2:
        pytest.skip(err)
    assert code == 0, err
    text = Path("a.tex").read_text()
    assert "textbackslash" in text or table not in {"ece", "alignment"}
    check(text)
