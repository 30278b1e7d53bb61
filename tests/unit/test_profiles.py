"""Profiles as data: what each has to say, and how it gets into what is kept."""

from collections.abc import Iterable

import pytest
from pydantic import ValidationError

from models.engine import OcrRequest
from models.errors import Code, ConfigurationError
from models.profile import Profile
from models.profiles import PROFILES, get
from models.recipe import Recipe
from models.text import script_of

ALL = sorted(PROFILES)
_EXAMPLES = "aЖλشא安あ한กकকத"


def changed(profile: Profile, **changes: object) -> Profile:
    return Profile.model_validate(profile.model_dump() | changes)


def hashes(profiles: Iterable[Profile]) -> set[str]:
    return {profile.recipe().hash for profile in profiles}


@pytest.mark.parametrize("name", ALL)
def test_a_profile_is_found_by_its_name(name: str) -> None:
    assert get(name).name == name


@pytest.mark.parametrize("name", ["", "PPOCR", " ppocr", "ppocr\n", "../ppocr", "glm_ocr"])
def test_only_the_exact_name_is_a_profile(name: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        get(name)
    assert caught.value.code is Code.UNKNOWN_PROFILE
    assert f"'{name}'" in caught.value.message
    assert all(known in caught.value.message for known in ALL)


def test_an_unknown_profile_does_not_show_the_lookup_that_failed() -> None:
    with pytest.raises(ConfigurationError) as caught:
        get("nonsense")
    assert caught.value.__suppress_context__


@pytest.mark.parametrize("name", ALL)
def test_a_licence_names_code_and_weights_in_one_line(name: str) -> None:
    licence = get(name).licence
    assert "weights" in licence
    assert ";" in licence
    assert "\n" not in licence


@pytest.mark.parametrize("name", ALL)
def test_scripts_are_called_as_letters_are(name: str) -> None:
    assert get(name).scripts <= {script_of(char) for char in _EXAMPLES}


@pytest.mark.parametrize("name", ALL)
def test_another_revision_of_weights_makes_other_readings_of_the_same_pictures(name: str) -> None:
    old, new = get(name).recipe(), changed(get(name), revision="next").recipe()
    assert old.hash != new.hash
    assert old.preprocess_key == new.preprocess_key


@pytest.mark.parametrize("name", ALL)
def test_the_pixels_a_model_wants_decide_its_pictures(name: str) -> None:
    profile = get(name)
    fewer = changed(profile, long_edge_px=profile.long_edge_px - 1)
    assert fewer.recipe().preprocess_key != profile.recipe().preprocess_key
    assert changed(profile, max_pixels=100_000).recipe().hash != profile.recipe().hash


@pytest.mark.parametrize("name", ALL)
def test_how_long_and_how_many_at_once_does_not_decide_what_is_read(name: str) -> None:
    patient = changed(get(name), timeout_s=999, batch_pages=3, title="Another", licence="Another")
    assert patient.recipe() == get(name).recipe()


def test_no_two_profiles_share_readings() -> None:
    assert len(hashes(PROFILES.values())) == len(PROFILES)


def test_profiles_of_equal_pixels_share_pictures() -> None:
    budgets = {(p.long_edge_px, p.max_pixels) for p in PROFILES.values()}
    assert len({p.recipe().preprocess_key for p in PROFILES.values()}) == len(budgets)


@pytest.mark.parametrize("name", ALL)
def test_a_default_recipe_is_one_that_options_could_have_made(name: str) -> None:
    recipe = get(name).recipe()
    assert recipe.with_options([f"long_edge_px={recipe.long_edge_px}"]) == recipe
    assert Recipe.model_validate(recipe.model_dump()) == recipe


def test_a_recipe_made_by_hand_is_not_the_profile_s_without_its_revision() -> None:
    assert Recipe(profile="ppocr").hash != get("ppocr").recipe().hash


@pytest.mark.parametrize(
    "changes",
    [{"timeout_s": 0}, {"batch_pages": 0}, {"engine": "tesseract"}, {"revision": None}, {"colour": "red"}],
)
def test_a_profile_that_cannot_work_is_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match=next(iter(changes))):
        changed(get("ppocr"), **changes)


def test_a_profile_is_never_changed_in_place() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        get("ppocr").timeout_s = 1


def test_a_request_carries_a_recipe_and_no_profile() -> None:
    assert "recipe" in OcrRequest.__slots__
    assert "profile" not in OcrRequest.__slots__
