"""Recipes: equal ones have one name, different ones never, and options are checked by name."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from models import recipe as module
from models.errors import Code, ConfigurationError
from models.meant import meant
from models.recipe import Recipe
from models.stage import Stage

BASE = Recipe(revision="1")
CHANGES: dict[str, object] = {
    "profile": "other",
    "revision": "2",
    "text_layer": "prefer",
    "long_edge_px": 2000,
    "max_pixels": 1_000_000,
    "jpeg_quality": 80,
    "annotations": False,
    "min_pixels": 100_000,
    "grid_px": 28,
    "resolution": "legible",
    "x_height_px": 12.0,
    "orient": True,
    "deskew": True,
    "languages": "en de",
    "regions": "layout",
    "task": "table",
    "asked_sha256": "00",
}
_OF_THE_PICTURE = set(CHANGES) - {
    "profile",
    "revision",
    "text_layer",
    "languages",
    "regions",
    "task",
    "asked_sha256",
}

_recipes = st.builds(
    Recipe,
    profile=st.sampled_from(["ppocr", "rapidocr"]),
    revision=st.text(max_size=3),
    text_layer=st.sampled_from(["check", "prefer", "ignore"]),
    long_edge_px=st.integers(256, 8192),
    max_pixels=st.integers(65_536, 64_000_000),
    jpeg_quality=st.integers(50, 100),
    annotations=st.booleans(),
)


def test_every_field_is_tried_here() -> None:
    assert set(CHANGES) == set(Recipe.model_fields)


@pytest.mark.parametrize(
    ("word", "known", "told"),
    [
        ("text_lyer", ["text_layer", "task"], " Did you mean 'text_layer'?"),
        ("glmocr", {"glm-ocr", "ppocr"}, " Did you mean 'glm-ocr'?"),
        ("zebra", ["text_layer"], ""),
        ("", [], ""),
    ],
)
def test_a_word_that_there_is_not_is_told_with_the_nearest_one(
    word: str, known: list[str], told: str
) -> None:
    assert meant(word, known) == told


@pytest.mark.parametrize("field", CHANGES)
def test_a_change_of_any_field_changes_the_hash(field: str) -> None:
    assert Recipe(**BASE.model_dump() | {field: CHANGES[field]}).hash != BASE.hash


def test_a_default_that_is_written_out_changes_no_hash() -> None:
    assert Recipe(profile="ppocr", grid_px=1, resolution="fixed").hash == Recipe(profile="ppocr").hash


@pytest.mark.parametrize("field", CHANGES)
def test_only_fields_of_the_picture_change_the_key_of_pictures(field: str) -> None:
    changed = Recipe(**BASE.model_dump() | {field: CHANGES[field]})
    assert (changed.preprocess_key != BASE.preprocess_key) == (field in _OF_THE_PICTURE)


@pytest.mark.slow
@given(_recipes, _recipes)
def test_hashes_are_equal_exactly_where_recipes_are(one: Recipe, other: Recipe) -> None:
    assert (one.hash == other.hash) == (one == other)


@given(_recipes)
def test_a_recipe_keeps_its_hash_when_it_is_stored_and_read_back(recipe: Recipe) -> None:
    again = Recipe.model_validate_json(recipe.model_dump_json())
    assert (again, again.hash, again.preprocess_key) == (recipe, recipe.hash, recipe.preprocess_key)


@given(_recipes)
def test_names_are_sha256_in_hex_and_never_each_other_s(recipe: Recipe) -> None:
    assert re.fullmatch("[0-9a-f]{64}", recipe.hash)
    assert re.fullmatch("[0-9a-f]{64}", recipe.preprocess_key)
    assert recipe.hash != recipe.preprocess_key


@pytest.mark.parametrize(
    ("stage", "new_reading", "new_picture"),
    [
        (Stage.SPLIT, False, True),
        (Stage.PREPROCESS, True, True),
        (Stage.OCR, True, False),
        (Stage.LOAD, False, False),
    ],
)
def test_a_stage_of_a_new_version_renames_what_it_decides(
    monkeypatch: pytest.MonkeyPatch, stage: Stage, new_reading: bool, new_picture: bool
) -> None:
    before = BASE.hash, BASE.preprocess_key
    monkeypatch.setitem(module.STAGE_VERSION, stage, 99)
    assert (BASE.hash != before[0], BASE.preprocess_key != before[1]) == (new_reading, new_picture)


def test_options_are_taken_as_they_are_typed() -> None:
    options = ["text_layer=ignore", "long_edge_px=1024", "annotations=false"]
    assert BASE.with_options(options) == Recipe(
        revision="1", text_layer="ignore", long_edge_px=1024, annotations=False
    )


def test_without_options_a_recipe_is_itself() -> None:
    assert BASE.with_options([]) == BASE


def test_the_last_of_two_equal_options_counts() -> None:
    assert BASE.with_options(["jpeg_quality=60", "jpeg_quality=70"]).jpeg_quality == 70


def test_an_option_that_repeats_the_default_makes_no_other_recipe() -> None:
    assert BASE.with_options([f"jpeg_quality={BASE.jpeg_quality}"]).hash == BASE.hash


@pytest.mark.parametrize("option", ["jpeg_qualty=60", "jpeg_quality", "=60", "", "JPEG_QUALITY=60", "hash=0"])
def test_an_option_that_is_none_is_refused_with_the_ones_there_are(option: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        BASE.with_options([option])
    assert caught.value.code is Code.UNKNOWN_RECIPE_KEY
    assert f"'{option}'" in caught.value.message
    for known in set(Recipe.model_fields) - {"profile", "revision", "asked_sha256"}:
        assert known in caught.value.message


@pytest.mark.parametrize("option", ["profile=other", "revision=2"])
def test_what_the_profile_decides_is_no_option(option: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        BASE.with_options([option])
    assert not re.search(r"of: .*(profile|revision)", caught.value.message)


@pytest.mark.parametrize(
    "option",
    [
        *("long_edge_px=255", "long_edge_px=8193", "long_edge_px=many", "long_edge_px="),
        *("max_pixels=65535", "max_pixels=64000001", "jpeg_quality=49", "jpeg_quality=101"),
        *("annotations=perhaps", "text_layer=sometimes"),
    ],
)
def test_a_value_out_of_bounds_is_refused_with_its_option(option: str) -> None:
    with pytest.raises(ConfigurationError, match=f"recipe option {option.partition('=')[0]}:") as caught:
        BASE.with_options([option])
    assert caught.value.code is Code.UNKNOWN_RECIPE_KEY


@pytest.mark.parametrize("option", ["long_edge_px=256", "long_edge_px=8192", "jpeg_quality=50"])
def test_a_value_at_its_bound_is_taken(option: str) -> None:
    key, _, value = option.partition("=")
    assert getattr(BASE.with_options([option]), key) == int(value)


def test_a_recipe_cannot_change_under_its_hash() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        BASE.jpeg_quality = 80


def test_a_stored_recipe_with_a_field_nobody_knows_is_refused() -> None:
    with pytest.raises(ValidationError, match="sharpness"):
        Recipe.model_validate({"sharpness": 3})
