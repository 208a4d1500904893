"""Which room may import which, which names are forbidden, and how large files and functions may grow."""

import ast
import tomllib
from pathlib import Path

import pytest

from tests import import_graph as measured

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "semece"

RANKS = (
    {"errors", "records", "canonical_json"},
    {"stats", "models"},
    {"prompts", "datasets"},
    {"judges", "formats"},
    {"store"},
    {"sampling"},
    {"runs"},
    {"study", "compare"},
    {"show"},
    {"cli", "testing"},
)
"""A room may import the rooms of lower ranks, and no other."""

RANK = {room: rank for rank, row in enumerate(RANKS) for room in row}
STATS_MAY_IMPORT = {"errors", "records", "canonical_json", "numpy", "scipy", "numba", "polars", "lazy_loader"}
HEAVY = {"numpy", "scipy", "polars", "matplotlib", "numba", "openai", "rich", "jinja2", "xllamacpp", "genai_prices"}
FORBIDDEN_NAMES = {
    *("utils", "common", "helpers", "config", "base", "manager"),
    *("work", "drawing", "opening", "panel", "slots", "views", "invocation"),
}
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def wrong(arrows):
    """The arrows that do not point to a lower rank."""
    return [(source, target) for source, target in arrows if RANK[source] <= RANK[target]]


def test_rooms_import_rooms_of_lower_ranks_only():
    assert not wrong(measured.graph().arrows)


def test_a_wrong_import_is_seen():
    tree = ast.parse("def f():\n    from semece.runs import run\n    import semece.store.schema")
    assert measured.imports_of(tree) == {("runs", "run"), ("store", "schema")}
    assert wrong({("judges", "store"): 1, ("compare", "study"): 1, ("runs", "store"): 1}) == [
        ("judges", "store"),
        ("compare", "study"),
    ]


def test_what_only_types_need_counts_too():
    assert measured.imports_of(ast.parse("if TYPE_CHECKING:\n    from semece.runs.run import Run")) == {("runs", "run")}


def test_the_ground_stands_alone():
    assert not [source for source, _ in measured.graph().arrows if RANK[source] == 0]


def roots(path):
    """What a file imports, by the first part of its name; the package's own modules by their room."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {name for node in ast.walk(tree) for name in measured.named(node)}
    return {parts[1] if parts[0] == "semece" else parts[0] for parts in (name.split(".") for name in names)}


@pytest.mark.parametrize("path", sorted((PACKAGE / "stats").rglob("*.py")), ids=lambda path: path.stem)
def test_the_statistics_have_no_files_clocks_logs_or_network(path):
    from sys import stdlib_module_names

    effects = {"io", "socket", "time", "datetime", "logging", "random", "sqlite3", "asyncio", "pathlib", "os"}
    allowed = STATS_MAY_IMPORT | {"stats"} | (set(stdlib_module_names) - effects)
    assert not roots(path) - allowed


def test_the_house_keeps_its_size():
    assert len(measured.entries()) <= 17
    assert measured.graph().floors() <= 10
    assert len(measured.graph().arrows) <= 65
    assert len(measured.graph().imports) <= 340


def test_no_module_imports_itself_through_others():
    assert not measured.module_circles()


def test_a_name_stands_for_one_thing():
    assert not measured.repeated_files()
    assert not measured.repeated_classes()


def test_names_say_what_modules_are():
    assert not {path.stem for path in MODULES} & FORBIDDEN_NAMES


def test_command_modules_import_nothing_heavy_at_the_top():
    for path in (PACKAGE / "cli").glob("*.py"):
        tree = ast.parse(path.read_text())
        top = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        assert not {name.split(".")[0] for node in top for name in measured.named(node)} & HEAVY, path.name


def test_functions_are_short():
    found = measured.functions()
    assert not [each.place for each in found if each.lines > 60 and not each.place.startswith("cli/")]
    assert measured.percentile90([each.lines for each in found]) <= 14
    assert measured.percentile90([each.branches for each in found]) <= 6


def test_only_commands_and_statistics_take_more_than_six_parameters():
    many = [each for each in measured.functions() if each.parameters + each.options > 6]
    statistics = [each for each in many if each.place.startswith("stats/")]
    assert statistics
    assert not [each.place for each in many if not each.place.startswith(("stats/", "cli/"))]
    assert not [each.place for each in statistics if each.parameters > 5 or each.parameters + each.options > 9]


def test_the_exported_requirements_follow_the_lock():
    versions: dict[str, set[str]] = {}
    for package in tomllib.loads((ROOT / "uv.lock").read_text())["package"]:
        versions.setdefault(package["name"], set()).add(package.get("version"))
    for name in ("demo", "docs", "test"):
        lines = (ROOT / "requirements" / f"{name}.txt").read_text().splitlines()
        pins = [line.split(" ")[0].split("==") for line in lines if line and not line.startswith((" ", "#"))]
        assert pins, name
        for package, version in pins:
            assert version in versions[package.split("[")[0]], f"{name}.txt pins {package}=={version}"
