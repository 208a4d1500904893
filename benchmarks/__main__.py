"""Run every benchmark and write docs/benchmarks.md: ``python -m benchmarks [NAME...]`` prints only the named ones."""

import importlib
import os
import pkgutil
import platform
import sys
from importlib.metadata import version
from pathlib import Path

import benchmarks

PACKAGES = ("semece", "numpy", "scipy", "numba", "polars")
HEAD = """# Benchmarks

Written by `make bench`. Every number is a median measured in one process on the machine below; ratios compare with the
implementation that stands beside ours in `benchmarks/`.
"""


def machine() -> str:
    """Name the machine and the versions."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"


def main() -> None:
    """Run what is named, or everything."""
    names = sys.argv[1:] or [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_")]
    sections = []
    for name in names:
        module = importlib.import_module(f"benchmarks.{name}")
        print(f"{name} ...", file=sys.stderr, flush=True)
        sections.append(f"## {module.TITLE}\n\n{module.main().strip()}\n")
    text = "\n".join([HEAD, f"{machine()}\n", *sections])
    if not sys.argv[1:]:
        Path(benchmarks.__file__).parents[1].joinpath("docs", "benchmarks.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
