"""Nothing is documented that does not exist, and nothing exists undocumented."""

import re
from pathlib import Path

import pytest
import typer

from cli.main import app
from models.recipe import Recipe
from models.report import PageReport
from models.search import Hit
from models.settings import RetryPolicy, Settings
from models.summary import DocumentSummary
from models.timing import TimingRow

DOCS = Path(__file__).parents[2] / "docs"
COMMANDS = getattr(typer.main.get_command(app), "commands")  # noqa: B009 (a group's own, typed away)


def text(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def section(name: str, heading: str) -> str:
    """A section of a document, up to the next of its level."""
    return text(name).split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]


RETRIES = section("configuration.md", "Settings").split("### Retries", 1)[1]


def test_every_setting_is_documented_and_no_other() -> None:
    told = set(re.findall(r"^\| `PAGEMILL_([A-Z_]+)` ", text("configuration.md"), re.MULTILINE))
    assert told == {name.upper() for name in Settings.model_fields} - {"RETRY"} | {"DEBUG"}


def test_the_documented_defaults_are_the_real_ones() -> None:
    rows = re.findall(r"^\| `PAGEMILL_([A-Z_]+)` \| `([^`]+)` \|", text("configuration.md"), re.MULTILINE)
    assert len(rows) >= 6
    real = {name.upper(): field.default for name, field in Settings.model_fields.items()}
    for name, told in rows:
        assert told == (
            f"{real[name]:g}" if isinstance(real[name], float) else str(real[name]).replace("True", "true")
        )


def test_every_field_of_a_retry_policy_is_documented_with_its_default() -> None:
    told = dict(re.findall(r"^\| `([A-Z]+|[A-Z]+_S)` \| `([^`]+)` \|", RETRIES, re.MULTILINE))
    assert told == {name.upper(): f"{field.default:g}" for name, field in RetryPolicy.model_fields.items()}


def test_every_recipe_option_is_documented_and_no_other() -> None:
    told = set(re.findall(r"^\| `([a-z_]+)` ", section("configuration.md", "Recipe options"), re.MULTILINE))
    assert told == set(Recipe.model_fields) - {"profile", "revision", "asked_sha256"}


def test_every_command_of_the_table_exists() -> None:
    told = re.findall(r"^\| `pagemill ([a-z]+)", section("cli.md", "Commands"), re.MULTILINE)
    assert sorted(told) == sorted(COMMANDS)


@pytest.mark.parametrize(
    ("command", "model"),
    [("ingest", DocumentSummary), ("show DOC", PageReport), ("search", Hit), ("timings", TimingRow)],
)
def test_the_json_shapes_name_every_key(command: str, model: type) -> None:
    row = next(line for line in section("cli.md", "JSON").splitlines() if line.startswith(f"| `{command}` "))
    words = set(re.findall(r"[a-z_0-9]+", row))
    assert set(model.__annotations__) - words == set()
