"""Profiles of served models: tokens before sending, prompts, flags, ladders, terms."""

import hashlib
import json
import math
import re
import shlex

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.profile import Profile
from models.profiles import PROFILES, chandra_prompts, get
from models.profiles.ostrakon_tasks import TASKS
from models.vlm import Pixels, Vlm
from tasks.work.checks import CHECKS
from tasks.work.ladder import REFUSED
from tasks.work.parsers import PARSERS
from tasks.work.parsers.flow import UNPARSABLE
from tasks.work.sizing import choose, on_grid

SERVED = sorted(name for name, profile in PROFILES.items() if profile.vlm)


def served(name: str) -> Vlm:
    vlm = get(name).vlm
    assert vlm is not None
    return vlm


def test_the_models_of_the_gpu_are_these() -> None:
    assert SERVED == ["chandra", "chandra-2", "glm-ocr", "ostrakon"]


@pytest.mark.parametrize("name", ["chandra", "chandra-2", "glm-ocr"])
def test_models_of_documents_get_scans_upright(name: str) -> None:
    assert get(name).recipe().orient
    assert not get(name).recipe().with_options(["orient=false"]).orient


@pytest.mark.parametrize(
    ("size", "tokens"), [((1632, 2112), 3_366), ((3072, 2048), 6_144), ((1588, 2246), 3_500)]
)
def test_chandra_s_tokens_are_known_before_sending(size: tuple[int, int], tokens: int) -> None:
    """Letter and A4 at 192 dpi and the largest picture."""
    assert served("chandra-2").pixels.tokens(*size) == tokens


@pytest.mark.parametrize(("size", "seen"), [((1240, 1754), 2_027), ((620, 877), 695)])
def test_glm_ocr_s_tokens_are_those_that_a_server_counted(size: tuple[int, int], seen: int) -> None:
    """Prompt tokens that vLLM 0.25.1 told, 13 of them text, limited to 4,096 x 28 x 28 for two frames."""
    limited = served("glm-ocr").pixels.model_copy(update={"max_pixels": 4_096 * 28 * 28 // 2})
    assert limited.tokens(*size) == seen - 13


def test_a_full_page_of_glm_ocr_has_these_tokens() -> None:
    assert served("glm-ocr").pixels.tokens(1240, 1754) == 44 * 63
    assert served("glm-ocr").pixels.tokens(1654, 2339) == 59 * 84


@given(
    width=st.integers(1, 12_000),
    height=st.integers(1, 12_000),
    name=st.sampled_from(SERVED),
)
def test_a_picture_becomes_whole_cells_within_the_limits(width: int, height: int, name: str) -> None:
    pixels = served(name).pixels
    fitted = pixels.fitted(width, height)
    assert all(side % pixels.grid_px == 0 and side > 0 for side in fitted)
    longest = max(width, height) / min(width, height)
    if longest < 100:
        assert math.prod(fitted) <= pixels.max_pixels
    assert pixels.tokens(*fitted) == pixels.tokens(width, height)


@pytest.mark.parametrize("name", SERVED)
@pytest.mark.parametrize("page", [(595, 842), (612, 792), (842, 1191), (200, 900), (2384, 3370), (300, 300)])
def test_page_images_are_made_so_that_the_server_leaves_them_alone(name: str, page: tuple[int, int]) -> None:
    profile, pixels = get(name), served(name).pixels
    recipe = profile.recipe()
    for x_height in (None, 2.0, 8.0):
        size = on_grid(*page, choose(*page, recipe, 10.0, x_height).scale, recipe)
        assert pixels.fitted(*size) == size


@pytest.mark.parametrize("name", SERVED)
def test_the_largest_picture_leaves_room_for_the_whole_reply(name: str) -> None:
    vlm = served(name)
    most = max(task.max_images for task in vlm.tasks.values())
    tokens = most * vlm.pixels.max_pixels // vlm.pixels.grid_px**2
    assert vlm.context - vlm.prompt_tokens - tokens >= vlm.sampling.max_tokens
    assert get(name).grid_px == vlm.pixels.grid_px
    assert get(name).max_pixels <= vlm.pixels.max_pixels


@pytest.mark.parametrize("name", SERVED)
def test_the_first_try_is_cold_and_without_a_penalty(name: str) -> None:
    sampling = served(name).sampling
    assert (sampling.temperature, sampling.repetition_penalty) == (0, None)
    assert "<|endoftext|>" in sampling.stop
    assert sampling.repetition_detection is not None


def test_chandra_2_is_told_where_a_turn_ends() -> None:
    assert set(served("chandra-2").sampling.stop) == {"<|im_end|>", "<|endoftext|>"}


@pytest.mark.parametrize("name", SERVED)
def test_every_task_has_a_parser_and_says_what_it_is_for(name: str) -> None:
    vlm = served(name)
    assert all(task.parser in PARSERS and task.about for task in vlm.tasks.values())
    assert vlm.task("") is next(iter(vlm.tasks.values()))
    assert (vlm.box_scale > 0) is ("chandra" in name)


@pytest.mark.parametrize(
    ("prompt", "digest"),
    [
        (chandra_prompts.LAYOUT_1, "3cdbeed4e2b12e40"),
        (chandra_prompts.PLAIN_1, "f12a69225d90832f"),
        (chandra_prompts.LAYOUT_2, "025935f3e1de1acd"),
        (chandra_prompts.PLAIN_2, "5bddc652e7f39d5c"),
    ],
)
def test_chandra_s_prompts_are_those_it_was_trained_on_to_the_letter(prompt: str, digest: str) -> None:
    """Digests of the prompts of chandra-ocr 0.1.8 and 0.2.0."""
    assert hashlib.sha256(prompt.encode()).hexdigest()[:16] == digest


def test_glm_ocr_s_prompts_are_exact() -> None:
    tasks = served("glm-ocr").tasks
    assert [tasks[name].prompt for name in ("text", "table", "formula")] == [
        "Text Recognition:",
        "Table Recognition:",
        "Formula Recognition:",
    ]
    assert tasks["extract"].prompt.startswith("请按下列JSON格式输出图中信息:\n")


def test_ostrakon_s_tasks_come_in_english_and_chinese_with_the_same_schema() -> None:
    for name, task in TASKS.items():
        if name != "question":
            assert task.schema_ == TASKS[f"{name.removesuffix('-zh')}-zh"].schema_
            jsonschema.Draft202012Validator.check_schema(task.schema_)
        assert bool(re.search("[\u4e00-\u9fff]", task.prompt)) is name.endswith("-zh")
    assert TASKS["compare"].max_images >= 2


@pytest.mark.parametrize("name", SERVED)
def test_every_flag_says_why_and_can_be_typed(name: str) -> None:
    for flag in served(name).flags:
        words = shlex.split(flag.flag)
        assert len(flag.about) > 15
        assert words[0].startswith("--")
        assert bool(flag.option) is (flag.state == "option")
        for word in words:
            if word.startswith("{"):
                json.loads(word)


@pytest.mark.parametrize("name", SERVED)
def test_no_flag_is_always_given_twice_and_none_that_breaks_is_given(name: str) -> None:
    flags = served(name).flags
    given = [shlex.split(flag.flag)[0] for flag in flags if flag.state == "on"]
    assert len(given) == len(set(given))
    assert not {flag.flag for flag in flags if flag.state != "breaks"} & {
        flag.flag for flag in flags if flag.state == "breaks"
    }
    assert {"fp8", "awq", "gptq"} <= {flag.option for flag in flags}


def test_draft_models_and_prefix_caching_are_off() -> None:
    for name in SERVED:
        states = {flag.flag: flag.state for flag in served(name).flags}
        assert all(state != "on" for flag, state in states.items() if "speculative" in flag)
        assert states["--no-enable-prefix-caching"] == "on"
        assert states["--mm-processor-cache-gb 0"] == "on"
    assert "mtp" in {flag.option for flag in served("glm-ocr").flags}


@pytest.mark.parametrize("name", SERVED)
def test_a_picture_fits_into_one_step_of_the_server(name: str) -> None:
    vlm = served(name)
    flag = next(flag.flag for flag in vlm.flags if flag.flag.startswith("--max-num-batched-tokens"))
    assert int(flag.split()[1]) >= vlm.pixels.max_pixels // vlm.pixels.grid_px**2


@pytest.mark.parametrize("name", SERVED)
def test_ladders_name_what_there_is(name: str) -> None:
    profile: Profile = get(name)
    known = {check.code for check in CHECKS} | REFUSED | {UNPARSABLE}
    for rung in profile.ladder:
        assert set(rung.when) <= known
        assert rung.kind != "profile" or rung.profile in PROFILES
        assert set(rung.sampling) <= {"temperature", "top_p", "repetition_penalty", "max_tokens"}
    assert profile.ladder_limits.tokens >= 2 * served(name).sampling.max_tokens


def test_only_chandra_has_terms_and_they_name_what_matters() -> None:
    assert [name for name in SERVED if served(name).consent] == ["chandra", "chandra-2"]
    for word in ("$2M", "OpenRAIL-M", "compete", "output", "MODEL_LICENSE"):
        assert word in served("chandra").consent


@pytest.mark.parametrize("name", SERVED)
def test_every_model_says_what_it_was_seen_with(name: str) -> None:
    vlm = served(name)
    assert "vLLM" in vlm.checked_with
    assert vlm.least_vllm.count(".") == 2
    assert vlm.weights.count("/") == 1


def test_a_grid_is_a_patch_times_what_is_merged() -> None:
    assert Pixels(patch_px=14, merge=2, min_pixels=1, max_pixels=10_000).grid_px == 28
