"""Sheets that people have filled: read rightly however they were saved, or refused by a sentence with all places."""

import codecs
import csv
import io
import re
import zipfile
from pathlib import Path

import pytest

from semece.compare.audit.filled_sheets import MEANING, WORDS, read_sheet
from semece.compare.audit.sheet_cells import tables_of
from semece.compare.audit.sheets import COLUMNS
from semece.errors import ParseError

STAMP = "audit1-0-00"
ROWS = [
    list(COLUMNS),
    ["bbbbb-bbbbb-bbbb-bb", "Größe, in m?", "a | b", "zwei\nZeilen", "Correct ", "", STAMP],
    ["ccccc-ccccc-cccc-cc", "x", "", "'=1", "INCORRECT", "unsure", STAMP],
    ["ddddd-ddddd-dddd-dd", "y", "", "y", "not attempted", "", STAMP],
    ["fffff-fffff-ffff-ff", "z", "", "z", "", "?", STAMP],
]
HEAD, *BODY = ROWS
CODES = [row[0] for row in BODY]
READ = dict(zip(CODES, ["correct", "incorrect", "not_attempted", None], strict=True))


def saved(rows, *, separator=",", encoding="utf-8", before=""):
    text = io.StringIO(newline="")
    csv.writer(text, delimiter=separator).writerows(rows)
    return (before + text.getvalue()).encode(encoding)


def changed(*changes):
    """The rows with cells set: (row from 1, column, value)."""
    rows = [list(each) for each in ROWS]
    for row, column, value in changes:
        rows[row][COLUMNS.index(column)] = value
    return rows


def said(*words):
    """The rows with these verdicts."""
    return changed(*((place, "verdict", word) for place, word in enumerate(words, start=1)))


def shifted(by, rows):
    return [*([""] * len(HEAD) for _ in range(by)), *rows]


CSV = {
    "as it was written": saved(ROWS),
    "byte order mark": saved(ROWS, encoding="utf-8-sig"),
    "semicolons": saved(ROWS, separator=";", encoding="utf-8-sig"),
    "tabs": saved(ROWS, separator="\t"),
    "bars": saved([[cell.replace("|", "/") for cell in row] for row in ROWS], separator="|"),
    "tabs in UTF-16": codecs.BOM_UTF16_LE + saved(ROWS, separator="\t", encoding="utf-16-le"),
    "commas in UTF-16, big end first": codecs.BOM_UTF16_BE + saved(ROWS, encoding="utf-16-be"),
    "UTF-16 without its mark": saved(ROWS, encoding="utf-16-le"),
    "UTF-16 without its mark, big end first": saved(ROWS, encoding="utf-16-be"),
    "an old encoding": saved(ROWS, separator=";", encoding="cp1252"),
    "a line that names the separator": saved(ROWS, separator=";", before="sep=;\r\n"),
    "plain line ends": saved(ROWS).replace(b"\r\n", b"\n"),
    "line ends of an old Mac": saved([[cell.replace("\n", " ") for cell in row] for row in ROWS]).replace(
        b"\r\n", b"\r"
    ),
    "every cell in quotes": "\r\n".join(",".join(f'"{cell}"' for cell in row) for row in ROWS).encode(),
    "capitals and blanks": saved([[f" {name.upper()} " for name in HEAD], *([f" {x} " for x in row] for row in BODY)]),
    "blanks that do not break": saved([[f"{name}\u00a0" for name in HEAD], *BODY]),
    "a mark that nobody sees before the first name": saved([["\u200brow", *HEAD[1:]], *BODY]),
    "columns moved": saved([row[::-1] for row in ROWS]),
    "columns added": saved([["", *row, "mine"] for row in ROWS]),
    "a column added without a name": saved([[*row, "" if i == 0 else "7"] for i, row in enumerate(ROWS)]),
    "columns left out": saved([[row[0], row[4], row[6]] for row in ROWS]),
    "rows sorted": saved([HEAD, *sorted(BODY, reverse=True)]),
    "empty rows": saved([HEAD, [""] * 7, *BODY, [""] * 7, []]),
    "empty rows above": saved(shifted(3, ROWS)),
    "a title above": saved([["Audit of our assistant"], ["please fill by Friday"], [], *ROWS]),
    "the names of the columns again, further down": saved([HEAD, *BODY[:2], HEAD, *BODY[2:]]),
    "a remark below": saved([*ROWS, ["", "thank you, all done"]]),
    "short rows": saved([HEAD, *BODY, ["ggggg-ggggg-gggg-gg"]]),
    "stamps lost but one": saved([HEAD, BODY[0], *([*row[:6], ""] for row in BODY[1:])]),
    "a row twice": saved([*ROWS, BODY[1]]),
    "all rows twice": saved([*ROWS, *BODY]),
    "a row twice, once without its verdict": saved([HEAD, [*BODY[0][:4], "", *BODY[0][5:]], *BODY]),
    "codes in capitals": saved(changed(*((i, "row", code.upper()) for i, code in enumerate(CODES, start=1)))),
    "codes with long dashes": saved(
        changed(*((i, "row", code.replace("-", "\u2013")) for i, code in enumerate(CODES, start=1)))
    ),
    "codes with an apostrophe": saved(changed(*((i, "row", f"'{code}") for i, code in enumerate(CODES, start=1)))),
    "hyphens and blanks in a verdict": saved(said("correct", "in-correct".replace("-", ""), "Not-Attempted", " ")),
    "a full stop and quotes": saved(said("correct.", '"incorrect"', "'not_attempted'", "")),
    "yes and no": saved(said("yes", "No", "not attempted", "")),
    "Y and N": saved(said("Y", "n", "not attempted", "")),
    "1 and 0": saved(said("1", "0", "not attempted", "")),
    "TRUE and FALSE": saved(said("TRUE", "FALSE", "not attempted", "")),
    "right and wrong": saved(said("right", "Wrong", "not attempted", "")),
    "TRUE and FALSE as German spreadsheets write them": saved(said("WAHR", "FALSCH", "not attempted", "")),
    "as French ones do": saved(said("VRAI", "FAUX", "not attempted", "")),
    "as Spanish ones do": saved(said("VERDADERO", "FALSO", "not attempted", "")),
    "yes and no in German": saved(said("ja", "nein", "not attempted", "")),
    "yes and no in Spanish": saved(said("Sí", "no", "not attempted", "")),
    "yes and no in French": saved(said("oui", "non", "not attempted", "")),
    "mixed words": saved(said("1", "wrong", "NOT_ATTEMPTED", "")),
}
"""What people and programs make of a sheet, and that is read as what it means."""


@pytest.mark.parametrize("kind", CSV)
def test_a_sheet_is_read_however_it_was_saved(tmp_path, kind):
    path = tmp_path / "audit.csv"
    path.write_bytes(CSV[kind])
    sheet = read_sheet(path)
    assert {entry.code: entry.verdict for entry in sheet.entries if entry.code in READ} == READ
    assert all(entry.verdict is None for entry in sheet.entries if entry.code not in READ)
    assert sheet.stamp == STAMP


@pytest.mark.parametrize("name", ["audit.txt", "audit.tsv", "audit.xlsx", "audit", "audit.csv.csv", "AUDIT.CSV"])
def test_a_csv_sheet_is_read_whatever_its_name_ends_in(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(CSV["semicolons"])
    assert {entry.code: entry.verdict for entry in read_sheet(path).entries} == READ


def test_more_than_forty_one_ways_are_tried():
    assert len(CSV) >= 41


@pytest.mark.parametrize("word", MEANING)
def test_words_that_say_a_verdict_are_read_and_told(tmp_path, word):
    path = tmp_path / "a.csv"
    path.write_bytes(saved(said(word.capitalize())))
    sheet = read_sheet(path)
    assert sheet.entries[0].verdict == MEANING[word]
    assert (word.capitalize() in sheet.read_as) == (word not in {"correct", "incorrect", "not_attempted"})


def test_no_word_means_two_verdicts():
    assert sum(len(words.split()) for words in WORDS.values()) == len(MEANING)


MUST = "verdict must be correct, incorrect, not_attempted or empty; got"
TWICE = "a row is there twice and not the same"

REFUSED = {
    "no verdicts": ([["row", "audit"]], "a.csv must have one column 'verdict'; it has row, audit"),
    "two columns of verdicts": (
        [["row", "verdict", "verdict", "audit"]],
        "must have one column 'verdict'; it has row, verdict, verdict, audit",
    ),
    "something else": ([["hello"]], "a.csv must have one column 'row'; it has hello"),
    "one word": (changed((2, "verdict", "maybe")), f"a.csv: {MUST} 'maybe' (row 3)"),
    "several words, each with its rows": (
        said("x", "y e s", "x", "x"),
        f"a.csv: {MUST} 'x' (rows 2, 4-5), 'y e s' (row 3)",
    ),
    "a word that says the contrary": (changed((2, "verdict", "not correct")), f"{MUST} 'not correct' (row 3)"),
    "a scale": (said("1", "2", "0", "5"), f"{MUST} '2' (row 3), '5' (row 5)"),
    "a share": (said("0.5"), f"{MUST} '0.5' (row 2)"),
    "a mark": (said("✓", "✗"), f"{MUST} '✓' (row 2), '✗' (row 3)"),
    "errors of a spreadsheet": (
        said("#N/A", "#REF!", "#NAME?"),
        f"{MUST} '#N/A' (row 2), '#REF!' (row 3), '#NAME?' (row 4)",
    ),
    "a remark in the verdict": (said("correct (but rude)"), f"{MUST} 'correct (but rude)' (row 2)"),
    "no code": (changed((3, "row", "")), "a.csv, row 4: the column 'row' must say which row it was; it is empty"),
    "no codes": (
        changed(*((i, "row", "") for i in (1, 2, 4))),
        "a.csv, rows 2-3, 5: the column 'row' must say which row it was; it is empty",
    ),
    "two verdicts of one row": (
        [*ROWS, [*BODY[0][:4], "incorrect", *BODY[0][5:]]],
        f"a.csv: {TWICE}: 'bbbbb-bbbbb-bbbb-bb' (rows 2, 6)",
    ),
    "two rows under one code": (
        changed((4, "row", CODES[0])),
        f"a.csv: {TWICE}: 'bbbbb-bbbbb-bbbb-bb' (rows 2, 5)",
    ),
    "another audit": (
        changed((2, "audit", "audit1-0-11"), (4, "audit", "audit1-0-11")),
        "a.csv: rows of another audit stand among the others: 'audit1-0-11' (rows 3, 5)",
    ),
    "a stamp that was dragged down": (
        changed(*((i, "audit", f"audit1-0-0{i}") for i in (2, 3, 4))),
        "stand among the others: 'audit1-0-02' (row 3), 'audit1-0-03' (row 4), 'audit1-0-04' (row 5)",
    ),
    "no stamp": (
        [[*row[:6], ""] if i else row for i, row in enumerate(ROWS)],
        "'audit' must be as it was written; it is empty",
    ),
    "no rows": ([list(COLUMNS)], "a.csv: the column 'audit' must be as it was written; it is empty"),
    "nothing": ([], "a.csv is empty"),
    "blanks": ([[""], [" "]], "a.csv is empty"),
}


@pytest.mark.parametrize("kind", REFUSED)
def test_a_sheet_that_cannot_be_read_is_refused_in_a_sentence_with_every_place(tmp_path, monkeypatch, kind):
    rows, sentence = REFUSED[kind]
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_bytes(saved(rows))
    with pytest.raises(ParseError, match=re.escape(sentence)) as caught:
        read_sheet(Path("a.csv"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 600,
            "is an old Excel file (.xls) or one with a password, no sheet",
        ),
        (b"SQLite format 3\0" + b"\0" * 600, "is a run file, no sheet; name the run first, and after it its sheets"),
        (b"%PDF-1.7\n", "is a PDF, no sheet; save it as .csv or .xlsx"),
        (b"<html><table><tr><td>row", "is a web page or XML, no sheet"),
        (b"{\\rtf1 row}", "is a text document, no sheet"),
        (
            saved([["row", "verdict", "x" * ((1 << 24) + 1)]]),
            "line 1, cannot be read as CSV: field larger than field limit",
        ),
        (b'row,verdict,audit\n"a,correct,b\n', "cannot be read as CSV: unexpected end of data"),
        (bytes(range(1, 256)) * 4, "must have one column 'row'"),
    ],
)
def test_a_file_that_is_no_sheet_is_refused_in_a_sentence(tmp_path, content, sentence):
    path = tmp_path / "a.csv"
    path.write_bytes(content)
    with pytest.raises(ParseError, match=re.escape(sentence)):
        read_sheet(path)


def test_a_file_that_is_not_there_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(ParseError, match=r"no.csv cannot be read: it does not exist"):
        read_sheet(tmp_path / "no.csv")
    with pytest.raises(ParseError, match="cannot be read: it is a folder"):
        read_sheet(tmp_path)


# -- XLSX


@pytest.fixture
def book():
    """A workbook with the rows on its only worksheet."""
    openpyxl = pytest.importorskip("openpyxl")
    made = openpyxl.Workbook()
    for row in ROWS:
        made.active.append(row)
    return made


def with_cover(book):
    cover = book.create_sheet("Read me", 0)
    cover["A1"], cover["A3"] = "Audit of our assistant", "Please fill the column verdict."


def with_values(*values):
    def fill(book):
        for row, value in enumerate(values, start=2):
            book.active.cell(row, 5).value = value

    return fill


def with_title(book):
    book.active.insert_rows(1, 3)
    book.active["A1"] = "Audit"
    book.active.merge_cells("A1:G1")


def with_questions_joined(book):
    book.active.merge_cells("B4:B5")


XLSX = {
    "as it was written": lambda book: None,
    "a cover sheet": with_cover,
    "a title above": with_title,
    "true and false": with_values(True, False, "not attempted", None),
    "1 and 0": with_values(1, 0, "not attempted", None),
    "1.0 and 0.0": with_values(1.0, 0.0, "not attempted", None),
    "questions joined": with_questions_joined,
    "an empty worksheet behind": lambda book: book.create_sheet("Sheet2"),
    "a hidden column": lambda book: setattr(book.active.column_dimensions["C"], "hidden", True),
}


@pytest.mark.parametrize("kind", XLSX)
@pytest.mark.parametrize("name", ["a.xlsx", "a.csv", "a.xls"])
def test_an_xlsx_sheet_is_read_however_it_was_saved(tmp_path, book, kind, name):
    XLSX[kind](book)
    book.save(tmp_path / name)
    sheet = read_sheet(tmp_path / name)
    assert {entry.code: entry.verdict for entry in sheet.entries} == READ


def twice(book):
    book.copy_worksheet(book.active).title = "copy"


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (lambda book: book.active.merge_cells("E2:E3"), "worksheet 'Sheet': cells are joined (E2:E3); separate them"),
        (with_values("=1=1", "=IF(1,0,1)"), "worksheet 'Sheet': formulas have no result (E2, E3); write the verdicts"),
        (twice, "has the columns in several worksheets (Sheet, copy); leave one of them"),
        (with_values("#N/A", 7, 0.5), f"{MUST} '#N/A' (row 2), '7' (row 3), '0.5' (row 4)"),
        (lambda book: book.active.delete_cols(5), "must have one column 'verdict'; it has row, question"),
    ],
)
def test_an_xlsx_sheet_that_cannot_be_read_is_refused_in_a_sentence(tmp_path, book, edit, sentence):
    edit(book)
    book.save(tmp_path / "a.xlsx")
    with pytest.raises(ParseError, match=re.escape(sentence)):
        read_sheet(tmp_path / "a.xlsx")


def test_an_archive_of_another_program_and_one_that_is_too_large_are_refused(tmp_path, book, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.ods", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
    with pytest.raises(ParseError, match=r"a.ods is a file of another program, no sheet; save it as .csv or .xlsx"):
        read_sheet(tmp_path / "a.ods")
    book.save(tmp_path / "a.xlsx")
    monkeypatch.setattr("semece.compare.audit.sheet_cells.LEAST_MEMORY", 1000)
    monkeypatch.setattr("semece.compare.audit.sheet_cells.MEMORY_PER_BYTE", 0)
    with pytest.raises(ParseError, match=r"a.xlsx may take more than 0 MB of memory; delete empty rows"):
        read_sheet(tmp_path / "a.xlsx")


MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
DECLARED = '<!DOCTYPE w [<!ENTITY a "x"><!ENTITY b "&a;&a;">]>'
HOSTILE = {
    "far": '<sheetData><row r="1048576"><c r="XFD1048576"><v>1</v></c></row></sheetData>',
    "joined": '<sheetData/><mergeCells><mergeCell ref="A1:XFD1048576"/></mergeCells>',
    "many": "<sheetData>" + ("<row>" + "<c><v>1</v></c>" * 1000 + "</row>") * 700 + "</sheetData>",
    "no-cell": '<sheetData><row><c r="XFDX1"/></row></sheetData>',
    "a-long-cell": f'<sheetData><row><c r="A{"9" * 5000}"/></row></sheetData>',
    "entities": "<sheetData><row><c><v>&b;</v></c></row></sheetData>",
}
"""By name: worksheets that are small in a file and large in memory, or no worksheets."""


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_worksheet_is_refused_before_it_is_read(tmp_path, monkeypatch, name, encoding):
    monkeypatch.setattr("semece.compare.audit.sheet_cells.package", None)  # it would be read by it
    head = f'<?xml version="1.0" encoding="{encoding}"?>' + (DECLARED if name == "entities" else "")
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("any/name", f'{head}<worksheet xmlns="{MAIN}">{HOSTILE[name]}</worksheet>'.encode(encoding))
    with pytest.raises(ParseError, match=r"a\.xlsx (may take more than 300 MB of memory|cannot be read as XLSX)"):
        tables_of(path, ("row",))


def test_a_member_that_says_too_little_is_measured_all_the_same(tmp_path):
    path = tmp_path / "a.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", "<workbook/>")
        archive.writestr("long", b" " * 1_000_000)
    path.write_bytes(path.read_bytes().replace((1_000_000).to_bytes(4, "little"), (10).to_bytes(4, "little")))
    with pytest.raises(ParseError, match=r"a\.xlsx cannot be read as XLSX: .*"):
        tables_of(path, ("row",))
