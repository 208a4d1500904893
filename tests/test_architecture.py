"""What may import what, which names are forbidden, and how long functions are."""

import ast
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "semece"

CORE_ORDER = (
    {"kernels", "rows"},
    {"counts"},
    {"estimators"},
    {"bins", "calibration", "ranking", "scores", "abstention", "adaptive", "smooth", "entropy", "budgets"},
    {"inference", "bootstrap", "consistency", "exclusions", "correction", "theory"},
    {"simulation"},
    {"diagnostics"},
)
"""The pure core: a module may import its own row and the rows before it."""

CORE = set().union(*CORE_ORDER)
GROUND = {"errors", "records", "canonical"}
"""What everything outside the core may import."""

MAY_IMPORT = {
    "errors": set(),
    "canonical": set(),
    "records": set(),
    "models": set(),
    "prompts": {"models"},
    "texts": set(),
    "runfile": {"texts"},
    "store": {"runfile", "texts"},
    "budget": {"models"},
    "datasets": set(),
    "formats": {"datasets"},
    "judges": {"prompts", "models"},
    "deliveries": {"store"},
    "calls": {"models", "store", "budget", "deliveries"},
    "batch": {"deliveries", "slots", "models", "store", "budget", "calls", "pipeline"},
    "slots": {"models", "prompts", "store", "calls", "judges"},
    "pipeline": {"judges", "models", "store", "budget", "prompts", "calls", "slots"},
    "opening": {"judges", "models", "pipeline"},
    "settings": {"judges", "batch", "calls", "models", "opening", "prompts", "datasets", "store"},
    "samples": {"store", "datasets", "formats", "judges", "prompts"},
    "labelled": {"datasets", "formats", "judges"},
    "connections": {"models", "opening", "settings"},
    "spending": {"batch", "budget", "models", "store", "settings"},
    "invocation": {
        "slots",
        "batch",
        "pipeline",
        "calls",
        "budget",
        "spending",
        "connections",
        "judges",
        "models",
        "store",
        "settings",
    },
    "work": {"invocation", "connections", "spending", "datasets", "store", "opening", "settings"},
    "planning": {
        "work",
        "spending",
        "slots",
        "pipeline",
        "budget",
        "judges",
        "models",
        "datasets",
        "store",
        "opening",
        "settings",
    },
    "views": {"pipeline", *CORE},
    "run": {"views", "pipeline", "judges", "models", "datasets", "store", "opening", "settings", "samples", *CORE},
    "shortfalls": {"pipeline"},
    "judge_eval": {
        "shortfalls",
        "slots",
        "labelled",
        "calls",
        "pipeline",
        "judges",
        "models",
        "store",
        "opening",
        "settings",
        "invocation",
        "connections",
        *CORE,
    },
    "panel": {
        "shortfalls",
        "run",
        "invocation",
        "connections",
        "pipeline",
        "judges",
        "store",
        "opening",
        "settings",
        *CORE,
    },
    "standings": {"run", *CORE},
    "exporting": {"run"},
    "audit": {"run", "exporting", *CORE},
    "doctor": {"batch", "run", "store"},
    "evaluation": {"run", "work", "settings", "store", "models", "datasets"},
    "renderers": set(),
    "tables": {"run", "renderers", *CORE},
    "figures": CORE,
    "drawing": {"run", "tables", "figures", *CORE},
    "checks": {"run", "renderers", "standings", "tables", *CORE},
    "study": {
        "run",
        "work",
        "spending",
        "planning",
        "exporting",
        "opening",
        "settings",
        "judges",
        "models",
        "batch",
        "calls",
    }
    | {"budget", "datasets", "store", *CORE},
    "report": {"tables", "figures", "drawing", "renderers", "run", *CORE},
}
"""Beyond the ground. The command line may import everything, inside command bodies."""

HEAVY = {"numpy", "scipy", "polars", "matplotlib", "numba", "openai", "rich", "jinja2", "xllamacpp", "genai_prices"}
FORBIDDEN_NAMES = {"utils", "common", "helpers", "config", "base", "manager"}


def unit_of(path: Path) -> str:
    """The first part of a module's path: a module or a package directly below semece."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def is_type_checking(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


def imports_of(tree: ast.AST) -> set[str]:
    """Every module that is imported at run time, anywhere in a file."""
    found: set[str] = set()
    for node in ast.iter_child_nodes(tree):
        if is_type_checking(node):
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names if node.module == "semece"}
        found |= imports_of(node)
    return found


def semece_units(tree: ast.AST) -> set[str]:
    return {name.split(".")[1] for name in imports_of(tree) if name.startswith("semece.")}


def allowed(unit: str) -> set[str]:
    """What a unit may import."""
    for rank, row in enumerate(CORE_ORDER):
        if unit in row:
            return set().union(*CORE_ORDER[: rank + 1])
    if unit == "cli":
        return set(MAY_IMPORT) | GROUND | CORE | {"cli"}
    return MAY_IMPORT[unit] | GROUND | {unit}


MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_one_way(path):
    unit = unit_of(path)
    assert unit in CORE or unit in MAY_IMPORT or unit == "cli", f"{unit} is not placed in this test's tables"
    wrong = semece_units(ast.parse(path.read_text())) - allowed(unit)
    assert not wrong, f"{path.name} may not import {sorted(wrong)}"


def test_a_wrong_import_is_seen():
    tree = ast.parse("def f():\n    from semece.store import Store\n    import semece.run")
    assert semece_units(tree) == {"store", "run"}
    assert not semece_units(tree) <= allowed("estimators")
    assert not semece_units(tree) <= allowed("judges")


def test_what_only_types_need_does_not_count():
    assert not semece_units(ast.parse("if TYPE_CHECKING:\n    from semece.run import Run"))


def test_the_core_has_no_files_clocks_logs_or_network():
    for path in MODULES:
        if unit_of(path) in CORE:
            roots = {name.split(".")[0] for name in imports_of(ast.parse(path.read_text()))}
            wrong = roots & {"io", "socket", "time", "datetime", "logging", "random", "sqlite3", "httpx", "asyncio"}
            assert not wrong, f"{path.name} imports {wrong}"


def test_names_say_what_modules_are():
    assert not {path.stem for path in MODULES} & FORBIDDEN_NAMES


def test_command_modules_import_nothing_heavy_at_the_top():
    for path in (PACKAGE / "cli").glob("*.py"):
        tree = ast.parse(path.read_text())
        top = ast.Module([n for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)], [])
        roots = {name.split(".")[0] for name in imports_of(top)}
        assert not roots & HEAVY, path.name


def lines_of(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    doc = ast.get_docstring(node)
    return node.end_lineno - node.lineno + 1 - (len(doc.splitlines()) if doc else 0)


def test_no_function_is_longer_than_sixty_lines():
    long = [
        (path.name, node.name, lines_of(node))
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and lines_of(node) > 60
        # a command's parameters are its documentation
        if path.name != "running.py"
    ]
    assert not long


def test_the_exported_requirements_follow_the_lock():
    versions: dict[str, set[str]] = {}
    for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]:
        versions.setdefault(package["name"], set()).add(package.get("version"))
    for name in ("demo", "test"):
        lines = (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
        pins = [line.split(" ")[0].split("==") for line in lines if line and not line.startswith((" ", "#"))]
        assert pins, name
        for package, version in pins:
            assert version in versions[package.split("[")[0]], f"{name}.txt pins {package}=={version}"
