"""What commands print: JSON for programs, tables for people."""

import datetime as dt
import json
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from cli.output import print_json, table, to_json
from cli.words import by_status, duration, plural
from models.document import DocumentStatus
from models.geometry import Box
from tests.unit import shown


@dataclass(frozen=True)
class Inner:
    box: Box
    at: dt.datetime
    status: DocumentStatus


@dataclass(frozen=True)
class Outer:
    items: tuple[Inner, ...]
    place: Path
    words: frozenset[str]


def test_dataclasses_become_objects_all_the_way_down() -> None:
    outer = Outer((Inner(Box(1, 2, 3, 4), shown.NOON, DocumentStatus.PARTIAL),), Path("/x"), frozenset("ba"))
    assert json.loads(to_json(outer)) == {
        "items": [{"box": [1, 2, 3, 4], "at": "2026-03-01T12:00:00+00:00", "status": "partial"}],
        "place": "/x",
        "words": ["a", "b"],
    }


def test_letters_of_all_scripts_stay_readable_in_json() -> None:
    assert to_json({"a": "硬件 Größe"}) == '{\n  "a": "硬件 Größe"\n}'


def test_undecodable_bytes_of_a_name_survive_json() -> None:
    name = b"/scans/caf\xe9.pdf".decode("utf-8", "surrogateescape")
    text = to_json([name])
    text.encode()
    assert json.loads(text) == [name]


def test_json_is_utf8_whatever_the_terminal(capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    print_json(["硬"])
    assert capsysbinary.readouterr().out == '[\n  "硬"\n]\n'.encode()


def test_what_has_no_place_in_a_report_is_refused() -> None:
    with pytest.raises(TypeError, match="object"):
        to_json(object())


def test_texts_with_brackets_are_not_markup() -> None:
    out = Console(width=60, markup=False, emoji=False)
    made = table("name")
    made.add_row("[bold]report[/bold] :smile:")
    with out.capture() as captured:
        out.print(made)
    assert "[bold]report[/bold] :smile:" in captured.get()


@pytest.mark.parametrize(
    ("seconds", "told"),
    [
        (0.04, "0.0 s"),
        (9.44, "9.4 s"),
        (12.3, "12 s"),
        (59.7, "1 min 00 s"),
        (185, "3 min 05 s"),
        (7800, "2 h 10 min"),
    ],
)
def test_durations_are_told_as_people_do(seconds: float, told: str) -> None:
    assert duration(seconds) == told


def test_one_page_two_pages() -> None:
    assert [plural(n, "page") for n in (0, 1, 2, 1000)] == ["0 pages", "1 page", "2 pages", "1,000 pages"]


def test_statuses_are_counted_in_their_order() -> None:
    statuses = [
        DocumentStatus.REJECTED,
        DocumentStatus.COMPLETE,
        DocumentStatus.NEEDS_REVIEW,
        DocumentStatus.COMPLETE,
    ]
    assert by_status(statuses) == "2 complete, 1 needs review, 1 rejected"
