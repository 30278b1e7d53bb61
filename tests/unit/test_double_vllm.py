"""The scripted server answers as it was told, in vLLM's words."""

import base64
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from typing import Any

import httpx
import pytest

from models.vlm import Pixels
from tasks.work.doubles.vllm_server import (
    Asked,
    Drops,
    Hangs,
    Kills,
    Model,
    Mood,
    Refused,
    Said,
    ScriptedVllm,
    bad_request,
    overloaded,
    server_error,
)
from tests import factories

GRID = Pixels(patch_px=14, min_pixels=12_544, max_pixels=1_000_000)
PNG = factories.picture_bytes(factories.picture(size=(560, 280)))
OTHER = factories.picture_bytes(factories.picture("Another", size=(560, 280)))


def body(picture: bytes = PNG, **options: Any) -> dict[str, Any]:
    url = "data:image/png;base64," + base64.b64encode(picture).decode()
    content = [
        {"type": "image_url", "image_url": {"url": url}},
        {"type": "text", "text": "Text Recognition:"},
    ]
    return {"model": "glm-ocr", "messages": [{"role": "user", "content": content}]} | options


def ask(
    server: ScriptedVllm, picture: bytes = PNG, timeout_s: float = 20.0, **options: Any
) -> httpx.Response:
    # Certificates are not needed here, and loading them takes longer than the request.
    url = f"{server.url}/v1/chat/completions"
    return httpx.post(url, json=body(picture, **options), timeout=timeout_s, verify=False)


def said(answer: httpx.Response) -> str:
    text: str = answer.json()["choices"][0]["message"]["content"]
    return text


def metric(server: ScriptedVllm, name: str) -> float:
    text = httpx.get(f"{server.url}/metrics").text
    return sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name))


def until(holds: Any, seconds: float = 3.0) -> None:
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "it did not come to pass"
        time.sleep(0.01)


def test_a_sequence_is_answered_in_order_and_then_by_default() -> None:
    with ScriptedVllm([Said("one"), Said("two")], default=Said("more")) as server:
        assert [said(ask(server)) for _ in range(4)] == ["one", "two", "more", "more"]
        assert [entry.asked.number for entry in server.entries] == [1, 2, 3, 4]


def test_pictures_are_answered_by_their_content() -> None:
    script = {sha256(PNG).hexdigest(): [server_error(), Said("second try")]}
    with ScriptedVllm(script, default=Said("other")) as server:
        assert ask(server).status_code == 500
        assert said(ask(server, OTHER)) == "other"
        assert said(ask(server)) == said(ask(server)) == "second try"


def test_a_function_answers_what_it_likes() -> None:
    def script(asked: Asked) -> Said:
        return Said(f"{asked.prompt} {asked.body['temperature']} {len(asked.images)}")

    with ScriptedVllm(script) as server:
        assert said(ask(server, temperature=0.3)) == "Text Recognition: 0.3 1"


def test_a_reply_has_usage_finish_reason_and_log_probabilities_where_asked() -> None:
    with ScriptedVllm(Said("12345678", logprob=-0.5), model=Model(pixels=GRID)) as server:
        plain, rich = ask(server).json(), ask(server, logprobs=True).json()
    assert plain["usage"] == {"prompt_tokens": 212, "total_tokens": 214, "completion_tokens": 2}
    assert (plain["choices"][0]["finish_reason"], plain["choices"][0]["logprobs"]) == ("stop", None)
    assert [one["logprob"] for one in rich["choices"][0]["logprobs"]["content"]] == [-0.5, -0.5]


def test_a_reply_longer_than_asked_for_is_cut() -> None:
    with ScriptedVllm(Said("word" * 100)) as server:
        answer = ask(server, max_tokens=30).json()
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 30


def test_a_loop_that_the_server_stopped_says_so() -> None:
    with ScriptedVllm(Said("row " * 90, finish="repetition")) as server:
        choice = ask(server).json()["choices"][0]
        assert metric(server, 'vllm:request_success_total{engine="0",model_name="glm-ocr",finished') == 1
    assert (choice["finish_reason"], choice["stop_reason"]) == ("repetition", "repetition_detected")


def test_a_stream_ends_with_finish_reason_usage_and_done() -> None:
    with ScriptedVllm(Said("a text of more than sixteen characters")) as server:
        answer = ask(server, stream=True, stream_options={"include_usage": True})
    events = [line.removeprefix("data: ") for line in answer.text.splitlines() if line]
    assert events[-1] == "[DONE]"
    assert '"usage":{' in events[-2]
    assert '"finish_reason":"stop"' in events[-3]


@pytest.mark.parametrize(
    ("options", "status", "kind", "told"),
    [
        ({"model": "gpt"}, 404, "NotFoundError", "The model `gpt` does not exist."),
        ({"max_tokens": 17_000}, 400, "BadRequestError", "maximum context length is 16384"),
        ({"priority": 5}, 400, "BadRequestError", "Priority scheduling is not enabled"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            400,
            "BadRequestError",
            "image",
        ),
    ],
)
def test_faulty_requests_are_refused_as_vllm_does(
    options: dict[str, Any], status: int, kind: str, told: str
) -> None:
    with ScriptedVllm() as server:
        answer = ask(server, **options)
    assert (answer.status_code, answer.json()["error"]["type"]) == (status, kind)
    assert told in answer.json()["error"]["message"]


def test_pictures_are_measured_by_the_models_grid() -> None:
    small = Model(pixels=GRID, context=2048, encoder_tokens=199)
    with ScriptedVllm(model=small) as server:
        assert "image item with length 200" in ask(server).json()["error"]["message"]
        assert ask(server, b"no picture").status_code == 400
    with ScriptedVllm(model=Model(pixels=GRID, context=100)) as server:
        assert ask(server).json()["error"]["param"] == "input_tokens"


def test_a_key_guards_v1_and_nothing_else() -> None:
    with ScriptedVllm(model=Model(api_key="secret")) as server:
        assert ask(server).json() == {"error": "Unauthorized"}
        assert httpx.get(f"{server.url}/v1/models").status_code == 401
        assert [httpx.get(f"{server.url}/{path}").status_code for path in ("health", "metrics")] == [200, 200]
        keyed = httpx.get(f"{server.url}/v1/models", headers={"Authorization": "Bearer secret"}).json()
    assert (keyed["data"][0]["id"], keyed["data"][0]["max_model_len"]) == ("glm-ocr", 16_384)


def test_scripted_refusals_have_their_status_and_no_retry_after() -> None:
    with ScriptedVllm([bad_request("torn", "x"), overloaded(), Refused(418, "tea")]) as server:
        answers = [ask(server) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [400, 503, 418]
    assert "retry-after" not in answers[1].headers


@pytest.mark.slow
def test_requests_beyond_the_seats_wait_and_are_counted() -> None:
    with ScriptedVllm(Said("x", seconds=1.0), slots=2) as server, ThreadPoolExecutor(5) as threads:
        answers = [threads.submit(ask, server) for _ in range(5)]
        until(lambda: server.open == 5)
        assert metric(server, "vllm:num_requests_running") == 2
        assert metric(server, "vllm:num_requests_waiting") == 3
        assert [answer.result().status_code for answer in answers] == [200] * 5
        assert server.most_open == 5
        assert metric(server, "vllm:request_queue_time_seconds_sum") > 0.5


@pytest.mark.slow
def test_a_full_queue_refuses() -> None:
    with ScriptedVllm(Said("x", seconds=1.5), slots=1, model=Model(queue=1)) as server:
        thread = threading.Thread(target=ask, args=(server,))
        thread.start()
        until(lambda: server.open == 1)
        assert ask(server).status_code == 503
        assert metric(server, "vllm:admission_rejections_total") == 1
        thread.join()


@pytest.mark.slow
@pytest.mark.parametrize("stream", [False, True])
def test_a_client_that_goes_away_frees_its_seat(stream: bool) -> None:
    with ScriptedVllm([Said("slow" * 40, seconds=30)]) as server:
        with pytest.raises(httpx.ReadTimeout):
            ask(server, timeout_s=0.3, stream=stream)
        until(lambda: server.aborted == 1)
        assert server.open == 0


@pytest.mark.slow
def test_a_hanging_request_holds_its_seat() -> None:
    with ScriptedVllm([Hangs()], slots=1) as server:
        with pytest.raises(httpx.ReadTimeout):
            ask(server, timeout_s=0.3)
        assert said(ask(server)) == "Words on paper"


def test_a_dropped_connection_leaves_the_server_alive() -> None:
    with ScriptedVllm([Drops()]) as server:
        with pytest.raises(httpx.RemoteProtocolError):
            ask(server)
        assert said(ask(server)) == "Words on paper"
        assert server.deaths == 0


@pytest.mark.slow
def test_a_killing_request_takes_the_server_down_for_a_while() -> None:
    with ScriptedVllm([Kills(0.3)]) as server:
        started = metric(server, "process_start_time_seconds")
        with pytest.raises((httpx.RemoteProtocolError, httpx.ReadError)):
            ask(server)
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/health")
        time.sleep(0.6)
        assert said(ask(server)) == "Words on paper"
        assert metric(server, "process_start_time_seconds") > started


@pytest.mark.slow
def test_a_wedged_engine_looks_healthy_and_never_answers() -> None:
    with ScriptedVllm() as server:
        server.feel(Mood.WEDGED)
        with pytest.raises(httpx.ReadTimeout):
            ask(server, timeout_s=0.3)
        assert httpx.get(f"{server.url}/health").status_code == 200
        server.feel(Mood.WELL)
        assert said(ask(server)) == "Words on paper"


def test_a_dead_engine_fails_what_is_in_flight_and_health() -> None:
    with ScriptedVllm([Hangs()]) as server, ThreadPoolExecutor(1) as threads:
        waiting = threads.submit(ask, server)
        until(lambda: server.open == 1)
        server.feel(Mood.DEAD)
        assert "EngineCore" in waiting.result().json()["error"]["message"]
        assert httpx.get(f"{server.url}/health").status_code == 503


@pytest.mark.slow
def test_a_server_may_be_late() -> None:
    with ScriptedVllm(down_s=0.3) as server:
        with pytest.raises(httpx.ConnectError):
            httpx.get(f"{server.url}/health")
        time.sleep(0.6)
        assert httpx.get(f"{server.url}/version").json() == {"version": "0.32.0"}


def test_proofs_of_life_are_answered_outside_the_script() -> None:
    with ScriptedVllm([Said("one")]) as server:
        assert said(ask(server, max_tokens=16)) == "PAGEMILL 42"
        assert said(ask(server, max_tokens=17)) == "one"
        assert (server.proofs, len(server.entries)) == (1, 1)


@pytest.mark.slow
def test_urgent_requests_are_seated_first() -> None:
    model = Model(has_priorities=True)
    with (
        ScriptedVllm([Said("x", seconds=1.5)], slots=1, model=model) as server,
        ThreadPoolExecutor(3) as threads,
    ):
        threads.submit(ask, server)
        until(lambda: server.open == 1)
        threads.submit(ask, server, priority=10)
        until(lambda: server.open == 2)
        threads.submit(ask, server, priority=1)
        until(lambda: all(entry.ended for entry in server.entries) and len(server.entries) == 3)
        seated = sorted(server.entries, key=lambda entry: entry.seated)
    assert [entry.asked.body.get("priority") for entry in seated] == [None, 1, 10]
