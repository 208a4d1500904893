"""The import graph of the package, measured: rooms, floors, arrows, circles, names. ``python -m tests.import_graph``.

A room is an entry at the top of the package. Imports inside functions and for types alone count like all others.
"""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "semece"
UNCOUNTED = {"__init__.py", "__init__.pyi", "__main__.py", "py.typed", "__pycache__"}

Module = tuple[str, ...]
"""The parts of a module's name below the package."""


@cache
def trees() -> dict[Module, ast.Module]:
    """Parse every module of the package, but for its ``__init__`` and ``__main__``, which are doors."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if parts not in {("__init__",), ("__main__",)}:
            found[parts[:-1] if parts[-1] == "__init__" else parts] = ast.parse(path.read_text(encoding="utf-8"))
    return found


@cache
def door_names(room: Module) -> frozenset[str]:
    """List the names that a room's door gives; one of them may be called as the module that it is in."""
    stub = PACKAGE.joinpath(*room, "__init__.pyi")
    if not stub.exists():
        return frozenset()
    nodes = ast.walk(ast.parse(stub.read_text(encoding="utf-8")))
    return frozenset(alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names)


def named(node: ast.AST) -> list[str]:
    """List the names of modules that a statement may import."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
        return [f"{node.module}.{alias.name}" for alias in node.names]
    return []


def imports_of(tree: ast.AST) -> set[Module]:
    """Find the package's modules that a file imports, anywhere in it."""
    found = set()
    for node in ast.walk(tree):
        for name in named(node):
            parts = tuple(name.split("."))
            if parts[0] == "semece" and len(parts) > 2 and parts[-1] in door_names(parts[1:-1]):
                found.add(parts[1:-1])
            elif parts[0] == "semece":
                known = [parts[1:end] for end in range(len(parts), 1, -1) if parts[1:end] in trees()]
                found |= set(known[:1])
    return found


@dataclass(frozen=True)
class Graph:
    """What imports what.

    Attributes
    ----------
    imports : set of (Module, Module)
        Each import of a module in another room once per importing module.
    """

    imports: frozenset[tuple[Module, Module]]

    @property
    def arrows(self) -> Counter[tuple[str, str]]:
        """Count the imports from room to room."""
        return Counter((source[0], target[0]) for source, target in self.imports)

    def floors(self) -> int:
        """Give the number of rooms in the longest chain of arrows.

        Raises
        ------
        ValueError
            The arrows run in a circle.
        """
        below: dict[str, set[str]] = {}
        for source, target in self.arrows:
            below.setdefault(source, set()).add(target)

        @cache
        def height(room: str) -> int:
            return 1 + max(map(height, below.get(room, ())), default=0)

        try:
            return max(map(height, below), default=0)
        except RecursionError:
            raise ValueError("the arrows run in a circle") from None


@cache
def graph() -> Graph:
    """Measure the package."""
    return Graph(
        frozenset(
            (module, target)
            for module, tree in trees().items()
            for target in imports_of(tree)
            if target[0] != module[0]
        )
    )


def module_circles() -> list[list[Module]]:
    """List the circles of modules, inside rooms too; an import for types or in a function counts."""
    targets = {module: sorted(imports_of(tree) - {module}) for module, tree in trees().items()}
    state: dict[Module, int] = {}
    found: list[list[Module]] = []

    def visit(module: Module, path: list[Module]) -> None:
        state[module] = 1
        for target in targets[module]:
            if state.get(target) == 1:
                found.append([*path[path.index(target) :], target] if target in path else [module, target])
            elif target not in state:
                visit(target, [*path, target])
        state[module] = 2

    for module in targets:
        if module not in state:
            visit(module, [module])
    return found


def repeated_files() -> dict[str, list[str]]:
    """List the names that several files of the package have."""
    places: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        if path.name != "__init__.py":
            places.setdefault(path.name, []).append(str(path.relative_to(PACKAGE)))
    return {name: where for name, where in places.items() if len(where) > 1}


def repeated_classes() -> dict[str, list[str]]:
    """List the public class names that several modules define."""
    places: dict[str, list[str]] = {}
    for module, tree in trees().items():
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(".".join(module))
    return {name: where for name, where in places.items() if len(where) > 1}


def entries() -> list[str]:
    """List the entries at the top of the package."""
    return sorted(path.name for path in PACKAGE.iterdir() if path.name not in UNCOUNTED)


@dataclass(frozen=True)
class Function:
    """One function: where it stands, and how large it is.

    Attributes
    ----------
    place : str
        Module and name.
    lines : int
        Of its body, without docstring, blank lines and comments.
    branches : int
        Decisions in it: ``if``, loops, ``except``, conditions of comprehensions, operands of ``and`` and ``or``.
    parameters, options : int
        Positional ones (without ``self`` and ``cls``), and keyword-only ones.
    """

    place: str
    lines: int
    branches: int
    parameters: int
    options: int


BRANCHES = (ast.If, ast.IfExp, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler, ast.match_case)


def _count_branches(node: ast.AST) -> int:
    total = 0
    for child in ast.walk(node):
        total += isinstance(child, BRANCHES)
        total += len(child.values) - 1 if isinstance(child, ast.BoolOp) else 0
        total += len(child.ifs) if isinstance(child, ast.comprehension) else 0
    return total


def _count_lines(node: ast.FunctionDef | ast.AsyncFunctionDef, text: list[str]) -> int:
    body = node.body[1:] if ast.get_docstring(node) else node.body
    if not body:
        return 0
    lines = text[body[0].lineno - 1 : node.end_lineno]
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in lines)


@cache
def functions() -> list[Function]:
    """Measure every function of the package, methods too."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                taken = [a.arg for a in (*node.args.posonlyargs, *node.args.args) if a.arg not in {"self", "cls"}]
                found.append(
                    Function(
                        f"{path.relative_to(PACKAGE)}:{node.name}",
                        _count_lines(node, text.splitlines()),
                        _count_branches(node),
                        len(taken),
                        len(node.args.kwonlyargs),
                    )
                )
    return found


def percentile90(values: list[int]) -> int:
    """Give the value that nine in ten do not exceed."""
    return sorted(values)[-(-9 * len(values) // 10) - 1]


def _docstring_lines(tree: ast.Module) -> set[int]:
    """Number the lines of docstrings, those behind constants too."""
    strings = (
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        for part in node.body
        if isinstance(part, ast.Expr) and isinstance(part.value, ast.Constant) and isinstance(part.value.value, str)
    )
    return {number for part in strings for number in range(part.lineno, (part.end_lineno or part.lineno) + 1)}


def code_lines() -> int:
    """Count the lines of the package without blank lines, comments and docstrings."""
    total = 0
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        lines = {n for n, line in enumerate(text.splitlines(), 1) if line.strip() and not line.strip().startswith("#")}
        total += len(lines - _docstring_lines(ast.parse(text)))
    return total


def main() -> None:
    """Print what is measured."""
    try:
        floors: int | str = graph().floors()
    except ValueError as error:
        floors = str(error)
    print(f"entries {len(entries())}: {', '.join(entries())}")
    print(f"floors {floors}; arrows {len(graph().arrows)}; imports from room to room {len(graph().imports)}")
    print(f"circles of modules: {module_circles() or 'none'}")
    print(f"files of one name: {repeated_files() or 'none'}\nclasses of one name: {repeated_classes() or 'none'}")
    lines, branches = ([getattr(each, name) for each in functions()] for name in ("lines", "branches"))
    print(f"functions {len(lines)}: lines p90 {percentile90(lines)}, branches p90 {percentile90(branches)}")
    print("many parameters:", [each.place for each in functions() if each.parameters + each.options > 6])
    print(f"lines of code {code_lines():,}")
    for (source, target), count in sorted(graph().arrows.items()):
        print(f"  {source} -> {target}: {count}")


if __name__ == "__main__":
    main()
