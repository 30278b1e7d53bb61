"""Terms of weights: asked for once, kept, asked for anew when they change."""

from pathlib import Path

import pytest

from cli.choosing import choose_profile
from models.errors import Code, ConfigurationError
from models.profile import Profile
from models.profiles import get
from models.settings import Settings
from tasks.work import consent
from tests.unit.test_profiles_custom import write

CHANDRA = get("chandra")


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path)


def other_terms(profile: Profile) -> Profile:
    assert profile.vlm is not None
    return profile.model_copy(update={"vlm": profile.vlm.model_copy(update={"consent": "Other terms."})})


def test_without_consent_nothing_starts_and_the_remedy_is_told(settings: Settings) -> None:
    with pytest.raises(ConfigurationError) as caught:
        consent.require(CHANDRA, settings)
    assert caught.value.code is Code.LICENCE_NOT_ACCEPTED
    assert "--accept-licence" in caught.value.message
    assert "PAGEMILL_ACCEPT_LICENCES=chandra" in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["ppocr", "rapidocr", "glm-ocr", "ostrakon"])
def test_free_weights_ask_for_nothing(settings: Settings, name: str) -> None:
    consent.require(get(name), settings)
    assert choose_profile(settings, name).name == name
    assert list(settings.root.iterdir()) == []


def test_consent_is_kept_for_that_model_alone(settings: Settings) -> None:
    consent.agree(CHANDRA, settings)
    consent.require(CHANDRA, settings)
    assert consent.is_needed(get("chandra-2"), settings)


def test_changed_terms_are_asked_for_anew(settings: Settings) -> None:
    consent.agree(CHANDRA, settings)
    assert consent.is_needed(other_terms(CHANDRA), settings)


def test_a_spoilt_record_is_no_consent(settings: Settings) -> None:
    consent.agree(CHANDRA, settings)
    (settings.root / "licences" / "chandra.json").write_text("{}")
    assert consent.is_needed(CHANDRA, settings)


@pytest.mark.parametrize(
    ("named", "is_needed"),
    [("chandra", False), ("ppocr, chandra", False), ("chandra-2", True), ("chandra2 all", True), ("", True)],
)
def test_machines_agree_by_a_setting(tmp_path: Path, named: str, is_needed: bool) -> None:
    settings = Settings(home=tmp_path, accept_licences=named)
    assert consent.is_needed(CHANDRA, settings) is is_needed


def test_a_flag_agrees_once_and_for_all_later_runs(settings: Settings) -> None:
    with pytest.raises(ConfigurationError, match="Nobody has agreed"):
        choose_profile(settings, "chandra")
    assert choose_profile(settings, "chandra", is_accepted=True) is CHANDRA
    assert choose_profile(settings, "chandra") is CHANDRA


def test_a_file_is_chosen_by_its_path_and_later_by_its_name(settings: Settings, tmp_path: Path) -> None:
    path = write(tmp_path / "elsewhere", "mine.toml")
    assert choose_profile(settings, str(path)).name == "mine"
    assert choose_profile(settings, "mine").name == "mine"
