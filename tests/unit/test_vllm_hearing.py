"""Servers that others look after: they get pages once they have read golden ones well."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from models.errors import ConfigurationError, EngineUnavailable, EnvironmentFault
from models.servers import OcrServers
from models.settings import load_settings
from tasks.work.doubles.vllm_server import Refused, Said, ScriptedVllm, overloaded
from tasks.work.doubles.vllm_server.script import Answer
from tasks.work.engines.vllm import VllmEngine, keeper, open_engine
from tasks.work.serving.golden import Golden, golden_pages
from tests import served

FEW = golden_pages(Path("/nowhere"))[:2]
RIGHT = {page.sha256: Said(page.text) for page in FEW}
WORDS = Said("words of the archive")


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """With two golden pages of one's own."""
    folder = tmp_path / "home" / "golden"
    folder.mkdir(parents=True)
    for page in FEW:
        (folder / page.name).write_bytes(page.picture)
        (folder / f"{page.name}.gt.txt").write_text(page.text)
    return folder.parent


@contextmanager
def reading(
    server: ScriptedVllm, home: Path | None, most_errors: float = 0.2, wait_s: float = 120.0
) -> Iterator[VllmEngine]:
    profile = served.profile(most_errors=most_errors)
    engine = open_engine(profile, OcrServers((server.url,), wait_s=wait_s, golden=home))
    try:
        yield engine
    finally:
        engine.close()


def scripted(said: Mapping[str, Answer] | Mapping[str, list[Answer]]) -> ScriptedVllm:
    return ScriptedVllm(said, default=WORDS)  # type: ignore[arg-type]


def golden(server: ScriptedVllm, pages: tuple[Golden, ...] = FEW) -> int:
    """Times that golden pages were asked for."""
    names = {page.sha256 for page in pages}
    return sum(bool(names & set(entry.asked.images)) for entry in server.entries)


def test_a_server_gets_pages_once_it_has_read_the_golden_ones(home: Path, tmp_path: Path) -> None:
    with scripted(RIGHT) as server, reading(server, home) as engine:
        assert engine.submit(served.page(tmp_path)).result(120).text == "words of the archive"
        assert (golden(server), len(server.entries)) == (2, 3)
        assert engine.facts()["golden"].endswith(": 0.0% of characters wrong")


def test_a_server_that_misreads_is_refused_in_a_line_with_the_way_out(home: Path) -> None:
    wrong = {page.sha256: Said("water pump") for page in FEW}
    with scripted(wrong) as server:
        with pytest.raises(ConfigurationError) as refused, reading(server, home):
            pass
        assert "misreads: 9" in refused.value.message
        assert "of 2 golden pages are wrong, 20% may be" in refused.value.message
        assert "PAGEMILL_OCR_GOLDEN=false" in refused.value.message
        assert golden(server) == len(server.entries) == 2


@pytest.mark.parametrize(("share", "is_refused"), [(0.15, False), (0.25, True)])
def test_the_limit_is_the_profile_s(home: Path, share: float, is_refused: bool) -> None:
    said = {page.sha256: Said("#" * round(len(page.text) * share) + page.text) for page in FEW}
    with scripted(said) as server:
        if not is_refused:
            with reading(server, home):
                return
        with pytest.raises(ConfigurationError, match="misreads"), reading(server, home):
            pass


def test_a_page_that_is_refused_counts_as_misread(home: Path) -> None:
    said = RIGHT | {FEW[0].sha256: Refused(400, "no")}
    with scripted(said) as server, pytest.raises(ConfigurationError, match=r"50\.0%"), reading(server, home):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("is_wrong", [False, True])
def test_one_process_of_a_server_reads_the_golden_pages_once(home: Path, is_wrong: bool) -> None:
    said = {page.sha256: Said("nothing of it") for page in FEW} if is_wrong else RIGHT
    with scripted(said) as server:
        for _ in range(3):
            try:
                with reading(server, home):
                    assert not is_wrong
            except ConfigurationError:
                assert is_wrong
        assert golden(server) == 2
        (marks,) = json.loads((home / "serve" / "golden.json").read_text()).values()
        assert len(marks) == 1


@pytest.mark.slow
def test_a_server_that_was_started_again_is_heard_again(home: Path) -> None:
    with scripted(RIGHT) as server:
        with reading(server, home):
            pass
        server.die()
        server.revive()
        with reading(server, home):
            pass
        assert golden(server) == 4


@pytest.mark.slow
def test_a_server_that_misreads_once_it_was_started_again_gets_no_more_pages(
    home: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeper, "_TELL_S", 0.0)
    with scripted({page.sha256: [Said(page.text), Said("nothing of it")] for page in FEW}) as server:
        with reading(server, home, wait_s=1) as engine:
            assert engine.submit(served.page(tmp_path)).result(120).text == "words of the archive"
            server.die()
            server.revive()
            served.until(lambda: "misreads" in engine.waiting_for)
            with pytest.raises(EngineUnavailable, match="misreads"):
                engine.submit(served.page(tmp_path, 1)).result(120)
        assert golden(server) == 4
    assert "waiting for OCR server" in caplog.text


@pytest.mark.slow
def test_a_busy_server_is_waited_for_and_not_judged(home: Path, tmp_path: Path) -> None:
    said = {page.sha256: [overloaded(), Said(page.text)] for page in FEW}
    with scripted(said) as server, reading(server, home) as engine:
        assert engine.submit(served.page(tmp_path)).result(120).text == "words of the archive"
        assert engine.facts()["golden"].endswith("0.0% of characters wrong")


def test_models_without_a_limit_and_servers_that_are_believed_read_no_golden_pages(home: Path) -> None:
    with scripted(RIGHT) as server:
        for place, most_errors in ((home, 0.0), (None, 0.2)):
            with reading(server, place, most_errors) as engine:
                assert "golden" not in {name for name, told in engine.facts().items() if told}
        assert server.entries == []


def test_a_spoilt_record_of_marks_ends_with_the_remedy(home: Path) -> None:
    (home / "serve").mkdir()
    (home / "serve" / "golden.json").write_text("{")
    with scripted(RIGHT) as server, pytest.raises(EnvironmentFault, match="spoilt"), reading(server, home):
        pass


def test_only_servers_that_were_named_are_heard() -> None:
    found = ("http://127.0.0.1:8000",)
    named = load_settings(ocr_url="http://gpu:1", home="/somewhere")
    assert named.ocr_servers(found).golden == Path("/somewhere")
    assert load_settings(home="/somewhere").ocr_servers(found).golden is None
    assert load_settings(ocr_url="http://gpu:1", ocr_golden=False).ocr_servers().golden is None
