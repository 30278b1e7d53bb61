"""docs/profiles.md says what profiles are, and every parser's notes."""

import re
import tomllib
from pathlib import Path

import pytest

from models import notes
from models.profiles import PROFILES
from models.profiles.ostrakon_tasks import TASKS
from tasks.work.custom import load_profile
from tasks.work.parsers import PARSERS, chandra, grid

TEXT = (Path(__file__).parents[2] / "docs" / "profiles.md").read_text("utf-8")
ROWS = {row.split("`")[1]: row for row in TEXT.splitlines() if row.startswith("| `")}
EXAMPLE = TEXT.split("```toml\n", 1)[1].split("```", 1)[0]


def row(name: str, heading: str) -> str:
    """A profile's row of the table under a heading."""
    section = TEXT.split(heading, 1)[1].split("\n## ", 1)[0]
    return next(line for line in section.splitlines() if line.startswith(f"| `{name}` "))


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_profile_is_told_with_its_real_figures(name: str) -> None:
    told, vlm = row(name, "# Profiles"), PROFILES[name].vlm
    if vlm is not None:
        grid_px = vlm.pixels.grid_px
        for fact in (vlm.weights, f"{grid_px} x {grid_px}", str(vlm.pixels.max_pixels), str(vlm.context)):
            assert fact in told


@pytest.mark.parametrize("name", [name for name, profile in PROFILES.items() if profile.vlm])
def test_every_task_is_told(name: str) -> None:
    vlm = PROFILES[name].vlm
    assert vlm is not None
    told = set(re.findall("`([a-z]+)`", row(name, "## Tasks"))) - {name}
    assert told == {task for task in vlm.tasks if not task.endswith("-zh")}
    assert {f"{task}-zh" for task in TASKS if task != "question" and not task.endswith("-zh")} <= set(TASKS)


def test_every_note_of_a_parser_is_told() -> None:
    broken = (notes.UNPARSABLE, notes.SCHEMA_MISMATCH, notes.TABLE_MISSING, notes.BOX_UNREADABLE)
    for code in (*broken, notes.HTML_REPAIRED, notes.TOO_LONG, grid.RAGGED, chandra.BLANK):
        assert f"| `{code}`" in TEXT


def test_every_parser_is_told() -> None:
    assert [name for name in PARSERS if f"`{name}`" not in TEXT] == []


def test_the_example_is_a_profile(tmp_path: Path) -> None:
    path = tmp_path / "qwen.toml"
    path.write_text(EXAMPLE, "utf-8")
    profile = load_profile(path)
    assert profile.title == tomllib.loads(EXAMPLE)["title"]
    assert profile.vlm is not None
    assert profile.vlm.served_name == "Qwen/Qwen3-VL-8B-Instruct"
