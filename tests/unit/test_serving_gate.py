"""A server that reads badly gets no pages, however well it starts."""

import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from models.errors import EnvironmentFault
from tasks.work.doubles.vllm_server import Refused, Said, ScriptedVllm
from tasks.work.doubles.vllm_server.model import Model
from tasks.work.serving.gate import Audition, Gate, Mark, MarkRecord
from tasks.work.serving.golden import PAGES, Golden, digest, golden_pages
from tasks.work.serving.plan import Server
from tasks.work.serving.supervisor import State, Supervised
from tests.unit import vlms
from tests.unit.test_serving_supervisor import PATIENCE, plan, until

DRAWN = golden_pages(Path("/nowhere"))
FEW = DRAWN[:3]


def garbled(text: str, share: float) -> str:
    """So many of its letters wrong."""
    letters = text.replace(" ", "").replace("\n", "")
    return "#" * round(len(letters) * share) + letters[round(len(letters) * share) :]


def answers(pages: tuple[Golden, ...], share: float = 0.0) -> dict[str, str]:
    return {page.sha256: garbled(page.text, share) for page in pages}


def server(url: str, **changes: object) -> Server:
    port = int(url.rpartition(":")[2])
    return vlms.plan(profile=vlms.profile(most_errors=0.2), port=port, **changes).servers()[0]


@contextmanager
def heard(said: Mapping[str, object], pages: tuple[Golden, ...] = FEW) -> Iterator[Mark]:
    """The mark of a server that answers so."""
    with ScriptedVllm(said, model=Model(name="tiny")) as double:  # type: ignore[arg-type]
        audition = Audition(server(double.url), pages, deadline_s=120)
        try:
            yield done(audition.mark)
        finally:
            audition.close()


def done(mark: Callable[[], Mark | None]) -> Mark:
    while (found := mark()) is None:
        time.sleep(0.02)
    return found


def mark(errors: float, vllm: str = "0.25.1") -> Mark:
    with heard({page.sha256: Said(page.text) for page in FEW}) as found:
        return found.model_copy(update={"errors": errors, "vllm": vllm})


def test_golden_pages_are_twenty_of_four_sizes_and_the_same_each_time() -> None:
    assert len(DRAWN) == len({page.sha256 for page in DRAWN}) == PAGES
    assert digest(golden_pages(Path("/nowhere"))) == digest(DRAWN) != digest(FEW)
    assert all(len(page.text.splitlines()) == 8 for page in DRAWN)


def test_one_s_own_pages_take_their_place(tmp_path: Path) -> None:
    (tmp_path / "page.png").write_bytes(FEW[0].picture)
    (tmp_path / "page.png.gt.txt").write_text("Words")
    (tmp_path / "other.png").write_bytes(FEW[1].picture)
    (own,) = golden_pages(tmp_path)
    assert (own.name, own.text, own.sha256) == ("page.png", "Words", FEW[0].sha256)


@pytest.mark.slow
def test_the_default_engine_reads_the_drawn_pages() -> None:
    from tasks.work.engines.ppocr import FasterPaddle
    from tasks.work.metrics import cer

    reader = FasterPaddle()
    read = [" ".join(line.text for line in reader.lines(page.picture)) for page in DRAWN[:4]]
    errors = [cer(page.text, text) for page, text in zip(DRAWN[:4], read, strict=True)]
    assert max(errors) < 0.05


def test_the_mark_is_the_share_of_wrong_characters() -> None:
    said = {page.sha256: Said(text) for page, text in zip(FEW, answers(FEW, 0.1).values(), strict=True)}
    with heard(said) as found:
        assert found.errors == pytest.approx(0.1, abs=0.01)
        assert (found.profile, found.pages, found.vllm) == ("tiny", 3, "0.25.1")


def test_a_page_that_is_refused_is_all_wrong() -> None:
    said = {page.sha256: Said(page.text) for page in FEW} | {FEW[0].sha256: Refused(400, "no")}
    with heard(said) as found:
        assert found.errors == pytest.approx(1 / 3)


def test_what_is_not_read_by_the_deadline_is_all_wrong() -> None:
    with ScriptedVllm(Said("x", seconds=60), model=Model(name="tiny")) as double:
        audition = Audition(server(double.url), FEW, deadline_s=0.1)
        assert done(audition.mark).errors == 1.0
        audition.close()


@pytest.mark.parametrize(
    ("before", "errors", "said"),
    [
        ([], 0.2, ""),
        ([], 0.21, "21.0% of the characters of 3 golden pages are wrong, 20% may be"),
        ([0.01], 0.03, ""),
        ([0.01], 0.031, "1.0% were with vLLM 0.25.1"),
        ([0.10, 0.01, 0.15], 0.04, "1.0% were"),
    ],
)
def test_a_server_has_to_be_as_good_as_its_weights_were_before(
    tmp_path: Path, before: list[float], errors: float, said: str
) -> None:
    gate, one = Gate(FEW, MarkRecord(tmp_path / "golden.json")), vlms.profile(most_errors=0.2)
    sample = mark(0.0)
    for known in before:
        gate.record.keep(one, sample.model_copy(update={"errors": known}), FEW)
    refused = gate.judge(one, sample.model_copy(update={"errors": errors, "vllm": "0.99"}))
    assert said in refused if said else refused == ""
    assert len(json.loads(gate.record.path.read_text()).popitem()[1]) == len(before) + 1


def test_other_weights_and_other_pages_have_marks_of_their_own(tmp_path: Path) -> None:
    record, one = MarkRecord(tmp_path / "golden.json"), vlms.profile()
    record.keep(one, mark(0.01), FEW)
    assert record.best(one, "/models/tiny", FEW) is not None
    assert record.best(one, "/models/tiny", DRAWN) is None
    assert record.best(one, "/other", FEW) is None


def test_a_spoilt_record_of_marks_is_told_with_the_remedy(tmp_path: Path) -> None:
    record = MarkRecord(tmp_path / "golden.json")
    record.path.write_text('{"half": [')
    with pytest.raises(EnvironmentFault, match=r"golden\.json is spoilt.*Delete the file"):
        record.best(vlms.profile(), "/models/tiny", FEW)


def test_a_model_without_a_limit_reads_no_golden_pages(tmp_path: Path) -> None:
    gate = Gate(FEW, MarkRecord(tmp_path / "golden.json"))
    assert gate.begin(vlms.plan().servers()[0]) is None


@contextmanager
def watched(folder: Path, share: float) -> Iterator[tuple[Supervised, list[str]]]:
    """A real process that reads golden pages with so many errors, looked after."""
    (folder / "answers.json").write_text(json.dumps(answers(FEW, share)))
    told: list[str] = []
    one = plan(folder, profile=vlms.profile(most_errors=0.2)).servers()[0]
    gate = Gate(FEW, MarkRecord(folder / "golden.json"))
    supervised = Supervised(one, folder / "log", patience=PATIENCE, gate=gate, tell=told.append)
    supervised.start()
    try:
        yield supervised, told
    finally:
        supervised.stop()


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    return tmp_path


@pytest.mark.slow
def test_a_server_gets_pages_once_it_has_read_the_golden_ones(here: Path) -> None:
    with watched(here, 0.05) as (one, told):
        until(one, lambda: one.state is State.READING)
        until(one, lambda: one.state is State.READY)
        assert "on 3 golden pages" in told[-1]
        assert not one._audition


@pytest.mark.slow
def test_a_server_that_reads_badly_is_given_up_and_ended(here: Path) -> None:
    with watched(here, 0.6) as (one, told):
        until(one, lambda: one.state is State.GIVEN_UP)
        assert "refused: " in told[-1]
        assert one.memory_mb() == 0
        with suppress(AssertionError):
            until(one, lambda: one.state is not State.GIVEN_UP, seconds=0.3)
        assert one.state is State.GIVEN_UP
