"""The benchmarks of served models at toy size: load, sweep, ablation, and the round on a GPU."""

import argparse
import asyncio
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import httpx
import pytest
from PIL import Image

from bench import ablation, gpu, load, pipeline, result, served, sweep
from models.errors import ConfigurationError, EngineUnavailable
from models.profiles import get
from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm, overloaded
from tasks.work.serving.vllm import Installation
from tests.bench import toys


@pytest.fixture
def picture(tmp_path: Path) -> Path:
    path = tmp_path / "page.png"
    Image.new("RGB", (56, 56), "white").save(path)
    return path


def test_a_body_asks_for_just_so_many_tokens_or_at_most_so_many(picture: Path) -> None:
    exact = json.loads(load.body(picture, toys.vlm(), 40))
    free = json.loads(load.body(picture, toys.vlm(), 40, exact=False))
    assert (exact["max_tokens"], exact["min_tokens"], exact["ignore_eos"]) == (40, 40, True)
    assert free["max_tokens"] == 40
    assert "min_tokens" not in free


@pytest.mark.parametrize(("suffix", "kind"), [(".png", "png"), (".webp", "webp"), (".jpg", "jpeg")])
def test_a_picture_is_sent_under_its_own_type(tmp_path: Path, suffix: str, kind: str) -> None:
    path = tmp_path / f"page{suffix}"
    Image.new("RGB", (56, 56)).save(path)
    (image, text) = json.loads(load.body(path, toys.vlm(), 40))["messages"][0]["content"]
    assert image["image_url"]["url"].startswith(f"data:image/{kind};base64,")
    assert text["text"] == toys.vlm().task("").prompt


def test_a_volley_sends_every_body_and_never_more_at_once_than_wished(picture: Path) -> None:
    body = load.body(picture, toys.vlm(), 40)
    with ScriptedVllm(Said("A page.", tokens=5, seconds=0.02)) as server:
        volley = load.fire(server.url, [body] * 6, 2)
        assert (len(server.entries), server.most_open) == (6, 2)
    row = volley.row()
    assert (row["in_flight"], row["pages"], row["failed"]) == (2, 6, 0)
    assert [shot.tokens_out for shot in volley.shots] == [5] * 6
    assert 0.02 <= row["p50_s"] <= row["p95_s"] <= row["p99_s"]


def test_servers_side_by_side_share_what_is_in_flight(picture: Path) -> None:
    body = load.body(picture, toys.vlm(), 40)
    with (
        ScriptedVllm(Said("A page.", seconds=0.02)) as one,
        ScriptedVllm(Said("A page.", seconds=0.02)) as two,
    ):
        volley = load.fire(f"{one.url},{two.url}", [body] * 8, 4)
        assert (volley.failed, len(one.entries) + len(two.entries)) == (0, 8)
        assert max(one.most_open, two.most_open) <= 2


def test_a_sweep_sends_pages_that_the_server_has_not_seen_while_there_are_some(
    picture: Path,
) -> None:
    bodies = [load.body(picture, toys.vlm(), tokens) for tokens in range(40, 60)]
    with ScriptedVllm(Said("A page.")) as server:
        rows = list(sweep.sweep(server.url, bodies, [1, 2, 8]))
        sent = [entry.asked.max_tokens for entry in server.entries]
    assert [(row["pages"], row["seen_before"]) for row in rows] == [(8, 0), (8, 0), (20, 16)]
    assert sorted(sent[:8]) == list(range(52, 60)), "the server is warmed up with what comes last"
    assert sorted(sent[8:24]) == list(range(40, 56))


def test_requests_without_an_answer_are_counted_and_cost_no_latency(picture: Path) -> None:
    body = load.body(picture, toys.vlm(), 40)
    with ScriptedVllm([Said("A page.", tokens=5), overloaded()]) as server:
        volley = load.fire(server.url, [body, body], 1)
    assert volley.failed == 1
    assert volley.shots[1].error == "HTTP 503"
    assert volley.latency(50) == volley.shots[0].seconds


NO_CHOICE = '{"usage": {"prompt_tokens": 1, "completion_tokens": 1}, "choices": []}'


@pytest.mark.parametrize("told", ["", "[]", "{}", '{"usage": null}', NO_CHOICE])
def test_an_answer_without_tokens_or_text_is_none(told: str) -> None:
    answer = httpx.Response(200, text=told)

    async def shoot() -> load.Shot:
        async with httpx.AsyncClient(transport=httpx.MockTransport(lambda _: answer)) as client:
            return await load._shoot(client, "http://server", b"{}")

    assert "OpenAI" in asyncio.run(shoot()).error


def test_the_key_is_sent_where_there_is_one(picture: Path) -> None:
    body = load.body(picture, toys.vlm(), 40)
    with ScriptedVllm(Said("A page."), model=Model(api_key="sesame")) as server:
        with pytest.raises(EngineUnavailable, match="HTTP 401"):
            load.fire(server.url, [body], 1)
        assert load.fire(server.url, [body], 1, "sesame").failed == 0


def test_a_sweep_has_a_row_for_each_number_in_flight(server: ScriptedVllm, picture: Path) -> None:
    rows = list(sweep.sweep(server.url, [load.body(picture, toys.vlm(), 40)] * 12, [1, 2]))
    assert [(row["in_flight"], row["pages"]) for row in rows] == [(1, 8), (2, 4)]


def test_a_sweep_from_documents_to_a_saved_result(
    server: ScriptedVllm, in_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = ["glm-ocr", str(toys.TYPED), "--url", server.url, "--in-flight", "2", "--pages", "2"]
    monkeypatch.setattr(
        sys, "argv", ["sweep", *typed, "--tokens", "32", "--jobs", "1", "--out", str(tmp_path)]
    )
    sweep.main()
    saved = result.load(tmp_path / "sweep.json")
    assert (saved.rows[0]["in_flight"], saved.rows[0]["failed"]) == (2, 0)
    assert (saved.facts["profile"], saved.facts["tokens"]) == ("glm-ocr", 32)
    assert (saved.facts["vllm"], saved.facts["model"]) == ("0.32.0", "glm-ocr")
    assert (saved.facts["documents"], saved.facts["files"]) == (toys.TYPED.name, 1)
    assert "complete" not in saved.facts


def test_plain_transformers_stand_beside_as_many_requests_at_once_as_far_as_they_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = tmp_path / "python"
    row = '{"batch": 1, "pages_per_s": 0.5}'
    python.write_text(f"#!/bin/sh\necho '{row}'\necho \"$@\" > {tmp_path}/asked\necho no room >&2\nexit 1\n")
    python.chmod(0o755)
    monkeypatch.setattr(sweep.vllm, "find", lambda _: Installation(python, "0.25.1"))
    wish = toys.wish("--model", "/weights", "--in-flight", "1,2", "--flag=--load-format=dummy")
    plain = sweep.plain_rows(wish, [Path("a.jpg"), Path("b.jpg"), Path("c.jpg")])
    asked = (tmp_path / "asked").read_text()
    assert "plain.py /weights a.jpg b.jpg --tokens 32 --batches 1,2 --rounds 1 --random" in asked
    assert "Transformers ended with 1 (no room)" in capsys.readouterr().err
    one, two = sweep.beside([{"in_flight": n, "pages_per_s": 2.0 * n} for n in (1, 2)], plain)
    assert (one["plain_pages_per_s"], one["times_plain"]) == (0.5, 4.0)
    assert two == {"in_flight": 2, "pages_per_s": 4.0}


def test_a_server_that_goes_away_ends_a_sweep_and_what_was_measured_is_kept(picture: Path) -> None:
    body = load.body(picture, toys.vlm(), 40)
    with ScriptedVllm(Said("A page.")) as server:
        rows = sweep.sweep(server.url, [body] * 8, [1, 2])
        kept = [next(rows)]
    with pytest.raises(EngineUnavailable, match="ConnectError"):
        kept += rows
    assert [row["failed"] for row in kept] == [0]


def test_a_server_that_answers_nothing_ends_a_benchmark_with_the_reason(picture: Path) -> None:
    body = load.body(picture, toys.vlm(), 40)
    with pytest.raises(EngineUnavailable, match="ConnectError"):
        load.check("http://127.0.0.1:1", [body])
    with ScriptedVllm(Said("A page."), model=Model(api_key="sesame")) as server:
        with pytest.raises(EngineUnavailable, match="HTTP 401"):
            load.check(server.url, [body])
        load.check(server.url, [body], "sesame")


def test_a_profile_without_a_server_cannot_be_measured_on_one() -> None:
    with pytest.raises(ConfigurationError, match="ppocr is read on the CPU"):
        served.vlm_of(get("ppocr"))


@pytest.mark.parametrize("typed", ["", "0,4", "four", "1,,4"])
def test_numbers_in_flight_are_numbers_from_1(typed: str) -> None:
    assert sweep.numbers("1,4,16") == [1, 4, 16]
    with pytest.raises(ConfigurationError, match="--in-flight takes numbers"):
        sweep.numbers(typed)


def test_what_a_volley_without_answers_is_measured_at_stays_finite() -> None:
    row = load.Volley(1, 2.0, (load.Shot(0.1, error="HTTP 500"),)).row()
    assert (row["failed"], row["pages_per_s"], row["p95_s"]) == (1, 0, 0)


@pytest.mark.parametrize(
    ("bench", "option"), [(pipeline, "--pages"), (pipeline, "--bare"), (ablation, "--in-flight")]
)
def test_a_benchmark_offers_no_option_that_it_does_not_look_at(
    bench: ModuleType, option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["bench", "glm-ocr", "folder", option, "7"])
    with pytest.raises(SystemExit):
        bench.main()
    assert f"unrecognized arguments: {option}" in capsys.readouterr().err


@pytest.mark.slow
def test_prepared_pictures_are_repeated_up_to_the_wish_and_sized_as_asked(
    in_process: None, tmp_path: Path
) -> None:
    full, small, least = (
        sweep.prepared(toys.GLM, toys.wish("--pages", "3", *asked), tmp_path)
        for asked in (("--resolution", "max"), ("--resolution", "legible"), ("--recipe", "x_height_px=7"))
    )
    assert len(full) == len(small) == len(least) == 3
    assert full[0].width_px > small[0].width_px > least[0].width_px


@pytest.mark.slow
def test_each_step_of_the_tuning_is_measured_on_as_few_servers_as_can_be(
    planned: list[dict[str, Any]], in_process: None, tmp_path: Path
) -> None:
    rows = ablation.with_gain(list(ablation.measure(toys.GLM, toys.wish("--pages", "1"), tmp_path)))
    assert [row["step"] for row in rows] == [step.name for step in ablation.STEPS]
    assert rows[0]["of_first"] == 1
    assert all(row["failed"] == 0 for row in rows)
    assert [one["is_bare"] for one in planned] == [True, True, True, False]
    assert "6144" in planned[2]["extra"]
    assert planned[3]["extra"] == []


@pytest.mark.slow
def test_a_step_without_care_sends_the_picture_as_png_at_full_size(
    server: ScriptedVllm, in_process: None, tmp_path: Path
) -> None:
    careless, careful = ablation.STEPS[:2]
    for step in (careless, careful):
        ablation._row(step, toys.GLM, toys.wish("--pages", "1"), server.url, tmp_path)
    sent = {path.suffix: path for path in (tmp_path / "store").rglob("*") if path.is_file()}
    with Image.open(sent[".png"]) as png, Image.open(sent[".jpg"]) as jpeg:
        assert max(png.size) > 1024 >= min(jpeg.size)
    assert {entry.asked.prompt for entry in server.entries} == {toys.vlm().task("").prompt}


def test_gains_are_shares_of_the_first_step() -> None:
    rows = ablation.with_gain([{"s_per_page": 4.0}, {"s_per_page": 1.0}])
    assert [row["of_first"] for row in rows] == [1.0, 0.25]


def gpu_wish(out: Path) -> argparse.Namespace:
    return argparse.Namespace(
        documents=[toys.TYPED], glm="/weights", qwen="/weights", python=None, random=True,
        pages=1, tokens=32, jobs=1, in_flight="1,2", recipe=["x_height_px=8"], flag=["--seed=1"],
        out=out,
    )  # fmt: skip


def test_the_round_on_a_gpu_holds_the_profile_s_flags_against_the_defaults(
    planned: list[dict[str, Any]], in_process: None, tmp_path: Path
) -> None:
    gpu.flags(gpu_wish(tmp_path / "out"), tmp_path)
    assert [plan["is_bare"] for plan in planned] == [True, False]
    assert tuple(planned[1]["options"]) == ("h200", "fused")
    assert {tuple(plan["extra"]) for plan in planned} == {("--load-format", "dummy", "--seed=1")}
    for name in ("gpu-default", "gpu-tuned"):
        saved = result.load(tmp_path / "out" / f"{name}.json")
        assert [row["in_flight"] for row in saved.rows] == [1, 2]


def test_plain_transformers_run_the_models_that_there_are(
    in_process: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        asked.append(command)
        return subprocess.CompletedProcess(command, 0, '{"batch": 1, "pages_per_s": 2.0}\n')

    monkeypatch.setattr(subprocess, "run", run)
    wish = gpu_wish(tmp_path / "out")
    wish.glm = ""
    gpu.plain(wish, tmp_path)
    assert [command[2] for command in asked] == ["/weights"]
    saved = result.load(tmp_path / "out" / "gpu-transformers-ostrakon.json")
    assert saved.rows == ({"batch": 1, "pages_per_s": 2.0},)


def test_a_row_of_the_round_names_the_size_of_its_pictures(
    server: ScriptedVllm, picture: Path, tmp_path: Path
) -> None:
    row = gpu._size_row(server.url, toys.vlm(), "legible", [picture] * 2, gpu_wish(tmp_path))
    assert (row["resolution"], row["pages"], row["failed"]) == ("legible", 2, 0)
