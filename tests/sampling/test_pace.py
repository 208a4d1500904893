"""How many calls at once: what a pace finds out about a server, on simulated clocks and over real sockets."""

import asyncio
import random
import re
import threading
import time

import pytest

from semece.errors import TransientError
from semece.runs import Run
from semece.sampling.live_calls import in_parallel
from semece.sampling.pace import FIRST, MOST, Pace, SeekingPace
from semece.sampling.settings import Settings
from tests.making_runs import execute
from tests.servers.openai_server import OpenAIServer, error_body


class Clock(asyncio.SelectorEventLoop):
    """A loop whose clock jumps to the next thing that is to happen: an hour of a server takes a moment."""

    now = 0.0

    def time(self):
        return self.now

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now = max(self.now, self._scheduled[0].when())
        super()._run_once()


class Simulated:
    """A server that does so many calls at once, and refuses more than ``most``; a call takes ``seconds(running)``."""

    def __init__(self, slots, seconds, *, most=10**9, patience=10**9):
        self.slots, self.seconds, self.most, self.patience = asyncio.Semaphore(slots), seconds, most, patience
        self.under_way = self.running = self.refused = 0

    async def __call__(self):
        if self.under_way >= self.most:
            self.refused += 1
            await asyncio.sleep(0.01)
            raise TransientError("no", status="rate_limited")
        self.under_way += 1
        try:
            await asyncio.wait_for(self.served(), self.patience)
        except TimeoutError:
            self.refused += 1
            raise TransientError("no reply in time", status="timeout") from None
        finally:
            self.under_way -= 1

    async def served(self):
        async with self.slots:
            self.running += 1
            try:
                await asyncio.sleep(self.seconds(self.running))
            finally:
                self.running -= 1


def measured(make, pace, calls=6000):
    """Give the calls a second that a pace brings about, the pace, and how many calls were refused."""

    async def run():
        server, chosen = make(), pace()

        async def one():
            while True:
                async with chosen:
                    sent = asyncio.get_running_loop().time()
                    try:
                        await server()
                    except TransientError as error:
                        chosen.failed(error, asyncio.get_running_loop().time() - sent)
                    else:
                        chosen.delivered(1, asyncio.get_running_loop().time() - sent)
                        return
                await asyncio.sleep(0.5)

        await in_parallel((one for _ in range(calls)), chosen.concurrency)
        return calls / asyncio.get_running_loop().time(), chosen, server.refused

    with asyncio.Runner(loop_factory=Clock) as runner:
        return runner.run(run())


def lengths(running):
    """Replies of very different lengths."""
    del running
    return random.lognormvariate(0, 0.6)


def slower(running):
    """A batch of sequences: the more run, the slower each."""
    return (1 + running / 40) * random.uniform(0.8, 1.2)


def thrashing(running):
    """More than it has memory for makes it slow."""
    return (1 if running <= 24 else running / 8) * random.uniform(0.9, 1.1)


@pytest.mark.parametrize(
    ("make", "best", "share"),
    [
        (lambda: Simulated(13, lambda _: 1.0), 13, 0.95),
        (lambda: Simulated(1, lambda _: 1.0), 1, 0.95),
        (lambda: Simulated(48, lengths), 48, 0.9),
        (lambda: Simulated(10**6, thrashing), 24, 0.8),
    ],
    ids=["slots", "one", "lengths", "memory"],
)
def test_it_finds_nearly_the_most_answers_a_second(make, best, share):
    random.seed(0)
    fixed, _, _ = measured(make, lambda: Pace(best), 3000)
    found, pace, _ = measured(make, SeekingPace, 3000)
    assert found > share * fixed
    assert pace.limit <= MOST
    assert re.fullmatch(r"most answers came with \d+ calls? at once(: [\d.]+ a second)?", pace.found())


@pytest.mark.parametrize("slots", [4, 32, 128])
def test_the_way_up_included_nine_tenths_of_the_most_answers_a_second_come(slots):
    random.seed(0)
    found, _, _ = measured(lambda: Simulated(slots, lambda _: random.uniform(0.39, 0.41)), SeekingPace, 50 * slots)
    assert found > 0.9 * slots / 0.4


def test_a_server_that_gets_slower_gently_is_used_nine_tenths():
    def gently(running):
        return 0.2 * (1 + running / 32)

    fixed, _, _ = measured(lambda: Simulated(10**6, gently), lambda: Pace(MOST), 3200)
    found, _, _ = measured(lambda: Simulated(10**6, gently), SeekingPace, 3200)
    assert found > 0.9 * fixed


def test_it_finds_nothing_where_it_compared_nothing():
    _, pace, _ = measured(lambda: Simulated(13, lambda _: 1.0), SeekingPace, 3 * FIRST + 4)
    assert pace.found() == "too few answers came to find the best number of calls at once"


def test_more_calls_than_a_server_takes_are_not_sent_again_and_again():
    random.seed(0)
    fixed, _, _ = measured(lambda: Simulated(40, lengths, most=44), lambda: Pace(44), 3000)
    found, pace, refused = measured(lambda: Simulated(40, lengths, most=44), SeekingPace, 3000)
    assert found > 0.88 * fixed
    assert refused < 50
    assert pace.limit <= 44


def test_calls_that_time_out_make_it_send_fewer():
    random.seed(0)
    _, pace, late = measured(lambda: Simulated(10, lambda _: 1.0, patience=2.5), SeekingPace, 1500)
    assert 8 <= pace.limit <= 25
    assert late < 75


def test_it_grows_only_where_more_is_asked_for():
    found, pace, _ = measured(lambda: Simulated(100, lambda _: 1.0), SeekingPace, FIRST)
    assert (found, pace.limit, pace.found()) == (FIRST, FIRST, None)


def test_a_broken_server_is_not_a_busy_one():
    async def limits():
        pace = SeekingPace()
        return [
            (pace.failed(TransientError("no", status="server", overloaded=overloaded)), pace.limit)
            for overloaded in (False, True)
        ]

    assert asyncio.run(limits()) == [(False, FIRST), (True, FIRST // 2)]


SLOTS, SECONDS, N = 12, 0.1, 12
"""What the server over a socket does at once, how long it takes, and answers a question."""


class Limited(OpenAIServer):
    """Does twelve calls at once, the others wait; with more than ``most`` it says that it is overloaded."""

    def __init__(self, most=10**6):
        super().__init__(choices=1)
        self.most, self.turn, self.under_way, self.refused = most, threading.Semaphore(SLOTS), 0, 0
        self.highest, self.times, self.keep_bodies = 0, [], False

    class handler(OpenAIServer.handler):  # noqa: N801 - as its parent calls it
        def complete(self, asked, fault, attempt):
            server = self.server
            with server.lock:
                server.times.append(time.monotonic())
                server.under_way += 1
                server.highest, refused = max(server.highest, server.under_way), server.under_way > server.most
                server.refused += refused
            if not refused:
                with server.turn:
                    time.sleep(SECONDS)
            with server.lock:
                server.times.append(time.monotonic())
                server.under_way -= 1
            if refused:
                self.json(503, error_body(503, "overloaded"))
            else:
                super().complete(asked, fault, attempt)


def seconds_of(path, server, concurrency):
    """Run all of starter; give the seconds between the first request and the last reply."""
    settings = Settings(
        "openai-api/test/m", "starter", n=N, judge="exact", base_url=server.base_url, concurrency=concurrency
    )
    server.times.clear()
    assert asyncio.run(execute(settings, path)).missing == 0
    return max(server.times) - min(server.times)


@pytest.mark.slow
def test_a_server_over_a_socket_is_used_well_and_the_rows_are_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", "k")
    with Limited() as server:
        fixed = seconds_of(tmp_path / "12.db", server, 12)
        server.highest = 0
        auto = seconds_of(tmp_path / "auto.db", server, "auto")
    assert fixed > 0.6 * auto  # the share is measured on simulated clocks: this machine may be busy
    assert server.highest <= 64
    with Run(tmp_path / "12.db") as one, Run(tmp_path / "auto.db") as other:
        assert one.responses().equals(other.responses())
        assert one.estimates().equals(other.estimates())
        (note,) = (text for text in other.events if "concurrency" in text)
        assert re.fullmatch(
            r"openai-api/test/m: most answers came with \d+ calls at once(: [\d.]+ a second)? \(--concurrency auto\)",
            note,
        )
        assert not any("concurrency" in text for text in one.events)


@pytest.mark.slow
def test_a_server_over_a_socket_that_refuses_is_sent_fewer(tmp_path, monkeypatch):
    monkeypatch.setenv("TEST_API_KEY", "k")
    with Limited(most=6) as server:
        seconds_of(tmp_path / "auto.db", server, "auto")
    assert 0 < server.refused < 60
    with Run(tmp_path / "auto.db") as run:
        assert any(text.startswith("rate limited: slowed down") for text in run.events)


def test_the_option_takes_a_number_or_auto(semece):
    words = ["run", "-m", "fake/?pmf=.6,.4", "-d", "starter", "-j", "rules", "-n", "4"]
    code, _, err = semece(*words, "--concurrency", "Auto", "-o", "auto.db")
    assert code == 0, err
    assert semece(*words, "--concurrency", "3", "-o", "three.db")[0] == 0
    for wrong in ("0", "10001", "1" + "0" * 20, "many"):
        code, _, err = semece(*words, "--concurrency", wrong)
        assert (code, err) == (2, f"semece: concurrency must be from 1 to 10,000, or auto; got {wrong}\n")
    with Run("auto.db") as auto, Run("three.db") as three:
        assert auto.responses().equals(three.responses())
