"""The public names: flat, listed, lazy, and the same for people and type checkers."""

import ast
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import semece


@pytest.mark.parametrize("name", semece.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert inspect.getdoc(getattr(semece, name))


@pytest.mark.parametrize("name", semece._MODULES)
def test_every_module_is_there(name):
    assert inspect.ismodule(getattr(semece, name))


def test_what_type_checkers_see_is_what_is_listed():
    tree = ast.parse(Path(semece.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in block.body for alias in node.names}
    assert seen == set(semece.__all__) == set(semece._WHERE)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = semece.nothing


def test_importing_loads_no_numpy_and_no_provider():
    code = "import sys, semece; print(sorted(m for m in sys.modules if m.startswith(('numpy', 'semece.', 'openai'))))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
