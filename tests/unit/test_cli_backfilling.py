"""What `pagemill backfill` and `pagemill maintain` take and say."""

import dataclasses
import datetime as dt
import io
import re
from collections.abc import Callable
from pathlib import Path

import pytest
import typer
from rich.console import Console

from cli.backfilling import PlanReport, print_comparison, print_plan, selection_of, wish_of
from cli.backfills import BackfillLine, CancelReport
from cli.main import app
from cli.maintaining import print_upkeep
from cli.rereading import BackfillReport, print_standing
from db.invariants import INVARIANTS
from models.backfill import Backfill, FromStage, Pace, Plan, Selection, Spent, Standing, Wish
from models.compare import DocumentComparison
from models.document import DocumentStatus
from models.errors import ConfigurationError
from models.invariant import Upkeep, Violation
from models.settings import Settings
from models.verdict import Verdict

SETTINGS = Settings()
WISH = Wish(selection=Selection(everything=True), profile="ppocr")
PLAN = Plan(3, 9, 0, 0, 120, 20, 100, Pace(6.0, 3.0, 50))
BACKFILL = Backfill(4, 1, WISH, dt.datetime(2026, 11, 30, tzinfo=dt.UTC), None, None)
COMPARED = DocumentComparison(7, "/in/a.pdf", 1, 2, False, 3, (1, 3), 1200, 34, (3,), (), 4.5, 2.25, 0, 900)
DOCS = Path(__file__).parents[2] / "docs"


def shown(draw: Callable[[Console], None]) -> str:
    """What is drawn, as a pipe gets it."""
    out = Console(file=io.StringIO(), width=140, highlight=False, markup=False, emoji=False)
    draw(out)
    return str(out.file.getvalue())  # type: ignore[attr-defined]


def told(plan: Plan = PLAN, wish: Wish = WISH) -> str:
    return shown(lambda out: print_plan(out, plan, wish))


def test_options_become_a_wish() -> None:
    how = {"start": "load", "options": ["text_layer=ignore"], "again": True, "promote": False}
    asked = {
        "source": "*.pdf",
        "statuses": [DocumentStatus.PARTIAL],
        "verdicts": ["bad"],
        "since": dt.datetime(2026, 11, 30),  # noqa: DTZ001 (as typer gives it)
        "until": None,
        "everything": False,
    }
    wish = wish_of(SETTINGS, asked, how)
    assert (wish.start, wish.options, wish.again) == (FromStage.LOAD, ("text_layer=ignore",), True)
    assert wish.profile == SETTINGS.profile
    assert wish.selection.verdicts == (Verdict.BAD,)
    assert wish.selection.since == dt.date(2026, 11, 30)


@pytest.mark.parametrize(
    ("selected", "how", "said"),
    [
        ({"verdicts": ["fine"]}, {}, "--verdict: there is no 'fine'. Write 'good', "),
        ({}, {"start": "register"}, "--from: there is no 'register'. Write 'split', "),
    ],
)
def test_a_word_that_there_is_not_is_told_with_those_there_are(
    selected: dict[str, object], how: dict[str, object], said: str
) -> None:
    with pytest.raises(ConfigurationError, match=re.escape(said)):
        wish_of(SETTINGS, selected, how)


def test_no_option_is_the_empty_selection() -> None:
    assert selection_of(SETTINGS, {"documents": None, "source": "", "statuses": None}).is_empty


def test_a_plan_says_pages_minutes_and_how_to_start_it() -> None:
    text = told()
    assert "3 documents of 9, 120 pages" in text
    assert "20 pages taken from readings that are there" in text
    assert "100 pages to read with ppocr: about 10 min 00 s of engine work, 5 min 00 s at the pace" in text
    assert "--go" in text


def test_a_plan_says_what_it_does_not_know_leaves_out_and_goes_on_with() -> None:
    text = told(dataclasses.replace(PLAN, pace=None, unsplit=2, without_readings=1, continues=5))
    assert "nobody knows how long that takes" in text
    assert "2 documents whose pages are not known yet" in text
    assert "1 document left out" in text
    assert "goes on with backfill 5" in text


def test_where_a_backfill_stands_and_what_to_type_next() -> None:
    standing = Standing(documents=12, unfinished=0, failed=2, waiting=10)
    text = shown(lambda out: print_standing(out, BACKFILL, standing, here=True))
    assert "12 documents; 2 with pages that could not be read; 10 read, but not shown yet" in text
    assert "pagemill backfill promote 4" in text
    busy = dataclasses.replace(standing, unfinished=3)
    assert "The drains work on it" in shown(lambda out: print_standing(out, BACKFILL, busy, here=False))


def test_a_comparison_is_a_line_for_each_document() -> None:
    text = shown(lambda out: print_comparison(out, [COMPARED]))
    for cell in ("a.pdf", "+1,200", "-34", "4.5 → 2.2", "0 → 900"):
        assert cell in text
    assert "1 document, 1 with other text." in text
    states = {
        "shown": dataclasses.replace(COMPARED, is_shown=True),
        "not loaded yet": dataclasses.replace(COMPARED, new_edition=None),
        "nothing before": dataclasses.replace(COMPARED, old_edition=None),
    }
    for word, one in states.items():
        assert word in shown(lambda out, one=one: print_comparison(out, [one]))  # type: ignore[misc]


def test_keeping_house_says_what_it_did_and_what_is_broken() -> None:
    done = Upkeep(1, (), 2, 3_400_000, 4, (), 0.5)
    text = shown(lambda out: print_upkeep(out, done))
    assert "1 lease freed; 2 page images (3.4 MB) and 4 kept results purged" in text
    assert "The ledger holds together." in text
    broken = Violation("claim-state", "Work is in one state", 12, ("document 7 page 3",))
    text = shown(lambda out: print_upkeep(out, dataclasses.replace(done, violations=(broken,))))
    assert "claim-state" in text
    assert "document 7 page 3" in text
    assert "holds together" not in text


def test_every_option_and_every_invariant_is_documented() -> None:
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    named = [commands["maintain"], *commands["backfill"].commands.values()]
    options = {option for one in named for parameter in one.params for option in parameter.opts}
    text = "".join((DOCS / name).read_text() for name in ("backfill.md", "maintain.md"))
    assert [option for option in options if option.startswith("--") and option not in text] == []
    assert [one.name for one in INVARIANTS if f"| `{one.name}` | {one.about} |" not in text] == []


@pytest.mark.parametrize(
    ("command", "model"),
    [
        ("backfill", PlanReport),
        ("backfill", BackfillReport),
        ("backfill", Standing),
        ("backfill list", BackfillLine),
        ("backfill list", Spent),
        ("backfill cancel", CancelReport),
        ("backfill compare", DocumentComparison),
        ("maintain", Upkeep),
        ("maintain", Violation),
    ],
)
def test_the_json_shapes_name_every_key(command: str, model: type) -> None:
    lines = (DOCS / "cli.md").read_text().splitlines()
    row = next(
        line for line in lines if line.startswith(f"| `{command}` |") and "`" in line[len(command) + 6 :]
    )
    words = set(re.findall(r"[a-z_0-9]+", row))
    assert {field.name for field in dataclasses.fields(model)} - words == set()
