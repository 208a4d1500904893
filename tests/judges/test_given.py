"""Labels and grades that came with the samples."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from semece.errors import ParseError, SemeceError
from semece.judges.given import read_given
from semece.judges.known import open_judges


@given(st.lists(st.integers(-3, 9), min_size=1), st.data())
def test_labels_are_renumbered_by_first_appearance_and_their_grades_go_with_them(labels, data):
    said = {label: data.draw(st.sampled_from(["correct", "incorrect", "not_attempted"])) for label in set(labels)}
    found = read_given(labels, {str(label): verdict for label, verdict in said.items()}, n=len(labels))
    assert list(dict.fromkeys(found.labels)) == list(range(len(set(labels))))
    assert [found.grades[label] for label in found.labels] == [said[label] for label in labels]


def test_names_are_labels_too_and_grades_may_be_missing():
    assert read_given(["b", "a", "b"], {"a": "incorrect"}, n=3) == ((0, 1, 0), {1: "incorrect"})
    assert read_given((), None, n=0) == ((), {})


@pytest.mark.parametrize(
    ("labels", "grades", "said"),
    [
        ([0, 0], None, "one label per response; got 2 for 3"),
        ("001", None, "labels must be a list; got str"),
        (None, None, "labels must be a list; got NoneType"),
        ([0, 0.0, 1], None, "an integer or a string; got 0.0 at index 1"),
        ([0, True, 1], None, "an integer or a string; got True at index 1"),
        ([0, None, 1], None, "an integer or a string; got null at index 1"),
        ([0, "0", 1], None, "all integers or all strings"),
        ([0, 0, 1], {"2": "correct"}, "must occur among the labels; got '2'"),
        ([0, 0, 1], {"0": "INCORRECT"}, "correct, incorrect or not_attempted; got 'INCORRECT'"),
        ([0, 0, 1], {"0": True}, "correct, incorrect or not_attempted; got True"),
        ([0, 0, 1], ["correct", "incorrect"], "an object from label to verdict; got list"),
        ([0, 0, 1], {"0": "correct", 0: "incorrect"}, "graded once; got 0 twice"),
    ],
)
def test_what_is_not_labels_or_grades_is_refused_with_the_place(labels, grades, said):
    with pytest.raises(ParseError, match=said):
        read_given(labels, grades, n=3)


def test_given_verdicts_do_not_grade_the_classes_of_another_judge():
    with pytest.raises(
        SemeceError, match="the judge 'given' grades the classes that came with the file; got classes by"
    ):
        open_judges("exact", "given")
    assert [judge.name for judge in open_judges("given", "exact")] == ["given", "exact"]
