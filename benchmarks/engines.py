"""Engines: the same files counted here, by Daft and by Ray, in an environment made for it; and their tests."""

from __future__ import annotations

import filecmp
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks._tables import table
from benchmarks.labelled_table import PART, N, part

TITLE = "Engines"
FILES = 6
ROOT = Path(__file__).parent.parent


def environment(folder: Path) -> Path:
    """Make an environment as a user would, with the extra ``scale``; give its Python. ``uv`` is used if it is there."""
    python = folder / "venv" / "bin" / "python"
    wanted = [f"semece[scale] @ {ROOT.as_uri()}", "pytest", "pytest-xdist", "hypothesis"]
    if shutil.which("uv"):
        subprocess.run(["uv", "venv", "--quiet", "--python", sys.executable, str(folder / "venv")], check=True)
        subprocess.run(["uv", "pip", "install", "--quiet", "--python", str(python), *wanted], check=True)
    else:
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *wanted], check=True)
    return python


def counted(python: Path, files: Path, engine: str) -> tuple[Path, list[str]]:
    """Count the files with one engine: the table, and seconds of the clock and of CPU."""
    output = files.parent / f"{engine}.parquet"
    words = ["score", str(files), "--engine", engine, "-o", str(output)]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    subprocess.run([str(python), "-m", "semece", *words], check=True, stdout=subprocess.DEVNULL)
    clock, after = time.monotonic() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return output, [engine, f"{clock:.1f} s", f"{cpu:.1f} s"]


def main() -> str:
    """Measure, and run the engines' tests."""
    with tempfile.TemporaryDirectory() as name:
        folder, rng = Path(name), np.random.default_rng(0)
        files = folder / "files"
        files.mkdir()
        for number in range(FILES):
            part(PART, rng).write_parquet(files / f"{number}.parquet")
        python = environment(folder)
        counted(python, files, "local")  # compiled before it counts
        found = [counted(python, files, engine) for engine in ("local", "daft", "ray")]
        equal = all(filecmp.cmp(found[0][0], output, shallow=False) for output, _ in found)
        tests = [str(python), "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider", "tests/runs/test_engines.py"]
        passed = subprocess.run(tests, check=False, cwd=ROOT, env=os.environ, capture_output=True, text=True)
        said = passed.stdout.strip().splitlines()[-1]
    text = (
        f"`semece score` of {FILES} files of {PART:,} questions with {N} labels each, in an environment of its own; "
        f"CPU of processes that an engine detaches is not counted. Tables are {'' if equal else 'NOT '}equal to the "
        f"last byte. The engines' tests: {said}."
    )
    return text + "\n\n" + table(["engine", "clock", "CPU"], [row for _, row in found])


if __name__ == "__main__":
    print(main())
