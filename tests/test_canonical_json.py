"""A file is there whole or not at all."""

import pytest

from semece.canonical_json import replacing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def write_half(path, error):
    with replacing(path) as part:
        part.write_text("half")
        assert (path.read_text(), part.suffix) == ("old", ".csv")
        raise error


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_what_is_there_stays_until_the_new_file_is_whole(tmp_path, error):
    path = tmp_path / "a.csv"
    path.write_text("old")
    with pytest.raises(error):
        write_half(path, error)
    assert (path.read_text(), names(tmp_path)) == ("old", ["a.csv"])
    with replacing(path) as part:
        part.write_text("new")
    assert (path.read_text(), names(tmp_path)) == ("new", ["a.csv"])


def test_what_a_killed_process_left_is_not_in_the_way(tmp_path):
    path = tmp_path / "a.csv"
    with replacing(path) as part:
        part.write_text("whole")
    part.write_text("left by a kill")
    with replacing(path) as again:
        assert again == part
        assert not again.exists()
        again.write_text("new")
    assert names(tmp_path) == ["a.csv"]
