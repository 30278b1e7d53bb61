"""Decisions about pages: kept, shown, and stronger than what is read later."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from db import decisions, documents, editions, readings, reports, review, runs, search, tables
from db.engine import Database
from models.document import DocumentFacts, DocumentStatus
from models.errors import Code, ConfigurationError
from models.reading import ReadingSource
from models.review import Action, Decision, PageRef, PageToReview, ReviewQuery
from models.settings import Settings, load_settings
from models.stage import Stage
from models.verdict import Finding, Severity, Verdict
from models.work import PageResult
from tasks import review as work
from tasks.maintain import check_ledger
from tests.db import steps
from tests.db.steps import count, intake, lease, load, prepare, register, split

ACCEPT, IGNORE = Decision(Action.ACCEPT, "ann@desk"), Decision(Action.IGNORE, "ann@desk", "a cover")
EDIT, RETRY = Decision(Action.EDIT, "Ann"), Decision(Action.RETRY, "ann@desk")
DOUBT = Finding("low-confidence", Severity.WARNING, "Doubtful.", {"mean": 0.5})


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path, vectors=False)


def read_as(database: Database, *verdicts: Verdict, text: str = "A page.") -> None:
    """Read all pages that are ready, page 1 with the first verdict and so on."""
    results = []
    for claim in lease(database, Stage.OCR):
        result = steps.result(claim, f"{text} {claim.page_no}", verdicts[claim.page_no - 1])
        doubt = (DOUBT,) if result.verdict is Verdict.SUSPECT else result.findings
        results.append(PageResult(claim, result.reading, result.verdict, doubt, result.image_sha256))
    database.run(lambda conn: readings.save(conn, results))


def document(database: Database, *verdicts: Verdict, facts: DocumentFacts | None = None) -> None:
    """Document 1 with pages of these verdicts; blank ones have no reading by OCR."""
    register(database, intake("/a.pdf"))
    split(database, len(verdicts), facts)
    prepare(database, blank=[no for no, one in enumerate(verdicts, 1) if one is Verdict.BLANK])
    read_as(database, *verdicts)
    load(database)


def waiting(database: Database, **query: object) -> list[PageToReview]:
    asked = ReviewQuery(**query)  # type: ignore[arg-type]
    return list(database.run(lambda conn: review.waiting(conn, asked))[0])


def status(database: Database) -> DocumentStatus:
    return database.run(lambda conn: documents.get(conn, "1")).status


def pages(database: Database) -> list[tuple[Verdict | None, str]]:
    return [(page.verdict, page.text) for page in database.run(lambda conn: reports.pages(conn, 1))]


def hits(database: Database, words: str) -> int:
    return len(database.run(lambda conn: search.search(conn, words)))


def decide(database: Database, settings: Settings, decision: Decision, *numbers: int) -> DocumentStatus:
    refs = [PageRef(1, number) for number in numbers]
    return work.decide(database, settings, refs, decision)[0].status


def edit(database: Database, settings: Settings, number: int, text: str) -> None:
    work.edit(database, settings, PageRef(1, number), text, EDIT, is_markdown=False)


def broken(database: Database) -> set[str]:
    """Invariants of the ledger; these steps keep no timings."""
    return {violation.invariant for violation in check_ledger(database)} - {"timing-missing"}


def load_under(database: Database, recipe: object) -> None:
    """Read the document anew under another recipe and load it."""
    register(database, intake("/a.pdf"), recipe=recipe)  # type: ignore[arg-type]
    split(database, 2)
    prepare(database, recipe=recipe)  # type: ignore[arg-type]
    read_as(database, Verdict.GOOD, Verdict.GOOD, text="Read anew.")
    load(database)


def test_bad_pages_come_before_suspect_ones_with_their_reasons(database: Database) -> None:
    document(database, Verdict.SUSPECT, Verdict.GOOD, Verdict.BAD)
    bad, suspect = waiting(database, text_chars=3)
    assert (bad.page, bad.verdict, bad.severity) == ("1:3", Verdict.BAD, Severity.ERROR)
    assert (bad.code, bad.message, bad.text) == ("truncated", "Cut off.", "A p")
    assert (suspect.page, suspect.code, suspect.name) == ("1:1", "low-confidence", "/a.pdf")
    assert suspect.findings == (DOUBT,)
    assert (suspect.image_sha256, suspect.image_suffix) == (steps.sha("1-1"), ".jpg")


def test_the_list_says_how_many_there_are_beyond_its_limit(database: Database) -> None:
    document(database, Verdict.SUSPECT, Verdict.SUSPECT, Verdict.BAD)
    found, total = database.run(lambda conn: review.waiting(conn, ReviewQuery(limit=1)))
    assert ([page.page for page in found], total) == (["1:3"], 3)
    assert waiting(database, documents=(2,)) == []
    assert len(waiting(database, run_id=1)) == 3
    assert waiting(database, run_id=99) == []


def test_an_accepted_page_is_good_and_leaves_the_list(database: Database, settings: Settings) -> None:
    document(database, Verdict.GOOD, Verdict.SUSPECT)
    assert status(database) is DocumentStatus.NEEDS_REVIEW
    assert decide(database, settings, ACCEPT, 2) is DocumentStatus.COMPLETE
    assert waiting(database) == []
    assert pages(database)[1] == (Verdict.GOOD, "A page. 2")
    assert broken(database) == set()


def test_the_text_of_a_bad_page_can_be_found_once_it_is_accepted(
    database: Database, settings: Settings
) -> None:
    document(database, Verdict.GOOD, Verdict.BAD)
    shown = database.run(lambda conn: reports.pages(conn, 1))[1]
    assert (shown.code, hits(database, "2")) == ("truncated", 0)
    assert decide(database, settings, ACCEPT, 2) is DocumentStatus.COMPLETE
    shown = database.run(lambda conn: reports.pages(conn, 1))[1]
    assert (shown.code, hits(database, "2")) == (None, 1)


def test_an_ignored_suspect_page_stays_suspect_and_needs_no_review(
    database: Database, settings: Settings
) -> None:
    document(database, Verdict.GOOD, Verdict.SUSPECT)
    assert decide(database, settings, IGNORE, 2) is DocumentStatus.COMPLETE
    assert waiting(database) == []
    assert pages(database)[1][0] is Verdict.SUSPECT


def test_an_ignored_bad_page_keeps_its_place_and_reason(database: Database, settings: Settings) -> None:
    document(database, Verdict.GOOD, Verdict.BAD)
    assert decide(database, settings, IGNORE, 2) is DocumentStatus.PARTIAL
    assert waiting(database) == []
    shown = database.run(lambda conn: reports.pages(conn, 1))[1]
    assert (shown.verdict, shown.code) == (Verdict.BAD, "truncated")
    assert count(database, tables.edition) == 1
    (gap,) = database.run(lambda conn: review.gaps(conn, [1]))
    assert (gap.page_no, gap.code, gap.message) == (2, "truncated", "Cut off.")
    assert gap.image_sha256 == steps.sha("1-2")


def test_blank_pages_of_a_damaged_file_wait_for_a_person(database: Database, settings: Settings) -> None:
    document(database, Verdict.GOOD, Verdict.BLANK, facts=DocumentFacts(2, is_repaired=True))
    (lost,) = waiting(database)
    assert (lost.page, lost.code, lost.severity) == ("1:2", "file-repaired", Severity.WARNING)
    assert decide(database, settings, ACCEPT, 2) is DocumentStatus.COMPLETE
    assert waiting(database) == []
    assert pages(database)[1] == (Verdict.BLANK, "")


def test_what_a_person_writes_is_shown_and_found_instead(database: Database, settings: Settings) -> None:
    document(database, Verdict.GOOD, Verdict.BAD)
    edit(database, settings, 2, "First zebra\nline\n\nSecond part")
    page = database.run(lambda conn: reports.pages(conn, 1))[1]
    assert (page.verdict, page.source, page.engine) == (Verdict.GOOD, ReadingSource.HUMAN, "Ann")
    assert [block.text for block in page.blocks] == ["First zebra\nline", "Second part"]
    assert (hits(database, "zebra"), status(database)) == (1, DocumentStatus.COMPLETE)
    assert waiting(database) == []
    assert count(database, tables.reading) == 3
    assert broken(database) == set()


def test_a_second_edit_replaces_the_first(database: Database, settings: Settings) -> None:
    document(database, Verdict.GOOD, Verdict.BAD)
    edit(database, settings, 2, "zebra")
    edit(database, settings, 2, "giraffe")
    assert pages(database)[1] == (Verdict.GOOD, "giraffe")
    assert (hits(database, "zebra"), hits(database, "giraffe")) == (0, 1)


def test_no_later_reading_displaces_what_a_person_wrote(database: Database, settings: Settings) -> None:
    document(database, Verdict.GOOD, Verdict.BAD)
    edit(database, settings, 2, "zebra")
    load_under(database, steps.OTHER_RECIPE)
    assert pages(database) == [(Verdict.GOOD, "Read anew. 1"), (Verdict.GOOD, "zebra")]


def test_what_was_accepted_of_an_older_reading_says_nothing_of_a_newer_one(
    database: Database, settings: Settings
) -> None:
    document(database, Verdict.SUSPECT, Verdict.GOOD)
    decide(database, settings, ACCEPT, 1)
    register(database, intake("/a.pdf"), recipe=steps.OTHER_RECIPE)
    split(database, 2)
    prepare(database, recipe=steps.OTHER_RECIPE)
    read_as(database, Verdict.SUSPECT, Verdict.GOOD)
    load(database)
    assert [page.page for page in waiting(database)] == ["1:1"]


@pytest.mark.parametrize("over_edit", [False, True])
def test_what_a_retry_read_is_shown_in_place_of_the_very_reading_it_was_about(
    database: Database, settings: Settings, over_edit: bool
) -> None:
    document(database, Verdict.GOOD, Verdict.BAD)
    if over_edit:
        edit(database, settings, 2, "zebra")

    def retried(connection: sa.Connection) -> None:
        about = editions.shown(connection, 1)[1]
        action_id = decisions.record(connection, PageRef(1, 2), about.reading_id, RETRY)
        recipe_id = runs.recipe_id(connection, steps.OTHER_RECIPE)
        made = readings.add(connection, (1, 2), recipe_id, steps.reading("giraffe"), Verdict.GOOD)
        decisions.set_made(connection, action_id, made)
        work.rebuild(connection, settings, 1, [], "ann")

    database.run(retried)
    assert pages(database) == [(Verdict.GOOD, "A page. 1"), (Verdict.GOOD, "giraffe")]
    load_under(database, steps.OTHER_RECIPE.model_copy(update={"revision": "3"}))
    assert pages(database)[1] == (Verdict.GOOD, "Read anew. 2")


def test_every_decision_is_kept_with_person_note_and_time(database: Database, settings: Settings) -> None:
    document(database, Verdict.SUSPECT, Verdict.BAD)
    decide(database, settings, ACCEPT, 1)
    decide(database, settings, IGNORE, 2)
    edit(database, settings, 2, "zebra")
    last, *before = database.run(review.history)
    assert (last.action, last.person, last.made_id) == (Action.EDIT, "Ann", 3)
    assert [(one.action, one.note) for one in before] == [(Action.IGNORE, "a cover"), (Action.ACCEPT, "")]
    assert all(one.at.tzinfo for one in (last, *before))
    assert database.run(lambda conn: review.history(conn, [2])) == ()
    switched = database.run(lambda conn: conn.execute(sa.select(tables.edition_switch)).all())
    assert [(row.kind, row.by) for row in switched][1:] == [("review", "ann@desk"), ("review", "Ann")]


def test_pages_that_are_not_there_or_not_doubtful_are_refused_and_nothing_is_done(
    database: Database, settings: Settings
) -> None:
    document(database, Verdict.GOOD, Verdict.SUSPECT)
    for numbers, told in (((2, 1), "nothing to accept"), ((2, 3), "no page 3")):
        with pytest.raises(ConfigurationError, match=told):
            decide(database, settings, ACCEPT, *numbers)
    with pytest.raises(ConfigurationError, match="no document 7") as raised:
        work.decide(database, settings, [PageRef(7, 1)], ACCEPT)
    assert raised.value.code is Code.NOT_FOUND
    assert count(database, tables.review_action) == 0


@pytest.mark.parametrize("text", ["", " \n\n", "\x00", "x" * 400_001])
def test_a_text_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError):
        work.human_reading(text, "Ann", is_markdown=False)


def test_markdown_becomes_headings_and_tables() -> None:
    written = work.human_reading("# Title\n\n| a | b |\n| - | - |\n| 1 | 2 |", "Ann", is_markdown=True)
    assert [block.type.value for block in written.blocks] == ["heading", "table"]
    assert written.blocks[1].rows == (("a", "b"), ("1", "2"))
    plain = work.human_reading("# Title", "Ann", is_markdown=False)
    assert [(block.type.value, block.text) for block in plain.blocks] == [("paragraph", "# Title")]


@pytest.mark.parametrize("text", ["12", "12:", ":3", "12:0", "a:1", "12:3:4", "-1:3"])
def test_what_names_no_page_is_refused(text: str) -> None:
    with pytest.raises(ConfigurationError, match="DOC:PAGE"):
        PageRef.parse(text)
    assert PageRef.parse("12:3") == PageRef(12, 3)
