"""Profiles from TOML files: found by name, told by key where they are wrong."""

from pathlib import Path

import pytest

from models.errors import Code, ConfigurationError
from models.profiles import PROFILES
from models.settings import Settings
from tasks.work.custom import adopt, all_profiles, find_profile, load_profile

LEAST = """
[vlm.tasks.text]
prompt = "Read the page."
parser = "markdown"
about = "the whole page"
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(home=tmp_path / "home")


def write(folder: Path, name: str, text: str = LEAST) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_a_prompt_and_a_parser_are_enough(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, "mine.toml"))
    assert profile.vlm is not None
    assert (profile.name, profile.engine, profile.vlm.served_name) == ("mine", "vllm", "mine")
    assert profile.grid_px == profile.vlm.pixels.grid_px == 32
    assert profile.recipe().max_pixels == profile.vlm.pixels.max_pixels
    assert profile.ladder


def test_every_key_of_a_profile_can_be_set(tmp_path: Path) -> None:
    head = 'title = "Mine"\nlong_edge_px = 2000\nladder = []\nscripts = ["latin"]\n'
    model = '[vlm]\nserved_name = "org/model"\ncontext = 8192\n[vlm.pixels]\npatch_px = 14\n'
    tail = "[vlm.sampling]\nmax_tokens = 1000\nstop = ['</s>']\n"
    profile = load_profile(write(tmp_path, "mine.toml", head + model + tail + LEAST))
    assert profile.vlm is not None
    assert (profile.title, profile.ladder, profile.grid_px) == ("Mine", (), 28)
    assert (profile.vlm.served_name, profile.vlm.sampling.stop) == ("org/model", ("</s>",))


def test_a_file_says_which_task_a_kind_of_region_is_asked_with(tmp_path: Path) -> None:
    profile = load_profile(write(tmp_path, "mine.toml", f'[vlm.regions]\ntable = "text"\n{LEAST}'))
    assert profile.vlm is not None
    assert profile.vlm.regions == {"table": "text"}


@pytest.mark.parametrize(
    ("line", "told"),
    [('table = "tables"', "no task 'tables'; known: text"), ('plot = "text"', "vlm.regions")],
)
def test_a_region_of_no_kind_or_task_is_told(tmp_path: Path, line: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        load_profile(write(tmp_path, "mine.toml", f"[vlm.regions]\n{line}\n{LEAST}"))


def test_a_changed_file_is_another_revision(tmp_path: Path) -> None:
    first = load_profile(write(tmp_path, "mine.toml"))
    second = load_profile(write(tmp_path, "mine.toml", LEAST.replace("page.", "whole page.")))
    assert first.recipe().hash != second.recipe().hash


def test_a_file_with_a_base_says_only_what_is_different(tmp_path: Path) -> None:
    text = 'base = "glm-ocr"\nladder = []\n[vlm]\nmost_in_flight = 48\n[vlm.sampling]\nmax_tokens = 100\n'
    profile, base = load_profile(write(tmp_path, "fast.toml", text)), PROFILES["glm-ocr"]
    assert profile.vlm is not None
    assert base.vlm is not None
    assert (profile.name, profile.ladder, profile.vlm.most_in_flight) == ("fast", (), 48)
    assert (profile.vlm.sampling.max_tokens, profile.vlm.sampling.stop) == (100, base.vlm.sampling.stop)
    assert (profile.vlm.tasks, profile.vlm.flags) == (base.vlm.tasks, base.vlm.flags)
    assert profile.recipe().max_pixels == base.recipe().max_pixels


def test_remarks_change_no_revision_of_a_file_with_a_base(tmp_path: Path) -> None:
    text = 'base = "glm-ocr"\nx_height_px = 9.0\n'
    plain, remarked, other = (
        load_profile(write(tmp_path, "fast.toml", said)).revision
        for said in (text, f"# measured today\n{text}", text.replace("9.0", "11.0"))
    )
    assert plain == remarked != other
    assert plain.startswith(PROFILES["glm-ocr"].revision)


@pytest.mark.parametrize("base", ["'none'", "'ppocr'", "7"])
def test_a_base_is_an_embedded_profile_of_a_served_model(tmp_path: Path, base: str) -> None:
    with pytest.raises(ConfigurationError, match=r"base: there is no profile .* Known: chandra"):
        load_profile(write(tmp_path, "fast.toml", f"base = {base}\n"))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "vlm.tasks: Field required"),
        ("= 1", "this is no TOML"),
        ("vlm = 7", "vlm: "),
        ("[vlm.tasks]", "vlm.tasks: "),
        (LEAST.replace("markdown", "word"), "vlm.tasks.text.parser: "),
        (LEAST.replace('prompt = "Read the page."', ""), "vlm.tasks.text.prompt: Field required"),
        ("colour = 1\n" + LEAST, "colour: Extra inputs are not permitted"),
        ("long_edge_px = 'wide'\n" + LEAST, "long_edge_px: "),
        ('name = "x"\n' + LEAST, "name: leave it out"),
        ('base = "glm-ocr"\nlong_edge_px = "wide"\n', "long_edge_px: "),
        ('engine = "ppocr"\n' + LEAST, "engine: leave it out"),
        (LEAST + "[vlm.pixels]\npatch_px = 'x'\n", "vlm.pixels.patch_px: "),
    ],
)
def test_a_wrong_file_is_told_in_one_line_with_its_key(tmp_path: Path, text: str, told: str) -> None:
    path = write(tmp_path, "mine.toml", text)
    with pytest.raises(ConfigurationError) as caught:
        load_profile(path)
    assert told in caught.value.message
    assert str(path) in caught.value.message
    assert "\n" not in caught.value.message


@pytest.mark.parametrize("name", ["ppocr.toml", "Mine.toml", "my model.toml", ".toml", "-x.toml"])
def test_a_name_that_is_taken_or_cannot_be_typed_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(ConfigurationError, match="named as its file"):
        load_profile(write(tmp_path, name))


def test_what_cannot_be_read_is_told(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="cannot be read: No such file"):
        load_profile(tmp_path / "gone.toml")
    (tmp_path / "mine.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="no TOML"):
        load_profile(tmp_path / "mine.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * 1_000_001)
    with pytest.raises(ConfigurationError, match="larger than"):
        load_profile(tmp_path / "large.toml")


def test_profiles_are_found_in_the_home_and_where_the_settings_say(
    settings: Settings, tmp_path: Path
) -> None:
    write(settings.root / "profiles", "one.toml")
    write(tmp_path / "more", "two.toml")
    single = write(tmp_path, "three.toml")
    named = settings.model_copy(update={"profiles": f"{tmp_path / 'more'}:{single}"})
    assert [find_profile(name, named).name for name in ("one", "two", "three", "ppocr")] == [
        *("one", "two", "three", "ppocr")
    ]
    assert set(all_profiles(named)) == {*PROFILES, "one", "two", "three"}


def test_an_unknown_profile_is_told_with_all_there_are(settings: Settings) -> None:
    write(settings.root / "profiles", "mine.toml")
    with pytest.raises(ConfigurationError, match="glm-ocr, mine, ostrakon") as caught:
        find_profile("nonsense", settings)
    assert caught.value.code is Code.UNKNOWN_PROFILE


def test_a_broken_file_harms_no_other_profile(settings: Settings) -> None:
    write(settings.root / "profiles", "broken.toml", "=")
    write(settings.root / "profiles", "mine.toml")
    assert find_profile("mine", settings).name == "mine"
    assert find_profile("ppocr", settings).name == "ppocr"


def test_a_place_that_is_not_there_is_told(settings: Settings) -> None:
    named = settings.model_copy(update={"profiles": "/no/such/place"})
    with pytest.raises(ConfigurationError, match="PAGEMILL_PROFILES: there is no /no/such/place"):
        find_profile("mine", named)


def test_a_file_that_was_given_once_is_found_by_its_name_ever_after(
    settings: Settings, tmp_path: Path
) -> None:
    path = write(tmp_path, "mine.toml")
    assert adopt(path, settings) == "mine"
    path.unlink()
    assert find_profile("mine", settings).name == "mine"


def test_a_newer_file_takes_the_place_of_the_kept_one_and_a_wrong_one_does_not(
    settings: Settings, tmp_path: Path
) -> None:
    adopt(write(tmp_path, "mine.toml"), settings)
    adopt(write(tmp_path, "mine.toml", 'title = "New"\n' + LEAST), settings)
    with pytest.raises(ConfigurationError):
        adopt(write(tmp_path, "mine.toml", "="), settings)
    assert find_profile("mine", settings).title == "New"
    assert [path.name for path in (settings.root / "profiles").iterdir()] == ["mine.toml"]
