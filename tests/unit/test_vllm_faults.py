"""Servers that are late, full, wedged, dying or the wrong ones: what becomes of the pages."""

from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, wait
from pathlib import Path

import pytest

from models.engine import OcrRequest
from models.errors import Code, ConfigurationError, EngineUnavailable, PageFailed
from models.reading import Reading
from models.servers import OcrServers
from tasks.work.doubles.vllm_server import (
    Answer,
    Asked,
    Drops,
    Hangs,
    Kills,
    Model,
    Mood,
    Refused,
    Said,
    ScriptedVllm,
    overloaded,
    server_error,
)
from tasks.work.engines.vllm import VllmEngine, open_engine
from tests.served import PROFILE, page, reading, until

pytestmark = pytest.mark.slow


def submit(engine: VllmEngine, requests: Sequence[OcrRequest]) -> list[Future[Reading]]:
    return [engine.submit(request) for request in requests]


def texts(futures: Sequence[Future[Reading]], seconds: float = 120) -> list[str]:
    return [future.result(seconds).text for future in futures]


def pages(folder: Path, count: int) -> list[OcrRequest]:
    return [page(folder, number) for number in range(count)]


def test_without_an_address_it_says_how_to_get_one() -> None:
    with pytest.raises(ConfigurationError, match=r"'pagemill serve tiny', or set PAGEMILL_OCR_URL"):
        open_engine(PROFILE, OcrServers(()))


@pytest.mark.parametrize(
    ("model", "told"),
    [
        (
            Model(name="other"),
            "serves no model 'glm-ocr' but: other. Start it with --served-model-name glm-ocr",
        ),
        (Model(api_key="secret"), "wants a key: set PAGEMILL_OCR_API_KEY"),
    ],
)
def test_the_wrong_server_is_told_at_once(model: Model, told: str) -> None:
    with ScriptedVllm(model=model) as server, pytest.raises(ConfigurationError, match=told), reading(server):
        pass


def test_a_wrong_key_is_told_from_none() -> None:
    with ScriptedVllm(model=Model(api_key="secret")) as server:
        servers = OcrServers((server.url,), "sesame")
        with pytest.raises(ConfigurationError, match="does not accept the key in PAGEMILL_OCR_API_KEY"):
            open_engine(PROFILE, servers).close()


@pytest.mark.parametrize(
    ("path", "told"),
    [("/health", "does not speak the OpenAI API"), ("/metrics", "does not speak the OpenAI")],
)
def test_an_address_where_something_else_answers_is_told_at_once(path: str, told: str) -> None:
    with ScriptedVllm() as server, pytest.raises(ConfigurationError, match=told), reading(server.url + path):
        pass


def test_an_unknown_host_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError, match=r"the host of http://no-such-host.invalid:1 is not known"):
        open_engine(PROFILE, OcrServers(("http://user:pass@no-such-host.invalid:1",)))


def test_a_server_that_starts_late_costs_no_page_and_is_told_when_it_is_there(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with ScriptedVllm(Said("late"), down_s=3_600) as server, reading(server) as engine:
        futures = submit(engine, pages(tmp_path, 5))
        until(lambda: "no connection" in engine.waiting_for)
        assert not any(future.done() for future in futures)
        server.revive()
        assert texts(futures) == ["late"] * 5
        assert engine.waiting_for == ""
    told = [record.message for record in caplog.records if record.levelname == "WARNING"]
    assert any(line.startswith("OCR server ready") for line in told)


def test_pages_are_given_up_after_the_time_that_was_set(tmp_path: Path) -> None:
    with ScriptedVllm(down_s=60) as server, reading(server, wait_s=0.5) as engine:
        futures = submit(engine, pages(tmp_path, 3))
        for future in futures:
            with pytest.raises(EngineUnavailable, match=r"no connection.*'pagemill serve") as caught:
                future.result(120)
        assert caught.value.code is Code.ENGINE_UNAVAILABLE


def test_a_restart_in_the_middle_loses_and_doubles_nothing(tmp_path: Path) -> None:
    def script(asked: Asked) -> Answer:
        return Said(asked.images[0], seconds=0.02)

    with ScriptedVllm(script, slots=4) as server, reading(server) as engine:
        requests = pages(tmp_path, 60)
        futures = submit(engine, requests)
        until(lambda: len(server.entries) > 15)
        server.die(0.5)
        assert texts(futures) == [request.image.sha256 for request in requests]
        answered = [entry.asked.images[0] for entry in server.entries if entry.outcome == "stop"]
    assert len(answered) - len(set(answered)) <= 4, "only what was in flight is read again"


@pytest.mark.slow
def test_an_engine_that_dies_behind_its_endpoints_is_noticed_by_its_health(tmp_path: Path) -> None:
    with ScriptedVllm([Hangs()] * 4, default=Said("x")) as server, reading(server, in_flight=4) as engine:
        futures = submit(engine, pages(tmp_path, 6))
        until(lambda: server.open == 4)
        server.feel(Mood.DEAD)
        until(lambda: "/health: 503" in engine.waiting_for or "500" in engine.waiting_for)
        server.die(0.1)
        assert texts(futures) == ["x"] * 6


def test_a_page_that_was_in_flight_at_two_deaths_is_put_aside_and_takes_no_other_along(
    tmp_path: Path,
) -> None:
    requests = pages(tmp_path, 8)
    killer = requests[0].image.sha256

    def script(asked: Asked) -> Answer:
        return Kills(0.1) if asked.images[0] == killer else Said("fine", seconds=0.1)

    with ScriptedVllm(script, slots=8) as server, reading(server, in_flight=8) as engine:
        futures = submit(engine, requests)
        with pytest.raises(PageFailed, match="died 2 times") as caught:
            futures[0].result(120)
        assert texts(futures[1:]) == ["fine"] * 7
        assert server.deaths == 2
    assert caught.value.code is Code.QUARANTINED


@pytest.mark.slow
def test_a_wedged_engine_with_healthy_endpoints_gets_no_more_pages(tmp_path: Path) -> None:
    with (
        ScriptedVllm(Said("x", seconds=0.01)) as server,
        reading(server, first_token_s=2.0, tokens_per_s=100.0) as engine,
    ):
        assert engine.submit(page(tmp_path)).result(120).text == "x"
        server.feel(Mood.WEDGED)
        futures = submit(engine, pages(tmp_path, 3))
        until(lambda: "small picture was not read" in engine.waiting_for)
        # Connections of pages are closed, only the proof is out.
        until(lambda: server.open <= 1)
        server.feel(Mood.WELL)
        assert texts(futures) == ["x"] * 3


@pytest.mark.slow
def test_only_the_page_that_hangs_times_out_while_others_are_read(tmp_path: Path) -> None:
    requests = pages(tmp_path, 30)
    slow = requests[0].image.sha256

    def script(asked: Asked) -> Answer:
        return Hangs() if asked.images[0] == slow else Said("fine", seconds=0.2)

    soon = {"first_token_s": 1.0, "tokens_per_s": 2_000.0}
    with ScriptedVllm(script, slots=4) as server, reading(server, in_flight=4, **soon) as engine:
        futures = submit(engine, requests)
        with pytest.raises(PageFailed, match="deadline") as caught:
            futures[0].result(120)
        assert texts(futures[1:]) == ["fine"] * 29
        until(lambda: server.aborted == 1)
    assert caught.value.code is Code.OCR_TIMEOUT


def test_the_last_page_hanging_is_a_time_out_when_the_server_still_reads(tmp_path: Path) -> None:
    with (
        ScriptedVllm([Hangs()]) as server,
        reading(server, first_token_s=0.5, tokens_per_s=80_000.0) as engine,
    ):
        with pytest.raises(PageFailed, match="deadline"):
            engine.submit(page(tmp_path)).result(120)
        assert server.proofs >= 2


def test_deadlines_grow_with_the_tokens_that_are_wanted(tmp_path: Path) -> None:
    with (
        ScriptedVllm(Said("slow", tokens=99, seconds=1.5)) as server,
        reading(server, first_token_s=1.0, tokens_per_s=100.0) as engine,
    ):
        assert engine.submit(page(tmp_path)).result(120).text == "slow"


def test_a_connection_lost_while_the_server_lives_is_tried_again(tmp_path: Path) -> None:
    with ScriptedVllm([Drops(), server_error(), Said("third")]) as server, reading(server) as engine:
        assert engine.submit(page(tmp_path)).result(120).text == "third"
        assert server.deaths == 0


@pytest.mark.slow
def test_a_page_at_which_a_living_server_breaks_off_every_time_ends(tmp_path: Path) -> None:
    with ScriptedVllm(server_error("cache drift")) as server, reading(server) as engine:
        with pytest.raises(EngineUnavailable, match="broke off this page 4 times"):
            engine.submit(page(tmp_path)).result(120)
        assert len(server.entries) == 4


def test_a_full_server_is_asked_again_later_and_less(tmp_path: Path) -> None:
    # After a refusal vLLM takes the same picture for one that it has, and fails once more.
    script = [overloaded(), server_error("cache drift")]
    with ScriptedVllm(script, default=Said("room")) as server, reading(server) as engine:
        futures = submit(engine, pages(tmp_path, 10))
        assert texts(futures) == ["room"] * 10


def test_a_server_that_forgets_its_key_or_model_is_waited_for(tmp_path: Path) -> None:
    script = [Refused(404, "The model `glm-ocr` does not exist.", "NotFoundError", "model"), Said("back")]
    with ScriptedVllm(script) as server, reading(server) as engine:
        assert engine.submit(page(tmp_path)).result(120).text == "back"
        assert server.proofs >= 2, "it had to prove itself again"


@pytest.mark.slow
def test_open_requests_never_exceed_the_slots(tmp_path: Path) -> None:
    with ScriptedVllm(Said("x", seconds=0.01), slots=4) as server, reading(server, in_flight=6) as engine:
        assert texts(submit(engine, pages(tmp_path, 200))) == ["x"] * 200
        assert engine.slots == 6
        assert server.most_open <= 6


def test_a_cancelled_page_closes_its_connection_and_its_seat_is_free(tmp_path: Path) -> None:
    with ScriptedVllm(Said("x", seconds=60), slots=2) as server, reading(server, in_flight=2) as engine:
        futures = submit(engine, pages(tmp_path, 3))
        until(lambda: server.open == 2)
        # The one that waits first: it would be sent in the place of another.
        assert all(future.cancel() for future in reversed(futures))
        assert wait(futures, timeout=120).not_done == set()
        until(lambda: server.open == 0)
        assert server.aborted == len(server.entries) == 2


def test_closing_cancels_what_is_in_flight(tmp_path: Path) -> None:
    with ScriptedVllm(Said("x", seconds=60)) as server:
        with reading(server) as engine:
            futures = submit(engine, pages(tmp_path, 9))
            until(lambda: server.open >= 4)
        for future in futures:
            with pytest.raises(CancelledError):
                future.result(0)
        until(lambda: server.open == 0)


def test_it_does_not_break_when_it_is_used_after_closing(tmp_path: Path) -> None:
    with ScriptedVllm() as server, reading(server) as engine:
        engine.close()
        engine.close()
        with pytest.raises(CancelledError):
            engine.submit(page(tmp_path)).result(120)
