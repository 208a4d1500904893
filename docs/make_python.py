"""Write docs/python.md, the page of the public names, from signatures and docstrings: ``python docs/make_python.py``.

The page is made whenever the site is built and is not kept, so it cannot differ from the code. Nothing is imported.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

SOURCE = Path(__file__).parents[1] / "src" / "semece"
PAGE = Path(__file__).with_name("python.md")

HEAD = """# Python

Written by `docs/make_python.py` from the code. `import semece as se` costs nothing: a name is loaded when it is first
used. Data come first, options are keywords. Lists, tuples and arrays are taken alike.
"""
TAIL = """## Next

[Statistics](statistics.md) has the formula of each function; [Measure your own samples](own_samples.md) has the first
steps.
"""
ROOMS = {
    "runs": "Runs",
    "stats.estimators": "Estimates of one question, and of many",
    "stats.calibration": "Calibration, scores and ranking",
    "stats.uncertainty": "Intervals, tests and comparisons",
    "stats.recalibration": "Recalibration",
    "stats.correction": "Corrections by an audit",
    "records": "Records",
    "errors": "Errors",
}
MODULES = {"stats.diagnostics", "stats.simulation", "stats.theory", "show.figures"}
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@cache
def parsed(path: Path) -> ast.Module:
    """Read a file of code once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def doors(folder: Path) -> Iterator[tuple[str, Path, str]]:
    """Give the names of a package's door, each with the folder of its module and the module."""
    stub = folder / "__init__.pyi"
    for node in parsed(stub if stub.exists() else stub.with_suffix(".py")).body:
        if isinstance(node, ast.ImportFrom) and node.level == 1:
            for alias in node.names:
                yield alias.asname or alias.name, folder, node.module or ""
        elif isinstance(node, Definition) and not node.name.startswith("_"):
            yield node.name, folder, ""


def definition(name: str, folder: Path, module: str) -> Definition | None:
    """Find what a name stands for; a value has no definition."""
    place = folder.joinpath(*filter(None, module.split(".")))
    if place.is_dir():
        for inner, where, source in doors(place) if module else ():
            if inner == name:
                return definition(name, where, source)
        place = place / "__init__"
    named = (
        node for node in parsed(place.with_suffix(".py")).body if isinstance(node, Definition) and node.name == name
    )
    return next(reversed(list(named)), None)  # the first ones are its overloads


def signature(node: Definition) -> str:
    """Write how something is called."""
    if isinstance(node, ast.ClassDef):
        inits = [part for part in node.body if isinstance(part, ast.FunctionDef) and part.name == "__init__"]
        if inits:
            return f"class {node.name}({ast.unparse(inits[0].args).removeprefix('self').removeprefix(', ')})"
        return f"class {node.name}({', '.join(ast.unparse(base) for base in node.bases)})".removesuffix("()")
    before = "async " if isinstance(node, ast.AsyncFunctionDef) else ""
    after = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return f"{before}{node.name}({ast.unparse(node.args)}){after}"


def docstring(node: Definition) -> str:
    """Give a docstring as it stands in the code, without the marks of roles, in a block that shows it as it is."""
    said = re.sub(r":\w+:`~?(.+?)`", r"`\1`", ast.get_docstring(node) or "")
    return f"```text\n{said.strip()}\n```"


def methods(node: Definition) -> Iterator[str]:
    """Write the public methods of a class, one a line."""
    if isinstance(node, ast.ClassDef):
        for part in node.body:
            if isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef) and not part.name.startswith("_"):
                said = re.sub(r"\s+", " ", (ast.get_docstring(part) or "").split("\n\n")[0])
                call = "()" * all("property" not in ast.unparse(each) for each in part.decorator_list)
                yield f"* `{part.name}{call}`: {said}"


def entry(name: str, node: Definition) -> str:
    """Write one name."""
    listed = list(methods(node))
    parts = [f"### {name}", f"```python\n{signature(node)}\n```", docstring(node), "\n".join(listed)]
    return "\n\n".join(part for part in parts if part) + "\n"


def text() -> str:
    """Write the whole page."""
    found = list(doors(SOURCE))
    parts = [HEAD]
    for room, title in ROOMS.items():
        nodes = ((name, definition(name, *where)) for name, *where in found if where[1].startswith(room))
        parts += [f"## {title}\n", *(entry(name, node) for name, node in nodes if node)]
    for name, folder, module in found:
        if f"{module}.{name}" in MODULES:
            inner = folder.joinpath(*module.split("."), name)
            nodes = ((each, definition(each, *where)) for each, *where in doors(inner))
            parts += [f"## semece.{name}\n", *(entry(f"{name}.{each}", node) for each, node in nodes if node)]
    return "\n".join([*parts, TAIL])


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
