"""What `tune` refuses before it starts anything, and the table it shows."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from cli import tuning
from cli.tuning import TuneWish, _searched, _show, _table, _target, _tried
from models.errors import Code, ConfigurationError, EnvironmentFault
from models.settings import Settings, load_settings
from tasks.work.tuning.journal import Journal
from tasks.work.tuning.override import HEAD
from tasks.work.tuning.row import Row, State
from tasks.work.tuning.search import Search
from tests.unit import vlms
from tests.unit.test_tuning_search import Written


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path / "home")


def wish(**changes: Any) -> TuneWish:
    return TuneWish("tiny", (), 60.0, **changes)


def test_the_winner_goes_into_the_home_under_a_name_of_its_own(settings: Settings) -> None:
    folder = settings.root / "profiles"
    assert _target(settings, vlms.plan(), wish()) == folder / "tiny-tuned.toml"
    tuned = vlms.plan(profile=vlms.profile().model_copy(update={"name": "tiny-tuned"}))
    assert _target(settings, tuned, wish()) == folder / "tiny-tuned.toml"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("glm-ocr.toml", "no embedded profile's name"),
        ("mine.txt", r"end with \.toml"),
        ("mine.toml", "was not written by 'pagemill tune'"),
    ],
)
def test_a_profile_of_somebody_s_is_never_written_over(
    settings: Settings, tmp_path: Path, name: str, said: str
) -> None:
    (tmp_path / "mine.toml").write_text("title = 'mine'")
    with pytest.raises(ConfigurationError, match=said):
        _target(settings, vlms.plan(), wish(out=tmp_path / name))
    assert (tmp_path / "mine.toml").read_text() == "title = 'mine'"


def test_what_an_earlier_tuning_wrote_may_be_replaced(settings: Settings, tmp_path: Path) -> None:
    path = tmp_path / "tiny-fast.toml"
    path.write_text(f"{HEAD}.\n")
    assert _target(settings, vlms.plan(), wish(out=path)) == path


def test_only_the_flags_that_were_named_are_tried() -> None:
    found = _tried(vlms.plan(), frozenset({"max-num-seqs"}))
    assert {choice.factor for choice in found} == {"max-num-seqs"}
    assert len(_tried(vlms.plan(), frozenset())) > len(found)
    assert not _tried(vlms.plan(), frozenset({"resolution", "in-flight"}))
    with pytest.raises(ConfigurationError, match=r"--only warp: not tried here. Known: .*block-size"):
        _tried(vlms.plan(), frozenset({"warp"}))


class Ends(Written):
    """A bench whose first server is not even started."""

    def __init__(self, why: BaseException) -> None:
        super().__init__()
        self.why = why

    @contextmanager
    def serving(self, flags: tuple[str, ...]) -> Iterator[str]:
        raise self.why
        yield ""


ROWS = [
    Row(what="untuned", resolution="legible", pages=8, pages_per_s=2.0, start_s=90.0),
    Row(what="8 in flight", resolution="legible", in_flight=8, pages=8, pages_per_s=3.0, distance=0.001),
    Row(what="--block-size 16", state=State.SLOWER, pages=8, pages_per_s=1.0),
    Row(what="--max-num-batched-tokens 16384", state=State.FAILED, said=f"It did not start: {'why ' * 20}"),
]


def test_the_table_has_figures_for_what_was_measured() -> None:
    columns = {str(column.header): list(column.cells) for column in _table(ROWS, 200).columns}
    assert columns["times"] == ["1.00", "1.50", "< 0.50", ""]
    assert columns["in flight"] == ["steered", "8", "steered", ""]
    assert columns["different"] == ["0.00%", "0.10%", "0.00%", ""]
    assert (columns["start s"], columns["failed"]) == (["90", "", "", ""], ["0", "0", "0", ""])


def test_in_a_narrow_terminal_a_row_is_a_line_and_reasons_stand_below(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tuning, "console", lambda: Console(width=80, markup=False, highlight=False))
    _show(ROWS)
    head, _, second, _, third, *reasons = capsys.readouterr().out.splitlines()
    assert head.split() == ["what", "in", "flight", "pages/s", "times", "different", "state"]
    assert second.split() == ["8", "in", "flight", "8", "3.000", "1.50", "0.10%", "measured"]
    assert third.split() == ["--max-num-batched-tokens", "16384", "failed"]
    assert " ".join(reasons).startswith("--max-num-batched-tokens 16384: failed, It did not start: why why")


def test_what_an_interruption_or_a_fault_leaves_is_told_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    journal = Journal(tmp_path / "tiny.json", vlms.profile(), {})
    search = Search(Ends(KeyboardInterrupt()), (), 60.0, 0.0, journal.add)
    assert _searched(search, journal) is None
    assert "Interrupted. Nothing was measured; no profile was written." in capsys.readouterr().err
    journal.add(ROWS[0])
    search = Search(Ends(EnvironmentFault("Taken.", Code.PORT_IN_USE)), (), 60.0, 0.0, journal.add)
    with pytest.raises(
        EnvironmentFault, match=r"Taken\. What was measured is in .*tiny\.json; no profile"
    ) as error:
        _searched(search, journal)
    assert error.value.code is Code.PORT_IN_USE
