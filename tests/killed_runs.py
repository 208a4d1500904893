"""A command in a process of its own, to be killed with -9 and started again."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing

from semece.datasets import Dataset
from semece.records import Question

SEMECE = [sys.executable, "-c", "from semece.cli import main; main()"]


def questions(count):
    return Dataset("made", tuple(Question(f"q{i}", f"Question number {i}?", (f"answer {i}",)) for i in range(count)))


def references(data):
    return {q.text: q.references[0] for q in data.questions}


def write_questions(folder, data):
    lines = [json.dumps({"id": q.id, "question": q.text, "references": q.references}) for q in data.questions]
    (folder / "made.jsonl").write_text("\n".join(lines))


class Client:
    """Runs on a server, in a folder that is made; the questions stand in ``made.jsonl``."""

    def __init__(self, folder, server, data, *words):
        folder.mkdir()
        write_questions(folder, data)
        self.path, self.words = folder / "a.db", ["run", "-m", "openai-api/test/m", "-o", "a.db", "-q", *words]
        self.environment = os.environ | {"TEST_BASE_URL": server.base_url}

    def start(self):
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": self.environment}
        return subprocess.Popen(SEMECE + self.words, cwd=self.path.parent, **options)

    def finish(self):
        process = self.start()
        _, err = process.communicate(timeout=300)
        assert process.returncode == 0, err.decode()

    def rows(self):
        """Stage, question, index, judge and text of every reply that stands."""
        columns = "stage, question_id, position, coalesce(judge, ''), text"
        try:
            with closing(sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)) as connection:
                return sorted(
                    connection.execute(f"SELECT {columns} FROM replies WHERE status = 'ok' AND NOT superseded")
                )
        except sqlite3.Error:
            return []

    def kill_after(self, count):
        """Kill it once so many replies are stored; give how many are."""
        process = self.start()
        while len(self.rows()) < count and process.poll() is None:
            time.sleep(0.005)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        return len(self.rows())
