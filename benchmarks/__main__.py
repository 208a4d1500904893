"""Run every benchmark and write docs/benchmarks.md; ``python -m benchmarks NAME`` renews only the named ones."""

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

TAIL = """## Next

[Statistics](statistics.md) has the formula of what is measured here; [Limits and wrong uses](limits.md) has what
follows.
"""


def machine() -> str:
    """Name the machine and the versions."""
    model = next(
        (line.split(":")[1].strip() for line in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in line),
        platform.processor(),
    )
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, {versions}"


def sections_of(text: str) -> dict[str, str]:
    """Split the page into its sections by title."""
    parts = text.split("\n## ")[1:]
    return {part.partition("\n")[0]: f"## {part.strip()}\n" for part in parts}


def main() -> None:
    """Run what is named, or everything, and put it in its place on the page."""
    every = [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if not m.name.startswith("_")]
    named = sys.argv[1:] or every
    page = Path(benchmarks.__file__).parents[1] / "docs" / "benchmarks.md"
    sections = sections_of(page.read_text()) if page.exists() else {}
    for name in named:
        print(f"{name} ...", file=sys.stderr, flush=True)
        module = importlib.import_module(f"benchmarks.{name}")
        section = f"## {module.TITLE}\n\n{module.main().strip()}\n"
        sections[module.TITLE] = section
        print(section, flush=True)
        titles = [importlib.import_module(f"benchmarks.{each}").TITLE for each in every]
        ordered = [sections[title] for title in titles if title in sections]
        page.write_text("\n".join([HEAD, f"{machine()}\n", *ordered, TAIL]))


if __name__ == "__main__":
    main()
