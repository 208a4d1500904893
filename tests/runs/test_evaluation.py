"""A run in one call: a function of one's own as the model, and what goes wrong with it."""

import asyncio
import datetime as dt
import inspect

import numpy as np
import pytest

import semece as se
from semece.errors import ModelError, TransientError
from semece.models import Message, Request
from semece.models.callable_model import NEVER, CallableModel
from semece.records import Alarm, Estimate, Grade
from semece.sampling.patience import Patience

ASKED = Request((Message("system", "Be brief."), Message("user", "Capital of France?")))
QUESTIONS = [{"question": "What is the capital of France?", "references": ["Paris"]}]
SOON = Patience(attempts=3, first_wait=0.001, longest_wait=0.001)


def once(answer, name=""):
    return asyncio.run(CallableModel(answer, name=name)(ASKED))


def test_a_function_gets_the_whole_prompt_and_its_text_is_the_reply():
    async def echo(prompt):
        return f"<{prompt}>"

    [reply] = once(echo).replies
    assert (reply.text, reply.status) == ("<Be brief.\n\nCapital of France?>", "ok")


@pytest.mark.parametrize("error", [ValueError("no\nluck"), KeyError("choices"), OSError("down"), ZeroDivisionError()])
def test_what_a_function_raises_is_a_connection_that_failed_and_may_be_paid(error):
    async def broken(prompt):
        raise error

    with pytest.raises(TransientError, match=f"^mine raised {type(error).__name__}: [^\n]*$") as caught:
        once(broken, "mine")
    assert (caught.value.status, caught.value.maybe_paid) == ("connection", True)
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", [TransientError("later", status="rate_limited"), ModelError("no key")])
def test_what_semece_knows_stays_what_it_is(error):
    async def known(prompt):
        raise error

    with pytest.raises(type(error)) as caught:
        once(known)
    assert caught.value is error


def test_a_function_that_is_not_async_is_told_so():
    with pytest.raises(ModelError, match=r"callable/<lambda> must be async: .*; got str$"):
        once(lambda prompt: "Answer: Paris")


@pytest.mark.parametrize("value", [None, 3, b"Paris"])
def test_a_function_that_returns_no_text_is_told_so(value):
    async def wrong(prompt):
        return value

    with pytest.raises(ModelError, match=f"^callable/wrong must return text; got {type(value).__name__}$") as caught:
        once(wrong)
    assert not isinstance(caught.value, TransientError)


def test_a_function_that_fails_now_and_then_is_asked_again():
    calls = 0

    async def shaky(prompt):
        nonlocal calls
        calls += 1
        if calls % 3 == 2:
            raise OSError("down")
        return "Answer: Paris\nConfidence: 80%"

    with se.evaluate_sync(shaky, QUESTIONS, n=10, patience=SOON, concurrency=1) as run:
        assert run.counts["missing"] == 0
        assert run.estimates()["sem1"].to_list() == [1.0]
        assert run.failed_calls == (calls - 10, calls - 10)


def test_a_function_that_never_answers_ends_the_run_with_what_it_raised():
    calls = 0

    async def broken(prompt):
        nonlocal calls
        calls += 1
        return {}["choices"]

    with pytest.raises(ModelError, match=r"broken raised KeyError: 'choices'; it has not answered once"):
        se.evaluate_sync(broken, QUESTIONS, n=50, patience=SOON, concurrency=1)
    assert calls == NEVER


def test_refusals_that_come_before_the_first_answer_end_nothing():
    async def limited(prompt):
        nonlocal served
        served += 1
        if served > 2:
            served -= 1
            raise OSError("too many at once")
        await asyncio.sleep(0.01)
        served -= 1
        return "Answer: Paris"

    served = 0
    stubborn = Patience(attempts=100, first_wait=0.005, longest_wait=0.02)
    with se.evaluate_sync(limited, QUESTIONS, n=20, patience=stubborn, concurrency=20) as run:
        assert run.counts["missing"] == 0
        assert run.failed_calls[0] >= 18


def outcomes(lasting):
    """What twelve calls end with, each of which fails when the call so many places after it has begun."""

    async def together():
        begun = [asyncio.Event() for _ in range(12)]

        async def answer(prompt):
            number = int(prompt)
            begun[number].set()
            await begun[min(number + lasting.get(number, 2), 11)].wait()
            raise TypeError

        model = CallableModel(answer)

        async def ask(number):
            try:
                await model(Request((Message("user", str(number)),)))
            except (ModelError, TransientError) as error:
                return type(error)

        tasks = []
        for number in range(12):
            tasks.append(asyncio.create_task(ask(number)))
            await begun[number].wait()
            for _ in range(5):
                await asyncio.sleep(0)  # those that may end now do
        return await asyncio.gather(*tasks)

    return asyncio.run(together())


def test_calls_that_begin_later_do_not_put_the_end_off():
    found = outcomes({})
    assert found[: NEVER - 1] == [TransientError] * (NEVER - 1)
    assert found.index(ModelError) <= NEVER + 2


def test_a_call_that_began_early_is_waited_for():
    found = outcomes({0: 9})
    assert found[0] is ModelError
    assert set(found[1:7]) == {TransientError}


def test_a_broken_function_ends_the_run_however_many_calls_are_under_way():
    calls = 0

    async def broken(prompt):
        nonlocal calls
        calls += 1
        await asyncio.sleep(0.01)
        raise TypeError

    with pytest.raises(ModelError, match="it has not answered once"):
        se.evaluate_sync(broken, QUESTIONS, n=20, patience=SOON, concurrency=8)
    assert 8 <= calls <= 16


def test_questions_of_any_kind_can_be_stored():
    async def parrot(prompt):
        return "Answer: Paris"

    questions = [
        se.Question("a\ud800", "Where\ud800?", ("Paris",), {"day": dt.date(2026, 1, 2), "level": float("nan")}),
        {"id": "b", "question": "Where?", "references": ["Paris"], "level": float("inf")},
    ]
    with se.evaluate_sync(parrot, questions[:1], n=2) as run:
        [question] = [view.question for view in run.question_views()]
    assert (question.id, question.text) == ("a\\ud800", "Where\\ud800?")
    assert question.metadata == {"day": "2026-01-02", "level": "nan"}
    with se.evaluate_sync(parrot, questions[1:], n=2) as run:
        assert run.question_views()[0].question.metadata == {"level": "inf"}


def test_the_signature_outside_an_event_loop_is_that_inside():
    shown, wanted = inspect.signature(se.evaluate_sync), inspect.signature(se.evaluate)
    assert list(shown.parameters.values()) == list(wanted.parameters.values())
    assert list(shown.parameters)[:5] == ["model", "questions", "n", "judge", "path"]


def test_a_run_and_intervals_show_themselves_in_a_notebook():
    async def parrot(prompt):
        return "Answer: Paris\nConfidence: 80%"

    with se.evaluate_sync(parrot, QUESTIONS, n=4) as run:
        shown = run._repr_html_()
    assert "<caption>questions · callable/parrot</caption>" in shown
    assert "<th>Questions</th><td>1 complete of 1</td>" in shown
    assert "<th>Accuracy</th><td>1.00 <small>[0.21, 1.00]</small></td>" in shown
    interval = se.accuracy_interval([1, 1, 1, 0])
    assert interval._repr_html_() == "0.75 <small>[0.30, 0.95]</small>"
    bracket = se.oracle_bracket([[0, 0, 1, 1]] * 4)
    assert bracket._repr_html_() == f"{bracket.value:.2f} <small>[{bracket.low:.2f}, {bracket.high:.2f}]</small>"


def test_a_closed_run_says_that_it_is_closed_and_still_shows_itself(tmp_path):
    async def parrot(prompt):
        return "Answer: Paris"

    with se.evaluate_sync(parrot, QUESTIONS, n=4, path=tmp_path / "a.db") as made:
        pass
    with se.Run(tmp_path / "a.db") as read:
        pass
    for run in (made, read):
        for used in (run.estimates, run.scores, run.question_views, lambda run=run: run.spent):
            with pytest.raises(se.SemeceError, match=r"a\.db: the run is closed: open it again with semece\.Run\("):
                used()
        assert repr(run).endswith("a.db', closed>")
        assert "<th>Closed</th>" in run._repr_html_()
        run.close()
    with se.evaluate_sync(parrot, QUESTIONS, n=4) as run:
        pass
    with pytest.raises(se.SemeceError, match="kept in memory alone"):
        run.estimates()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"n": "ten"}, "n must be a whole number; got 'ten'"),
        ({"n": 4.5}, "n must be a whole number; got 4.5"),
        ({"temperature": True}, "temperature must be a number; got True"),
        ({"judg": "rules"}, "there is no option 'judg' (did you mean 'judge'?): the options are the fields of"),
        ({"bdget": 1}, "there is no option 'bdget' (did you mean 'max_cost'?)"),
    ],
)
def test_an_option_of_evaluate_that_cannot_be_meant_is_one_sentence(options, sentence):
    with pytest.raises(se.SemeceError) as raised:
        se.evaluate_sync("fake/?pmf=1", QUESTIONS, **{"n": 2} | options)
    assert str(raised.value).startswith(sentence)


def test_numbers_of_numpy_are_options_of_evaluate():
    with se.evaluate_sync("fake/?pmf=1", QUESTIONS, n=np.int64(3), temperature=np.float32(0.5)) as run:
        assert run.n == 3


def test_a_record_with_a_status_that_there_is_not_is_refused_by_one_sentence():
    with pytest.raises(ValueError, match=r"^the status of a response must be one of parsed, .*; got 'ok'$"):
        se.Response("q", 0, "Paris", "Paris", None, "ok")
    with pytest.raises(
        ValueError, match=r"^the verdict of a grade must be one of correct, incorrect, not_attempted; got"
    ):
        Grade("q", 0, "right")
    with pytest.raises(ValueError, match=r"^the status of an estimate must be one of complete, .*; got 'done'$"):
        Estimate("q", "done", 4, 1)
    with pytest.raises(ValueError, match=r"^the kind of an alarm must be one of over-split, .*; got 'loud'$"):
        Alarm("loud", "x")


def test_in_a_notebook_the_synchronous_call_says_what_to_write():
    async def parrot(prompt):
        return "Answer: Paris"

    async def notebook():
        with pytest.raises(se.SemeceError, match=r"write 'await se\.evaluate"):
            se.evaluate_sync(parrot, QUESTIONS, n=2)
        with await se.evaluate(parrot, QUESTIONS, n=2) as run:
            return run.complete

    assert asyncio.run(notebook()) == (1, 1)
