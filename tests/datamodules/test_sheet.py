# ruff: noqa: E501 -- a table is read best as it stands
"""The reader of tables, on tables as they are handed out in courses: who wrote them, and how, differs."""

import math
from typing import Any

import pytest

from datamodules import cells, sheet

# name -> text, columns of numbers, rows, what stands in one of the rows (at, numbers), words of the notes
TABLES: dict[str, tuple[str, list[str], int, tuple[int, list[float]], str]] = {
    "iris, as UCI gives it, without names": (
        "5.1,3.5,1.4,0.2,Iris-setosa\n4.9,3.0,1.4,0.2,Iris-setosa\n6.3,3.3,6.0,2.5,Iris-virginica\n\n",
        ["column 1", "column 2", "column 3", "column 4"], 3, (2, [6.3, 3.3, 6.0, 2.5]), "column 5 (text)",
    ),
    "iris, as R writes it": (
        '"","Sepal.Length","Sepal.Width","Species"\n"1",5.1,3.5,"setosa"\n"2",4.9,3,"setosa"\n'
        '"3",6.3,3.3,"virginica"\n',
        ["Sepal.Length", "Sepal.Width"], 3, (1, [4.9, 3.0]), "column 1 (row numbers)",
    ),
    "Old Faithful, write.table: no name above the row names": (
        '"eruptions" "waiting"\n"1" 3.6 79\n"2" 1.8 54\n"3" 3.333 74\n',
        ["eruptions", "waiting"], 3, (2, [3.333, 74.0]), "row numbers",
    ),
    "Old Faithful, columns filled up with blanks": (
        "  eruptions waiting\n1     3.600      79\n2     1.800      54\n3     3.333      74\n",
        ["eruptions", "waiting"], 3, (0, [3.6, 79.0]), "row numbers",
    ),
    "airline passengers by month": (
        '"Month","Passengers"\n"1949-01",112\n"1949-02",118\n"1949-03",132\n"1949-04",129\n',
        ["Passengers"], 4, (2, [132.0]), "Month (dates)",
    ),
    "airline passengers with a line of words at the end": (
        "Month,Passengers\nJan-49,112\nFeb-49,118\nMar-49,132\n"
        '"International airline passengers, in thousands"\n',
        ["Passengers"], 3, (0, [112.0]), "Line 5 is left out: it has 1 cell",
    ),
    "daily temperatures, a stray mark among them": (
        '"Date","Temp"\n"1981-01-01",20.7\n"1981-01-02",?0.2\n"1981-01-03",18.8\n"1981-01-04",14.6\n',
        ["Temp"], 4, (1, [math.nan]), "Line 3 has '?0.2'",
    ),
    "shampoo: dates that are only numbered": (
        '"Month","Sales"\n"1-01",266.0\n"1-02",145.9\n"1-03",183.1\n', ["Sales"], 3, (1, [145.9]), "Month",
    ),
    "sunspots, one number a month": (
        "Month,Sunspots\n1749-01,58.0\n1749-02,62.6\n1749-03,70.0\n", ["Sunspots"], 3, (0, [58.0]), "dates",
    ),
    "sunspots as an observatory gives them: semicolons, blanks, no names": (
        "1818;01;01;1818.001;  -1; -1.0;   0;1\n1818;01;02;1818.004;  65; 10.2;   1;1\n"
        "1818;01;03;1818.007;  -1; -1.0;   0;1\n",
        [f"column {j}" for j in range(1, 9)], 3, (1, [1818, 1, 2, 1818.004, 65, 10.2, 1, 1]), "",
    ),
    "stock prices, newest first, money and thousands": (
        'Date,Close/Last,Volume\n12/31/2020,"$1,132.69","99,116,590"\n12/30/2020,$133.72,"96,452,120"\n'
        '12/29/2020,$134.87,"121,047,300"\n',
        ["Close/Last", "Volume"], 3, (0, [1132.69, 99116590.0]), "Date (dates)",
    ),
    "stock prices": (
        "Date,Open,High,Adj Close\n2020-01-02,74.06,75.15,73.05\n2020-01-03,74.29,75.14,72.34\n"
        "2020-01-06,null,null,null\n2020-01-07,74.96,75.22,72.58\n",
        ["Open", "High", "Adj Close"], 4, (2, [math.nan] * 3), "Date",
    ),
    "a German file": (
        "Datum;Größe;Gewicht\n01.02.2020;1,75;70,5\n02.02.2020;1,8;1.072,0\n03.02.2020;;81\n",
        ["Größe", "Gewicht"], 3, (1, [1.8, 1072.0]), "decimal marks, semicolons between",
    ),
    "decimal commas and nothing else": ("1,5;2,5\n", ["column 1", "column 2"], 1, (0, [1.5, 2.5]), "decimal marks"),
    "decimal commas between tabs": ("a\tb\n1,5\t2\n3\t4,25\n", ["a", "b"], 2, (1, [3.0, 4.25]), "decimal marks, tabs"),
    "decimal commas between blanks": ("1,5 2,5\n3 4,25\n", ["column 1", "column 2"], 2, (0, [1.5, 2.5]), "blanks"),
    "one column of decimal commas": ("Temperatur\n20,5\n21,3\n19\n", ["Temperatur"], 3, (0, [20.5]), "decimal marks"),
    "decimal commas in every row of one column": (
        "Temperatur\n20,5\n21,3\n19,5\n",
        ["Temperatur"],
        3,
        (0, [20.5]),
        "decimal marks",
    ),
    "decimal commas in quotes": ('a,b\n"1,5","2,25"\n"3,5",4\n', ["a", "b"], 2, (0, [1.5, 2.25]), "decimal marks"),
    "Excel: sep=, CRLF, a mark of the byte order": (
        "\ufeffsep=;\r\nx;y\r\n1;2\r\n3;4\r\n", ["x", "y"], 2, (1, [3.0, 4.0]), "",
    ),
    "sep= names a separator that nobody would guess": ("sep=:\nx:y\n1:2\n3:4\n", ["x", "y"], 2, (0, [1.0, 2.0]), ""),
    "a tab file of an old Mac": ("x\ty\r1\t2\r3\t4\r", ["x", "y"], 2, (1, [3.0, 4.0]), ""),
    "a title above and a row of units": (
        "Measurements of spring\n\nlength,mass\ncm,g\n1.5,20\n2.5,30\n3.5,25\n",
        ["length", "mass"], 3, (0, [1.5, 20.0]), "Line 4 holds no number",
    ),
    "remarks above": ("# measured by hand\n# in cm\na b\n1 2\n3 4\n", ["a", "b"], 2, (0, [1.0, 2.0]), ""),
    "fuel: question marks, and names behind a tab": (
        '18.0   8   307.0      130.0      1\t"chevrolet chevelle malibu"\n'
        '25.0   4   98.00      ?          1\t"ford pinto"\n15.0   8   350.0      165.0      1\t"buick skylark 320"\n',
        ["column 1", "column 2", "column 3", "column 4", "column 5"], 3, (1, [25, 4, 98, math.nan, 1]), "text",
    ),
    "passengers of a ship: commas in quotes, empty cells, words": (
        'PassengerId,Name,Sex,Age,Fare,Cabin\n1,"Braund, Mr. Owen",male,22,7.25,\n2,"Cumings, Mrs. J",female,38,71.2833,C85\n'
        '3,"Moran, Mr. James",male,,8.4583,\n4,"Allen, Mr. W",male,35,8.05,\n',
        ["PassengerId", "Age", "Fare"], 4, (2, [3, math.nan, 8.4583]), "Name, Sex, Cabin (text)",
    ),
    "air quality: NA, months as numbers": (
        "Ozone,Solar.R,Wind,Month,Day\n41,190,7.4,5,1\nNA,NA,14.3,5,5\n18,313,11.5,5,4\n",
        ["Ozone", "Solar.R", "Wind", "Month", "Day"], 3, (1, [math.nan, math.nan, 14.3, 5, 5]), "",
    ),
    "cars: names of rows": (
        ',mpg,cyl\nMazda RX4,21,6\nDatsun 710,22.8,4\nValiant,18.1,6\n', ["mpg", "cyl"], 3, (1, [22.8, 4.0]), "column 1 (text)",
    ),
    "years as names": (
        "country,1990,1991\nA,1.5,2\nB,3,4\nC,5,6\n", ["1990", "1991"], 3, (0, [1.5, 2.0]), "country (text)",
    ),
    "bars": ("a|b\n1|2\n3|4\n", ["a", "b"], 2, (0, [1.0, 2.0]), ""),
    "per cent, a true minus, blanks of thousands": ("a;b\n5 %;−1\n7 %;12 345\n", ["a", "b"], 2, (1, [7.0, 12345.0]), ""),
    "separators at the ends of lines": ("a,b,\n1,2,\n3,4,\n", ["a", "b"], 2, (1, [3.0, 4.0]), "mostly empty"),
    "twins among names": ("x,x\n1,2\n3,4\n", ["x", "x (2)"], 2, (0, [1.0, 2.0]), ""),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_read(name: str) -> None:
    text, names, count, (at, row), words = TABLES[name]
    result = sheet.sheet(text)
    columns, numbers, notes = result.numbers()
    assert columns == names
    assert len(numbers) == count
    assert numbers[at] == pytest.approx(row, nan_ok=True)
    texts = " ".join([*result.notes, *notes])
    assert words in texts
    assert words or not texts, texts  # nothing is said where nothing was decided or left out


def test_commas_of_two_whole_numbers_part_them_and_that_is_said() -> None:
    result = sheet.sheet("1,5\n2,6\n3,7\n")
    assert result.numbers()[1] == [[1, 5], [2, 6], [3, 7]] and "parting two columns" in result.notes[0]


def test_columns_are_chosen_by_name_number_kind() -> None:
    result = sheet.sheet("Date,Kind,x,y\n2020-01-31,b,1,2\n2020-02-01,a,3,4\n2020-07-01,b,5,6\n")
    assert result.numbers(["y", "3"])[:2] == (["y", "x"], [[2, 1], [4, 3], [6, 5]])
    assert result.numbers(["X"])[0] == ["x"]
    _, rows, notes = result.numbers(["Kind", "Date"])
    assert [row[0] for row in rows] == [1, 0, 1] and "a as 0, b as 1" in notes[0]
    assert rows[0][1] < rows[1][1] and rows[2][1] == 2020.5
    with pytest.raises(ValueError, match="no column 'z': the table has Date, Kind, x, y"):
        result.numbers(["z"])


@pytest.mark.parametrize(
    ("cell", "decimal", "value"),
    [
        ("1,234.5", ".", 1234.5), ("1.234,5", ",", 1234.5), ("1,234,567", ".", 1234567), ("1.234", ",", 1234),
        ("1'234.5", ".", 1234.5), ("1 234", ".", 1234), ("−2e3", ".", -2000), ("1.5", ",", None), ("1,5", ".", None),
        ("12,34,567", ".", None), ("inf", ".", None), ("red", ".", None), ("€ 5", ".", 5), ("12:30", ".", None),
    ],
)  # fmt: skip
def test_a_number_in_a_cell(cell: str, decimal: Any, value: float | None) -> None:
    assert cells.number(cell, decimal) == value


@pytest.mark.parametrize(
    "column",
    [
        ["1949-01", "1949-02", "1949-12", "1950-01"], ["31.01.2020", "01.02.2020", "02.02.2020"],
        ["1/31/2020", "2/1/2020", "12/31/2020"], ["31/01/2020", "01/02/2020"], ["Jan-49", "Feb-49", "Jan-50"],
        ["2020-01-01 00:00:00", "2020-01-01 00:30:00", "2020-01-01T23:59Z"], ["1990Q4", "1991Q1"],
        ["1990M09", "1990M10"], ["January 31, 2020", "February 1, 2020"], ["31-Dec-99", "01-Jan-00"],
    ],
)  # fmt: skip
def test_dates_are_in_order(column: list[str]) -> None:
    result = cells.parse_dates(column)
    assert None not in result and result == sorted(result) and len(set(result)) == len(column)  # type: ignore[type-var]


def test_what_is_no_date() -> None:
    assert cells.parse_dates(["red", "2020-13-01", "1-2-3-4", "May be 20"]) == [None] * 4


@pytest.mark.parametrize(
    ("data", "text"),
    [
        ("a\nä\n".encode(), "a\nä\n"), ("a\nä\n".encode("utf-8-sig"), "a\nä\n"),
        ("a\nä\n".encode("cp1252"), "a\nä\n"), ("a\nä\n".encode("utf-16"), "a\nä\n"),
    ],
)  # fmt: skip
def test_a_file_is_decoded(data: bytes, text: str) -> None:
    assert sheet.decode(data)[0] == text


@pytest.mark.parametrize(("data", "words"), [(b"PK\x03\x04....", "workbook"), (b"\x00\x01\x02", "no text")])
def test_what_is_no_text_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        sheet.decode(data, "my.xlsx")


def test_what_is_too_long_is_cut_at_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sheet, "MOST_BYTES", 11)
    text, notes = sheet.decode(b"a,b\n1,2\n34,5\n")
    assert text == "a,b\n1,2\n" and "only the first" in notes[0]
    monkeypatch.setattr(sheet, "MOST_ROWS", 2)
    result = sheet.sheet("a,b\n1,2\n3,4\n5,6\n")
    assert len(result.rows) == 2 and "the first 2 are used" in result.notes[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"), ("\n \n", "is empty"), ("a,b\n", "no numbers"), ("a,b\nred,blue\ngreen,red\n", "No column"),
        (",".join(["1"] * 501), "501 columns"), ("sep=;\n", "is empty"), ('"', "is empty|No column|names but"),
    ],
)  # fmt: skip
def test_bad_tables_get_a_sentence(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words) as error:
        sheet.sheet(text).numbers()
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("text", "numbers", "noted"),
    [
        ("1,5 2,5", ["1.5", "2.5"], True), ("1,5;2,5;3", ["1.5", "2.5", "3"], True), ("0,5\n0,25", ["0.5", "0.25"], True),
        ("1,2,3", ["1", "2", "3"], False), ("1, 2, 3", ["1", "2", "3"], False), ("1 2 3", ["1", "2", "3"], False),
        ("0.3, -0.2 0.5", ["0.3", "-0.2", "0.5"], False), ("1,2", ["1", "2"], False), ("1,2 3.5", ["1", "2", "3.5"], False),
        ("−0,5 1", ["-0.5", "1"], True), ("1 0,\n2 2", ["1", "0", "2", "2"], False), ("1,2,3 4", ["1", "2", "3", "4"], False),
    ],
)  # fmt: skip
def test_what_a_comma_is_in_a_list_the_whole_list_decides(text: str, numbers: list[str], noted: bool) -> None:
    result, sentence = cells.words(text)
    assert result == numbers and bool(sentence) == noted
    assert cells.words("0,5", one=True)[0] == ["0.5"]


@pytest.mark.parametrize(
    ("text", "points", "noted"),
    [
        ("1,5;2,5", [["1.5", "2.5"]], True), ("1,5;2\n3;4,5", [["1.5", "2"], ["3", "4.5"]], True),
        ("1,5 2,5", [["1.5", "2.5"]], True), ("1,5\t2,5\n0.3, -1.2", [["1.5", "2.5"], ["0.3", "-1.2"]], True),
        ("1, 2; 3, 0", [["1", "2"], ["3", "0"]], False), ("1,2\n3,0", [["1", "2"], ["3", "0"]], False),
        ("-1 1.5\n2 0", [["-1", "1.5"], ["2", "0"]], False), ("1,2;3,4;5,6", [["1", "2"], ["3", "4"], ["5", "6"]], False),
        ("1,5 2,5; 3 4", [["1.5", "2.5"], ["3", "4"]], True), ("x;y\n1,5;2,5", [["x", "y"], ["1.5", "2.5"]], True),
    ],
)  # fmt: skip
def test_points(text: str, points: list[list[str]], noted: bool) -> None:
    result, sentence = cells.pairs(text)
    assert [cell for *_, cell in result] == points and bool(sentence) == noted


def test_two_points_on_a_line_where_one_is_not_enough() -> None:
    assert [cell for *_, cell in cells.pairs("0,0;1,1", lines=False)[0]] == [["0", "0"], ["1", "1"]]


def test_a_matrix_is_what_is_square() -> None:
    square = lambda widths: all(width == len(widths) for width in widths)  # noqa: E731
    assert cells.rows("0,3 0,2; -0,1 0,4", square)[0] == [["0.3", "0.2"], ["-0.1", "0.4"]]
    assert cells.rows("1,2;3,4", square) == ([["1", "2"], ["3", "4"]], "")


@pytest.mark.parametrize("text", [",", ";;\n;", "sep=;\n;\n", "\t\t", '""'])
def test_separators_alone_get_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"^[^.\n]*\.$"):
        sheet.sheet(text).numbers()
