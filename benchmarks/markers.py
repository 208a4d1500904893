"""Markers in every place where a secret may stand, searched in every stream and file after every way a command ends."""

from __future__ import annotations

import base64
import json
import os
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tests.servers.openai_server import OpenAIHandler, OpenAIServer

from benchmarks.fault_by_fault import import_first

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "Markers in the places of secrets"
PLACES = {
    "key of the model": "sk-m01-5e4dc0ffee11",
    "key of the judge, in --env-file": "sk-m02-5e4dc0ffee22",
    "key of another service": "sk-m03-5e4dc0ffee33",
    "user of --base-url": "m04user5e4dc0ffee44",
    "password of --base-url": "m05-pass/5e4dc0ffee55+",
    "path of --base-url": "m06path5e4dc0ffee66",
    "query of --base-url": "m07query5e4dc0ffee77",
    "name in the query of --base-url": "m08name5e4dc0ffee88",
    "password of a judge's address": "m09-judge-5e4dc0ffee99",
    "query of a judge's address": "m10judge5e4dc0ffeeaa",
    "password of a proxy": "m11-proxy-5e4dc0ffeebb",
    "token of a data hub": "hf_m12tok5e4dc0ffeecc",
    "address in a TOML file": "m13toml5e4dc0ffeedd",
}
GIVEN = {"keys.env", "run.toml"}
"""Files that hold markers because a person wrote them there."""


def quoted(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")


def searched() -> dict[str, set[bytes]]:
    """Give what must not be found, by place: a marker as it is, as addresses write it, and as HTTP does."""
    user, password = PLACES["user of --base-url"], PLACES["password of --base-url"]
    found = {place: {marker.encode(), quoted(marker).encode()} for place, marker in PLACES.items()}
    found["password of --base-url"].add(base64.b64encode(f"{user}:{password}".encode()))
    return found


class EchoingHandler(OpenAIHandler):
    """Repeats all that it was sent in errors, headers and replies; takes any path before /v1."""

    def parsed(self):
        path, query = super().parsed()
        return f"/v1{path.partition('/v1')[2]}", query

    def told(self) -> str:
        return f"{self.headers.get('Authorization')} {self.path} {dict(self.headers)}"

    def turned_away(self):
        self.server.echo_of = self.told()
        return super().turned_away()

    def json(self, status, value, headers=()):
        if status == 200 and self.server.echo:
            for choice in value["choices"]:
                choice["message"]["content"] = f"Answer: {self.told()}"
            value["id"] = self.told()
            headers = [("x-request-id", self.told())]
        elif self.server.echo:
            value["error"]["message"] += self.told()
        super().json(status, value, headers)


class EchoingServer(OpenAIServer):
    handler = EchoingHandler


def environment(server: OpenAIServer) -> dict[str, str]:
    host = server.base_url.removeprefix("http://")
    password, query = (quoted(PLACES[f"{part} of a judge's address"]) for part in ("password", "query"))
    return {
        "MODEL_API_KEY": PLACES["key of the model"],
        "ACME_API_KEY": PLACES["key of another service"],
        "JUDGE_BASE_URL": f"http://me:{password}@{host}?code={query}",
        "HTTPS_PROXY": f"http://me:{PLACES['password of a proxy']}@127.0.0.1:9",
        "HF_TOKEN": PLACES["token of a data hub"],
        "OPENAI_LOG": "debug",
    }


def address(server: OpenAIServer) -> str:
    user, password, path, query, name = (PLACES[place] for place in list(PLACES)[3:8])
    host = server.url.removeprefix("http://")
    return f"http://{user}:{quoted(password)}@{host}/{path}/v1?key={query}&{name}=1"


def command(server: OpenAIServer, *more: str) -> list[str]:
    words = ["-v", "run", "-m", "openai-api/model/m", "-j", "openai-api/judge/j", "-d", "made.jsonl", "-n", "4", "-q"]
    return [*words, "--env-file", "keys.env", "--base-url", address(server), "--attempts", "2", "-o", "a.db", *more]


def typed(folder: Path, server: OpenAIServer, words: list[str], *, stop: int = 0, out: str = "streams") -> int:
    """Type a command in a fork; its streams go to a file. `stop` is a signal that is sent after a while."""
    child = os.fork()
    if child == 0:
        from semece.cli import main

        os.chdir(folder)
        os.environ.update(environment(server))
        for number in (1, 2):
            os.dup2(os.open(f"{out}.txt", os.O_WRONLY | os.O_CREAT | os.O_APPEND), number)
        sys.argv = ["semece", *words]
        try:
            main()
        except SystemExit as left:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(left.code or 0))
        finally:
            os._exit(70)
    if stop:
        while not server.account.paid:
            time.sleep(0.02)
        os.kill(child, stop)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def endings(folder: Path) -> Iterator[tuple[str, int]]:
    """End a command in every way; give the way and the exit code."""
    with EchoingServer() as server:
        yield "done", typed(folder, server, command(server))
        yield "done, typed again", typed(folder, server, command(server))
        yield "only planned", typed(folder, server, command(server, "--dry-run"))
        yield "another seed", typed(folder, server, command(server, "--seed", "3"))
        yield "a cap", typed(folder, server, command(server, "-n", "20", "--max-total-tokens", "30"))
        yield "a file that is none", typed(folder, server, command(server, "-o", "made.jsonl"))
        config = command(server, "--config", "run.toml")
        place = config.index("--base-url")
        yield "an address in TOML", typed(folder, server, config[:place] + config[place + 2 :])
        bad = command(server)
        bad[place + 1] = bad[place + 1].replace("127.0.0.1", "[::")
        yield "an address that is none", typed(folder, server, bad)
        bad[place + 1] = address(server).removeprefix("http://")
        yield "an address without http", typed(folder, server, bad)
        for name in ("doctor", "summary", "show", "report"):
            more = ["-o", "report.html"] if name == "report" else []
            more = ["q0", "--raw"] if name == "show" else more
            yield name, typed(folder, server, ["-v", name, "a.db", *more])
        yield "export", typed(folder, server, ["export", "a.db", "--to", "jsonl", "-o", "out.jsonl"])
    for kind in ("401", "404", "quota", "402", "filtered"):
        with EchoingServer() as server:
            server.broken, server.echo = kind, True
            yield f"refused ({kind}), with an echo", typed(folder, server, command(server, "-o", f"{kind}.db"))
    with EchoingServer() as server:
        server.echo = True
        yield "replies that echo", typed(folder, server, command(server, "-o", "echo.db"))
    for fault in ("500", "reset", "cut", "html"):
        with EchoingServer(faults={fault: 1.0}) as server:
            server.echo = True
            yield f"nothing but {fault}", typed(folder, server, command(server, "-o", f"{fault}.db"))
    for number in (signal.SIGINT, signal.SIGTERM):
        with EchoingServer(latency=0.3) as server:
            words = command(server, "-o", f"{number}.db", "--concurrency", "1", "-n", "20")
            yield f"signal {number}", typed(folder, server, words, stop=number)
    server.server_close()
    yield "nobody there", typed(folder, server, command(server, "-o", "nobody.db"))


def found_in(folder: Path) -> list[str]:
    """List the places whose marker is in a file, with the file."""
    found = []
    for path in sorted(folder.rglob("*")):
        if path.is_file() and path.name not in GIVEN:
            data = path.read_bytes().replace(b"\\/", b"/")
            found += [
                f"{place} in {path.name}" for place, many in searched().items() if any(one in data for one in many)
            ]
    return found


def main() -> str:
    """End in every way, then search."""
    import_first()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        rows = ({"id": f"q{i}", "question": f"Question number {i}?", "references": [f"answer {i}"]} for i in range(3))
        (folder / "made.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        (folder / "keys.env").write_text(f"JUDGE_API_KEY={PLACES['key of the judge, in --env-file']}\n")
        toml = f"http://me:{PLACES['address in a TOML file']}@127.0.0.1:9/v1"
        (folder / "run.toml").write_text(f'[run]\nbase_url = "{toml}"\n')
        ends = []
        for name, code in endings(folder):
            ends.append(f"{name} ({code})")
            print(ends[-1], found_in(folder), file=sys.stderr, flush=True)
        found, streams = found_in(folder), (folder / "streams.txt").read_text(errors="replace")
        files = sum(path.is_file() for path in folder.rglob("*")) - len(GIVEN)
        if os.environ.get("MARKERS_SHOW"):
            print(streams, file=sys.stderr)
    traces = streams.count("Traceback")
    return (
        f"{len(PLACES)} places, {len(ends)} ends of commands, debug logs of the libraries on: {len(found)} markers "
        f"found in {files} files, the streams among them{': ' if found else ''}{'; '.join(found)}. {traces} tracebacks "
        f"were printed. Ends, with exit codes: {', '.join(ends)}."
    )


if __name__ == "__main__":
    print(main())
