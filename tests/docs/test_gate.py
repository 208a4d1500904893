"""The examples of a gate run as they stand, in a fresh folder, with the package that is installed here."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
import yaml

ROOT = Path(__file__).parents[2]
QUESTIONS = 60


def samples(right, questions=QUESTIONS):
    """Rows of a model that agrees with itself 8 times of 10, and is right on every question below `right`."""
    for i in range(questions):
        reference = "yes" if i < right else "never"
        yield {
            "id": str(i),
            "question": f"Question {i}?",
            "references": [reference],
            "answers": ["yes"] * 8 + ["no"] * 2,
        }


@pytest.fixture
def shell(tmp_path):
    """Run a line as a runner of GitHub does; the installed command stands for the package index."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])

    def run(line):
        words = ["bash", "-e", "-o", "pipefail", "-c", line]
        return subprocess.run(words, cwd=tmp_path, env=os.environ | {"PATH": path}, capture_output=True, text=True)

    return run


def write(folder, right, name="samples.jsonl"):
    Path(folder, name).write_text("".join(json.dumps(row) + "\n" for row in samples(right)))


@pytest.mark.parametrize(("right", "code"), [(48, 0), (6, 1)])
def test_the_workflow_for_github_passes_and_fails(tmp_path, shell, right, code):
    workflow = yaml.safe_load((ROOT / "examples" / "github-actions.yml").read_text())
    steps = workflow["jobs"]["calibration"]["steps"]
    install, measure, check, report = [step["run"] for step in steps if "run" in step]
    assert install == "python -m pip install semece"
    write(tmp_path, right)
    assert shell(measure).returncode == 0
    ended = shell(check)
    assert ended.returncode == code, ended.stderr
    if code == 0:
        assert shell(report).returncode == 0
        assert all((tmp_path / name).stat().st_size for name in steps[-1]["with"]["path"].split())
    cases = ET.parse(tmp_path / "checks.xml").getroot().findall("testsuite/testcase")
    assert [case.find("failure") is None for case in cases] == [code == 0] * 2


@pytest.mark.parametrize(("right", "code"), [(48, 0), (6, 1)])
def test_the_hook_before_a_commit_passes_and_fails(tmp_path, shell, right, code):
    (hook,) = yaml.safe_load((ROOT / "examples" / "pre-commit-config.yaml").read_text())["repos"][0]["hooks"]
    assert re.search(hook["files"], "samples.jsonl")
    (tmp_path / ".calibration.db").write_text("of another state of the samples, as before the commit")
    write(tmp_path, right)
    ended = shell(hook["entry"])
    assert ended.returncode == code, ended.stderr
    assert ("FAILED" in ended.stdout) == (code == 1)


def test_the_page_names_what_the_workflow_runs():
    """Its other commands are run with those of the other pages."""
    page = (ROOT / "docs" / "gate.md").read_text()
    steps = yaml.safe_load((ROOT / "examples" / "github-actions.yml").read_text())["jobs"]["calibration"]["steps"]
    named = re.findall(r"^    (semece .*)$", page, flags=re.MULTILINE)
    assert named == [step["run"] for step in steps if step.get("name") in {"Measure the samples", "Check"}]
    gitlab = yaml.safe_load(re.search(r"### GitLab\n\n(.*?)\n\n##", page, flags=re.DOTALL)[1])
    assert gitlab["calibration"]["artifacts"]["reports"] == {"junit": "checks.xml"}
