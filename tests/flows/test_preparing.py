"""A batch of page images is committed group by group, so that reading begins and a kill loses little."""

from collections import Counter
from collections.abc import Callable, Collection
from typing import Any

import pytest

from models.errors import Code, DatabaseUnreachable, EnvironmentFault
from models.geometry import Transform
from models.page import PageImage
from models.stage import Stage
from tasks import preprocess
from tasks.drain import Line, Shift, drain
from tasks.manifest import Entry, Refusal
from tasks.mill import Mill
from tasks.prefetch import Prefetch
from tasks.preprocess import Batch, Made, PageImages, make_images, preprocess_batch
from tasks.register import register_roots
from tasks.split import split_batch
from tests import factories
from tests.flows.yard import Yard, saying

pytestmark = pytest.mark.slow

_PAGES = 20


@pytest.fixture
def mill(yard: Yard) -> Any:
    """All pages of one document wait for their images; groups are small."""
    factories.write(yard.inbox / "a.pdf", factories.pdf(*map(str, range(_PAGES)), width=200, height=200))
    mill, recipe_id = yard.mill(saying())
    register_roots(mill, [yard.inbox], recipe_id)
    split_batch(mill, mill.claim(Stage.SPLIT, 1))
    yield mill
    mill.close()


@pytest.fixture
def groups(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Sizes of the groups that are committed: of four pages, as no more are begun at a time."""
    sizes: list[int] = []
    commit, submit, gather = Batch.commit, preprocess._submit, preprocess._gather
    waiting: dict[Made, Callable[[], None]] = {}

    def noting(batch: Batch, found: Any, **how: Any) -> None:
        commit(batch, found, **how)
        sizes.append(len(found))

    def later(mill: Mill, item: Any) -> Made:
        promised = Made()
        waiting[promised] = lambda: submit(mill, item).add_done_callback(
            lambda made: promised.set_result(made.result())
        )
        return promised

    def begin_four(mill: Mill, under_way: Collection[Made]) -> set[Made]:
        for one in [one for one in under_way if one in waiting][:4]:
            one.set_running_or_notify_cancel()
            waiting.pop(one)()
        return gather(mill, under_way)

    monkeypatch.setattr(Batch, "commit", noting)
    monkeypatch.setattr(preprocess, "_submit", later)
    monkeypatch.setattr(preprocess, "_gather", begin_four)
    monkeypatch.setattr(preprocess, "_GROUP_PAGES", 4)
    monkeypatch.setattr(preprocess, "_LOOK_S", 0.01)
    return sizes


def test_of_one_batch_the_first_pages_can_be_read_while_the_others_are_made(
    yard: Yard, mill: Mill, groups: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    ready: list[int] = []
    with mill.bells.listening(Stage.OCR, lambda: ready.append(len(yard.rows("claim", stage="ocr")))):
        preprocess_batch(mill, mill.claim(Stage.PREPROCESS, _PAGES))
    assert sum(groups) == _PAGES
    assert len(groups) >= _PAGES // 4
    assert ready == [sum(groups[: number + 1]) for number in range(len(groups))]
    (row,) = yard.rows("stage_run", stage="preprocess")
    assert (row.pages, row.cached) == (_PAGES, 0)


def test_what_breaks_off_in_the_middle_keeps_what_was_committed(
    yard: Yard, mill: Mill, groups: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(mill)
    true_gather = preprocess._gather

    def dies(*given: Any) -> Any:
        if sum(groups) >= 8:
            raise KeyboardInterrupt
        return true_gather(*given)

    monkeypatch.setattr(preprocess, "_gather", dies)
    with pytest.raises(KeyboardInterrupt):
        make_images.fn(batch, batch.key)
    done = len(yard.rows("page_image"))
    assert 8 <= done < _PAGES
    assert len(yard.rows("claim", stage="ocr")) == done == _PAGES - len(batch.left)


def test_another_try_of_a_batch_goes_on_with_what_is_left(
    yard: Yard, mill: Mill, groups: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    batch = batch_of(mill)
    true_run, submitted = mill.database.run, Counter[int]()
    true_submit = preprocess._submit

    def submit(mill: Mill, item: Any) -> Any:
        submitted[item.facts.page_no] += 1
        return true_submit(mill, item)

    def run(work: Any) -> Any:
        if len(groups) == 2:
            groups.append(0)
            raise DatabaseUnreachable("It is away.")
        return true_run(work)

    monkeypatch.setattr(preprocess, "_submit", submit)
    monkeypatch.setattr(mill.database, "run", run)
    with pytest.raises(DatabaseUnreachable):
        make_images.fn(batch, batch.key)
    kept = sum(groups)
    make_images.fn(batch, batch.key)
    assert Counter(submitted.values()) == {1: kept, 2: _PAGES - kept}
    assert not batch.left
    assert len(yard.rows("page_image")) == len(yard.rows("claim", stage="ocr")) == _PAGES


def test_images_that_are_there_are_taken_over_and_the_others_made(
    yard: Yard, mill: Mill, groups: list[int]
) -> None:
    drain(
        mill, [Line(Stage.PREPROCESS, preprocess_batch, 8)], lambda: not mill.outstanding([Stage.PREPROCESS])
    )
    purged, *_ = yard.rows("page_image")
    mill.store.path(purged.sha256, purged.suffix).unlink()
    yard.database.run(lambda conn: conn.execute(again()))
    other, _ = yard.mill(saying())
    preprocess_batch(other, other.claim(Stage.PREPROCESS, _PAGES))
    other.close()
    rows = yard.rows("stage_run", stage="preprocess", run_id=other.run_id)
    assert [(row.pages, row.cached) for row in rows] == [(_PAGES, _PAGES - 1)]


def test_what_prefect_kept_of_a_batch_is_entered_as_far_as_it_is_in_the_store(
    yard: Yard, mill: Mill, groups: list[int]
) -> None:
    batch = batch_of(mill)
    kept = make_images.fn(batch, batch.key)
    purged, *_ = yard.rows("page_image")
    mill.store.path(purged.sha256, purged.suffix).unlink()
    yard.database.run(lambda conn: conn.execute(preprocess.pages.tables.page_image.delete()))
    yard.database.run(lambda conn: conn.execute(again()))
    other = batch_of(mill)
    preprocess._take_over(other, PageImages.model_validate_json(kept.model_dump_json()))
    assert groups[-1] == _PAGES - 1
    assert [item.facts.page_no for item in other.left.values()] == [purged.page_no]


def batch_of(mill: Mill) -> Batch:
    claims = mill.claim(Stage.PREPROCESS, _PAGES)
    return Batch(mill, mill.database.run(lambda conn: preprocess.pages.to_preprocess(conn, claims)))


def again() -> Any:
    """All pages wait for their images once more."""
    t = preprocess.pages.tables.claim
    return t.update().where(t.c.page_no > 0).values(stage="preprocess", status="ready", attempt=0, owner=None)


def test_where_the_store_fails_what_was_made_is_kept_and_no_page_loses_a_try(yard: Yard, mill: Mill) -> None:
    batch = batch_of(mill)
    first, second, *_ = batch.left
    image = PageImage("ab" * 32, ".jpg", 100, 100, Transform.scale(1, 1), 0.1, is_blank=False)
    gone = Refusal.of(EnvironmentFault("The store is gone.", Code.HOME_UNWRITABLE))
    with pytest.raises(EnvironmentFault, match="gone"):
        batch.commit({second: Entry(refusal=gone), first: Entry(value=image)})
    assert [row.id for row in yard.rows("claim", stage="ocr")] == [first]
    mill.close()
    assert {row.attempt for row in yard.rows("claim", stage="preprocess")} == {0}
    assert yard.rows("stage_run", code="home-unwritable") == []


def test_drawing_waits_while_enough_is_drawn_that_nobody_has_read(mill: Mill) -> None:
    mill.prefetch = Prefetch(most_bytes=1)
    line = Line(Stage.PREPROCESS, preprocess_batch, _PAGES, first=2)
    shift = Shift(line, mill, lambda: True, float("inf"))
    for _ in range(3):
        shift.turn(preprocess_batch)
    assert (shift.count, shift.goes_on) == (2, True)
    assert mill.outstanding([Stage.OCR]) == 2
    mill.prefetch = Prefetch(most_bytes=1e9)
    shift.turn(preprocess_batch)
    assert shift.count == 2 + 2 * 4


def test_what_may_be_drawn_ahead_is_measured_in_bytes(yard: Yard, mill: Mill) -> None:
    preprocess_batch(mill, mill.claim(Stage.PREPROCESS, 3))
    size = sum(mill.store.size(row.sha256, row.suffix) for row in yard.rows("page_image"))
    for most_bytes, is_full in ((size - 3, True), (size + 3, False)):
        ahead = Prefetch(most_bytes)
        assert not ahead.is_full(mill)
        ahead.made(size // 3)
        assert ahead.is_full(mill) is is_full


def test_a_run_that_may_draw_little_ahead_reads_all(yard: Yard) -> None:
    yard.settings = yard.settings.model_copy(update={"prefetch_gib": 1e-9})
    factories.write(yard.inbox / "a.pdf", factories.pdf(*map(str, range(_PAGES)), width=200, height=200))
    yard.ingest(saying())
    assert len(yard.rows("reading")) == _PAGES
