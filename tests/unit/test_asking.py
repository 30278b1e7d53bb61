"""Questions about pictures: the answer as it comes, the request as it goes, and what can go wrong."""

import json
import threading
from functools import partial
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path

import pytest
from PIL import Image

from models.engine import OcrRequest
from models.errors import ConfigurationError, EngineUnavailable, PageFailed
from models.geometry import Transform
from models.page import PageImage
from models.reading import FinishReason
from models.recipe import Recipe
from models.vlm import Task, Vlm
from tasks.work.asking import ask
from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm, bad_request
from tasks.work.serving.proof import prove
from tasks.work.serving.pulse import pulse
from tests.unit import vlms

MODEL = Model(name="tiny")
ANY = Task(prompt="{question}", parser="text", about="any question", max_images=3)


def talker() -> Vlm:
    return vlms.vlm(tasks={"question": ANY})


def request(folder: Path, count: int = 1, schema: str = "") -> OcrRequest:
    paths = [folder / f"{n}.png" for n in range(count)]
    for n, path in enumerate(paths):
        Image.new("RGB", (112 + 28 * n, 112), "white").save(path)
    image = PageImage("0" * 64, ".png", 112, 112, Transform.scale(1, 1), 0.1, is_blank=False)
    return OcrRequest(
        image, paths[0], 112, 112, Recipe(), question="How many?", schema=schema, others=tuple(paths[1:])
    )


def test_the_answer_is_heard_word_by_word_and_returned_as_a_whole(tmp_path: Path) -> None:
    heard: list[str] = []
    with ScriptedVllm(Said("Three bottles stand on the shelf."), model=MODEL) as server:
        reading = ask(server.url, talker(), request(tmp_path), heard.append)
    assert "".join(heard) == reading.text == "Three bottles stand on the shelf."
    assert len(heard) > 1
    assert reading.finish_reason is FinishReason.STOP
    assert reading.tokens_out
    assert reading.server == server.url


def test_all_pictures_and_the_question_are_sent_in_order(tmp_path: Path) -> None:
    with ScriptedVllm(Said("The left one."), model=MODEL) as server:
        ask(server.url, talker(), request(tmp_path, 3), lambda _: None)
        (entry,) = server.entries
    assert len(entry.asked.images) == 3
    assert len(set(entry.asked.images)) == 3
    assert entry.asked.prompt == "How many?"


def test_a_schema_becomes_structured_outputs(tmp_path: Path) -> None:
    schema = {"type": "object", "properties": {"count": {"type": "integer"}}}
    with ScriptedVllm(Said('{"count": 3}'), model=MODEL) as server:
        reading = ask(server.url, talker(), request(tmp_path, schema=json.dumps(schema)), lambda _: None)
        (entry,) = server.entries
    assert entry.asked.body["structured_outputs"]["json"] == schema
    assert "3" in reading.text


def test_another_server_is_told_the_schema_in_words_of_the_openai_api(tmp_path: Path) -> None:
    with ScriptedVllm(Said('{"count": 3}'), model=Model(name="tiny", version="")) as server:
        ask(server.url, talker(), request(tmp_path, schema='{"type": "object"}'), lambda _: None)
        (entry,) = server.entries
    assert entry.asked.body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert not {"structured_outputs", "repetition_detection", "top_k"} & set(entry.asked.body)


def test_proxies_of_the_environment_are_passed_by(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    with ScriptedVllm(Said("Three."), model=MODEL) as server:
        assert prove(server.url, talker()).holds
        assert pulse(server.url) is not None
        assert ask(server.url, talker(), request(tmp_path), lambda _: None).text == "Three."


def test_an_answer_that_is_cut_off_says_so(tmp_path: Path) -> None:
    with ScriptedVllm(Said("And so on", finish="length"), model=MODEL) as server:
        reading = ask(server.url, talker(), request(tmp_path), lambda _: None)
    assert reading.finish_reason is FinishReason.LENGTH


def test_a_server_that_is_away_is_told_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable, match="pagemill serve"):
        ask("http://127.0.0.1:1", talker(), request(tmp_path), lambda _: None)


def test_secrets_of_an_address_are_neither_told_nor_kept(tmp_path: Path) -> None:
    with pytest.raises(EngineUnavailable) as caught:
        ask("http://me:sesame@127.0.0.1:1", talker(), request(tmp_path), lambda _: None)
    assert "sesame" not in caught.value.message
    assert "127.0.0.1:1 does not answer (" in caught.value.message
    with ScriptedVllm(Said("x"), model=MODEL) as server:
        url = server.url.replace("//", "//me:sesame@")
        assert ask(url, talker(), request(tmp_path), lambda _: None).server == server.url


def test_a_place_that_is_no_server_for_models_is_told_from_a_wrong_name(tmp_path: Path) -> None:
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with HTTPServer(("127.0.0.1", 0), handler) as web:
        threading.Thread(target=web.serve_forever, daemon=True).start()
        with pytest.raises(ConfigurationError, match=r"does not speak the OpenAI API \(501\)"):
            ask(f"http://127.0.0.1:{web.server_port}", talker(), request(tmp_path), lambda _: None)
        web.shutdown()


def test_a_refusal_in_several_lines_is_told_in_one(tmp_path: Path) -> None:
    with (
        ScriptedVllm(bad_request("2 errors:\n  first\n  second"), model=MODEL) as server,
        pytest.raises(PageFailed, match=r"2 errors: first second$"),
    ):
        ask(server.url, talker(), request(tmp_path), lambda _: None)


def test_a_wrong_model_name_and_a_refused_picture_are_told_apart(tmp_path: Path) -> None:
    with (
        ScriptedVllm(Said("x"), model=Model(name="other")) as server,
        pytest.raises(ConfigurationError, match=r"does not serve 'tiny'.*--served-model-name tiny"),
    ):
        ask(server.url, talker(), request(tmp_path), lambda _: None)
    with (
        ScriptedVllm(bad_request("cannot identify image file"), model=MODEL) as server,
        pytest.raises(PageFailed, match="cannot identify"),
    ):
        ask(server.url, talker(), request(tmp_path), lambda _: None)
