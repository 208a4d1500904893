"""Take docs/figures/demo-report.png, the first screen of the demo's report: ``python docs/make_screenshot.py``.

It needs the tools of the tests, and Chromium. The answers are those of README.md (docs/make_readme.py).
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "tests" / "docs" / "demo_samples.jsonl"
PICTURE = ROOT / "docs" / "figures" / "demo-report.png"
SIZE = {"width": 1280, "height": 900}


def semece(*words: str) -> None:
    """Type a command."""
    subprocess.run([sys.executable, "-m", "semece", *words], check=True, capture_output=True)  # noqa: S603


def main() -> None:
    """Score the demo's answers, write its report, open it and take the picture."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        run, report = f"{folder}/demo.db", Path(folder) / "report.html"
        named = ["--judge", "rules", "--name", "local/smollm2", "--dataset", "starter"]
        semece("score", str(SAMPLES), *named, "-o", run)
        semece("report", run, "-o", str(report))
        browser = play.chromium.launch(executable_path=shutil.which("chromium"))
        page = browser.new_page(viewport=SIZE)
        page.goto(report.as_uri())
        page.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    main()
