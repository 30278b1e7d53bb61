"""What `serve` and `ask` refuse, and in which words."""

from pathlib import Path
from typing import Any

import pytest

from cli.asking import Question, ask_and_show, split_words
from cli.serving import Wish, plan_of
from models.errors import PagemillError
from models.settings import Settings, load_settings
from tests.e2e.test_ask_and_serve import machine


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in machine(tmp_path).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("PAGEMILL_OCR_API_KEY", raising=False)
    return load_settings(home=tmp_path)


def plan(settings: Settings, **changes: Any) -> Any:
    about: dict[str, Any] = {"profile": "glm-ocr", "model": str(settings.root / "weights")}
    return plan_of(settings, Wish(**about | changes))


def test_a_plan_takes_all_gpus_unless_told_otherwise(settings: Settings) -> None:
    assert plan(settings).gpus == (0,)
    assert plan(settings, gpus="none").gpus == ()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"gpus": "7"}, "no GPU 7"),
        ({"gpus": "x"}, "numbers split by commas"),
        ({"options": ("warp",)}, "has no option 'warp'"),
        ({"host": "0.0.0.0"}, "PAGEMILL_OCR_API_KEY"),
        ({"model": "/nowhere"}, "no folder /nowhere"),
        ({"profile": "ppocr"}, "needs no server"),
        ({"profile": "nope"}, "no profile 'nope'"),
    ],
)
def test_what_cannot_be_served_is_told_in_a_sentence(
    settings: Settings, changes: dict[str, Any], said: str
) -> None:
    with pytest.raises(PagemillError) as caught:
        plan(settings, **changes)
    assert said in caught.value.message


def test_weights_that_are_not_here_are_told_by_the_name_that_was_asked_for(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(settings.root / "cache"))
    for model, name in ((None, "zai-org/GLM-OCR"), ("someone/else", "someone/else")):
        with pytest.raises(PagemillError, match=f"weights of {name} are not on this machine.*--download"):
            plan(settings, model=model)
        assert plan(settings, model=model, may_download=True).model == name
    (settings.root / "cache" / "models--someone--else" / "snapshots" / "abc").mkdir(parents=True)
    (settings.root / "cache" / "models--someone--else" / "snapshots" / "abc" / "config.json").touch()
    assert plan(settings, model="someone/else").model == "someone/else"


def test_a_profile_without_weights_is_told_where_to_name_them(settings: Settings) -> None:
    (settings.root / "profiles").mkdir()
    (settings.root / "profiles" / "mine.toml").write_text(
        '[vlm.tasks.text]\nprompt = "Read."\nparser = "text"\nabout = "all text"\n'
    )
    with pytest.raises(PagemillError, match=r"where its weights are: .*--model, or set vlm\.weights"):
        plan(settings, profile="mine", model=None)


@pytest.mark.parametrize(("vllm", "said"), [("0.6.0", "needs vLLM"), ("", "has no vLLM")])
def test_an_old_or_missing_vllm_is_told_with_the_remedy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, vllm: str, said: str
) -> None:
    for name, value in machine(tmp_path, vllm=vllm).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(PagemillError) as caught:
        plan(load_settings(home=tmp_path))
    assert said in caught.value.message
    assert "PAGEMILL_VLLM_PYTHON" in caught.value.message


@pytest.mark.parametrize(
    ("profile", "count", "task", "said"),
    [
        ("ppocr", 1, "", "answers no questions"),
        ("ostrakon", 1, "dance", "has no task 'dance'"),
        ("ostrakon", 2, "shelf", "takes 1"),
        ("glm-ocr", 1, "extract", "name its JSON schema with --schema"),
    ],
)
def test_a_question_that_cannot_be_asked_is_told_so(
    settings: Settings, profile: str, count: int, task: str, said: str
) -> None:
    question = Question(profile, (Path("a.png"),) * count, "Why?", task)
    with pytest.raises(PagemillError) as caught:
        ask_and_show(settings, question, as_json=False)
    assert said in caught.value.message


def test_the_last_word_is_the_question_unless_it_is_a_file(tmp_path: Path) -> None:
    one, two = tmp_path / "1.png", tmp_path / "2.png"
    one.touch()
    two.touch()
    assert split_words([str(one), "How many?"]) == ((one,), "How many?")
    assert split_words([str(one), str(two)]) == ((one, two), "")
    with pytest.raises(PagemillError, match="no file"):
        split_words([str(tmp_path / "gone.png"), "How many?"])
