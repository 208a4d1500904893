"""The public names: flat, listed, lazy, and the same for people and type checkers."""

import inspect
import pkgutil
import subprocess
import sys
from importlib import import_module

import pytest

import semece

DOORS = [
    module.name
    for module in pkgutil.walk_packages(semece.__path__, "semece.")
    if module.ispkg and hasattr(import_module(module.name), "__all__")
]
"""Packages that list names: the rooms' doors."""


@pytest.mark.parametrize("name", semece.__all__)
def test_every_public_name_is_there_and_documented(name):
    assert inspect.getdoc(getattr(semece, name))


@pytest.mark.parametrize("name", ["diagnostics", "figures", "simulation", "tables", "theory"])
def test_a_package_with_a_public_name_is_a_module(name):
    assert inspect.ismodule(getattr(semece, name))


@pytest.mark.parametrize("door", DOORS)
def test_a_door_has_every_name_that_it_lists(door):
    module = import_module(door)
    assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="nothing"):
        _ = semece.nothing


def test_importing_loads_no_numpy_and_no_provider():
    code = "import sys, semece; print(sorted(m for m in sys.modules if m.startswith(('numpy', 'semece.', 'openai'))))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
