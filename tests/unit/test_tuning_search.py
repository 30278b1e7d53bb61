"""The order of a tuning, its budget and its guard, on a bench whose speeds are written down."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

from models.errors import ConfigurationError, EngineUnavailable
from tasks.work.tuning.choices import Choice
from tasks.work.tuning.row import Row, State
from tasks.work.tuning.search import CLIENT, Search, untuned_of
from tasks.work.tuning.trial import Outcome

START_S, PAGES = 100.0, 32
TEXTS = ("The first page as it is printed",) * PAGES
SEATS, BATCH, CACHE = (Choice(name, (f"--{name}", "9")) for name in ("seats", "batch", "cache"))
MORE_SEATS = Choice("seats", ("--seats", "99"))


@dataclass
class Written:
    """A bench: pages a second by flags, resolution and width; time passes as it says."""

    speeds: Mapping[object, float] = field(default_factory=dict)
    other_texts: frozenset[object] = frozenset()
    fails: frozenset[object] = frozenset()
    dies: frozenset[object] = frozenset()
    known: Mapping[tuple[str, ...], str] = field(default_factory=dict)
    resolution: str = "legible"
    most_in_flight: int = 8
    clock: float = 0.0
    starts: list[tuple[str, ...]] = field(default_factory=list)
    settled_s: float = 0.0
    speeds_of_reads: list[float] = field(default_factory=list)
    """How many times as fast each of the first reads is; 0: the server goes away."""
    noted: dict[tuple[str, ...], bool] = field(default_factory=dict)
    _flags: tuple[str, ...] = ()

    @contextmanager
    def serving(self, flags: tuple[str, ...]) -> Iterator[str]:
        self.starts.append(flags)
        self.clock += START_S
        if flags in self.fails:
            raise EngineUnavailable("no such flag")
        self._flags = flags
        yield "http://here"

    def settle(self, url: str, most_s: float) -> None:
        self.settled_s = most_s

    def read(self, url: str, resolution: str, in_flight: int | None, most_s: float | None) -> Outcome:
        keys = [key for key in (self._flags, resolution, in_flight) if key]
        if self.dies.intersection(keys):
            raise EngineUnavailable("it went away")
        if "cannot" in self.speeds and resolution == "max":
            raise ConfigurationError("a page cannot be made so large")
        speed = self.speeds_of_reads.pop(0) if self.speeds_of_reads else 1.0
        if not speed:
            raise EngineUnavailable("it went away")
        for key in keys:
            speed *= self.speeds.get(key, 1.0)
        seconds = min(PAGES / speed, most_s or PAGES / speed)
        self.clock += seconds
        texts = ("Something else entirely",) * PAGES if self.other_texts.intersection(keys) else TEXTS
        done = round(seconds * speed)
        return Outcome(seconds, texts[:done] + (None,) * (PAGES - done), 100, 640, PAGES - done)

    def failed_before(self, flags: tuple[str, ...]) -> str:
        return self.known.get(flags, "")

    def note(self, flags: tuple[str, ...], *, works: bool, said: str) -> None:
        self.noted[flags] = works


def searched(
    bench: Written, *choices: Choice, budget_s: float = 1e6, client: frozenset[str] = CLIENT
) -> tuple[Row, list[Row]]:
    kept: list[Row] = []
    search = Search(bench, choices, budget_s, 0.01, kept.append, client, now=lambda: bench.clock)
    best = search.run()
    assert kept == search.rows
    return best, kept


def named(rows: list[Row], what: str) -> Row:
    (row,) = (row for row in rows if row.what == what)
    return row


def test_what_needs_no_start_is_tried_on_the_untuned_server() -> None:
    bench = Written()
    best, rows = searched(bench)
    assert bench.starts == [()]
    assert [row.what for row in rows] == [
        *("untuned", "untuned, again", "resolution fixed", "resolution max", "8 in flight", "4 in flight")
    ]
    assert (best.what, best.state, best.pages) == ("untuned", State.MEASURED, PAGES)
    assert rows[0].start_s == START_S
    assert bench.settled_s == 1e6 / 20


def test_of_the_client_only_what_was_asked_for_is_tried() -> None:
    untuned = ["untuned", "untuned, again"]
    for client, more in (
        (frozenset[str](), []),
        (frozenset({"resolution"}), ["resolution fixed", "resolution max"]),
        (frozenset({"in-flight"}), ["8 in flight", "4 in flight"]),
    ):
        _, rows = searched(Written(), client=client)
        assert [row.what for row in rows] == untuned + more


def test_the_best_resolution_and_width_hold_for_all_flags() -> None:
    bench = Written({"fixed": 1.5, 8: 1.2, SEATS.flags: 1.1})
    best, rows = searched(bench, SEATS)
    assert (best.flags, best.resolution, best.in_flight) == (SEATS.flags, "fixed", 8)
    assert best.pages_per_s == pytest.approx(1.5 * 1.2 * 1.1)
    assert named(rows, "4 in flight").resolution == "fixed"


def test_the_best_of_each_factor_are_tried_together() -> None:
    bench = Written(
        {SEATS.flags: 1.2, MORE_SEATS.flags: 1.3, BATCH.flags: 1.1, MORE_SEATS.flags + BATCH.flags: 1.5}
    )
    best, _ = searched(bench, SEATS, MORE_SEATS, BATCH, CACHE)
    assert bench.starts[-1] == best.flags == MORE_SEATS.flags + BATCH.flags
    assert best.what == "the best together"


def test_a_combination_that_is_no_faster_is_not_taken() -> None:
    bench = Written({SEATS.flags: 1.3, BATCH.flags: 1.2, SEATS.flags + BATCH.flags: 1.25})
    assert searched(bench, SEATS, BATCH)[0].flags == SEATS.flags


def test_a_gain_that_two_equal_measurements_have_too_is_none() -> None:
    assert searched(Written({SEATS.flags: 1.015}), SEATS)[0].flags == ()


def test_faster_answers_that_are_others_do_not_win() -> None:
    bench = Written({SEATS.flags: 3.0, "max": 2.0}, other_texts=frozenset({SEATS.flags, "max"}))
    best, rows = searched(bench, SEATS)
    assert best.what == "untuned"
    assert named(rows, "--seats 9").state is named(rows, "resolution max").state is State.DIFFERENT
    assert named(rows, "--seats 9").distance > 0.3


def test_flags_that_fail_are_noted_and_the_rest_goes_on() -> None:
    bench = Written({CACHE.flags: 1.5}, fails=frozenset({SEATS.flags}), dies=frozenset({BATCH.flags}))
    best, rows = searched(bench, SEATS, BATCH, CACHE)
    assert bench.noted == {SEATS.flags: False, BATCH.flags: False, CACHE.flags: True}
    assert [(row.state, row.said) for row in rows[-3:-1]] == [
        (State.FAILED, "no such flag"), (State.FAILED, "it went away"),
    ]  # fmt: skip
    assert best.flags == CACHE.flags


def test_what_failed_before_or_is_unsafe_is_not_tried() -> None:
    unsafe = Choice("prefix", ("--prefix",), unsafe="another page's text")
    bench = Written(known={SEATS.flags: "out of memory"})
    _, rows = searched(bench, SEATS, unsafe)
    assert bench.starts == [()]
    assert [(row.state, row.said) for row in rows[-2:]] == [
        (State.KNOWN, "out of memory"), (State.UNSAFE, "another page's text"),
    ]  # fmt: skip


def test_what_is_far_behind_the_fastest_is_not_waited_for() -> None:
    bench = Written({"fixed": 2.0, "max": 0.5, SEATS.flags: 0.1})
    best, rows = searched(bench, SEATS)
    assert (best.resolution, best.seconds) == ("fixed", PAGES / 2)
    for what in ("resolution max", "--seats 9"):
        slow = named(rows, what)
        assert (slow.state, slow.failed) == (State.SLOWER, 0)
        assert slow.seconds == 1.5 * best.seconds
        assert slow.pages < PAGES
        assert slow.pages_per_s == PAGES / slow.seconds
        assert slow.speed.startswith("< ")
    assert named(rows, "--seats 9").said == "5 of 32 pages in 24 s"
    assert bench.noted == {SEATS.flags: True}


def test_fewer_requests_are_tried_until_they_are_slower() -> None:
    speeds = {64: 0.9, 32: 1.3, 16: 1.0, 8: 0.7, 4: 0.4}
    best, rows = searched(Written(speeds, most_in_flight=64))
    widths = [row.in_flight for row in rows if row.factor == "in-flight"]
    assert widths == [64, 32, 16]
    assert best.in_flight == 32


def test_when_the_time_is_used_up_nothing_more_is_started() -> None:
    bench = Written({SEATS.flags: 2.0})
    _, rows = searched(bench, SEATS, BATCH, CACHE, budget_s=600)
    assert bench.clock < 600
    assert bench.starts == [(), SEATS.flags]
    assert [row.state for row in rows[-2:]] == [State.NO_TIME, State.NO_TIME]


def test_the_untuned_server_is_measured_whatever_the_budget() -> None:
    best, rows = searched(Written(), SEATS, budget_s=1)
    assert (best.what, rows[-1].state) == ("untuned", State.NO_TIME)
    assert "resolution max" not in [row.what for row in rows]


def test_pages_that_cannot_be_made_at_a_resolution_only_end_that_try() -> None:
    bench = Written({"cannot": 1.0})
    _, rows = searched(bench)
    assert named(rows, "resolution max").state is State.FAILED
    assert rows[-1].what == "4 in flight"


def test_a_server_that_dies_of_a_width_does_not_end_the_search() -> None:
    bench = Written({SEATS.flags: 1.5}, dies=frozenset({8}))
    best, rows = searched(bench, SEATS)
    assert named(rows, "client settings").said == "it went away"
    assert best.flags == SEATS.flags


def test_a_server_that_cannot_be_measured_twice_ends_the_search() -> None:
    bench = Written({SEATS.flags: 1.5}, speeds_of_reads=[1.0, 0.0])
    with pytest.raises(EngineUnavailable, match="it went away"):
        searched(bench, SEATS)
    assert bench.starts == [()]


def test_others_are_held_against_the_faster_of_two_untuned_measurements() -> None:
    for speeds in ([1.0, 1.25], [1.25, 1.0]):
        best, rows = searched(Written(speeds_of_reads=speeds))
        assert untuned_of(rows) is best
        assert best.pages_per_s == 1.25


def test_without_an_untuned_server_there_is_nothing_to_tune() -> None:
    with pytest.raises(EngineUnavailable, match="no such flag"):
        searched(Written(fails=frozenset({()})))
