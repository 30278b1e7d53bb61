"""The house rules that a machine can hold: sizes, imports, words and pins."""

import ast
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from models.settings import RetrySettings
from models.stage import STAGE_VERSION, Stage

ROOT = Path(__file__).parents[2]
PACKAGES = ("cli", "flows", "tasks", "db", "models")
REQUIREMENTS = sorted(ROOT.glob("requirements*.txt"))
DOCS = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def modules(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def functions(*folders: str) -> Iterator[tuple[str, int]]:
    """Name with place and length in lines of every function."""
    for path in modules(*folders):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                yield f"{path.relative_to(ROOT)}:{node.lineno} {node.name}", lines


def length(path: Path) -> int:
    return len(path.read_text().splitlines())


def commands() -> list[str]:
    """Every command of the command line as it is typed, e.g. `pagemill db migrate`."""
    from cli.main import app

    def below(command: object, name: str) -> Iterator[str]:
        inner = getattr(command, "commands", None)
        if inner is None:
            yield name
            return
        for word, one in inner.items():
            yield from below(one, f"{name} {word}")

    return sorted(below(typer.main.get_command(app), "pagemill"))


@pytest.mark.slow
def test_no_function_is_longer_than_40_lines() -> None:
    assert [name for name, lines in functions(*PACKAGES, "bench", "tests") if lines > 40] == []


@pytest.mark.slow
def test_half_of_all_functions_have_at_most_12_lines() -> None:
    assert statistics.median(lines for _, lines in functions(*PACKAGES)) <= 12


def test_no_module_is_longer_than_300_lines() -> None:
    long = [path for path in modules(*PACKAGES, "bench", "tests") if length(path) > 300]
    assert [str(path.relative_to(ROOT)) for path in long] == []


def test_there_is_at_least_as_much_test_as_code() -> None:
    # Doubles are test code that ships with the package; profiles are data.
    doubles, data = modules("tasks/work/doubles"), modules("models/profiles")
    code = sum(length(path) for path in modules(*PACKAGES) if path not in {*doubles, *data})
    tests = sum(map(length, [*modules("tests"), *doubles]))
    assert tests >= code


def test_imports_go_one_way() -> None:
    command = [str(Path(sys.executable).parent / "lint-imports"), "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_no_postponed_annotations() -> None:
    marker = "from __future__ import " + "annotations"
    assert [str(path) for path in modules(*PACKAGES, "bench", "tests") if marker in path.read_text()] == []


def test_stages_have_the_same_names_everywhere() -> None:
    assert set(STAGE_VERSION) == set(Stage)
    assert set(RetrySettings.model_fields) <= {stage.value for stage in Stage}
    story = " → ".join(stage.value for stage in Stage)
    assert Stage.__doc__ is not None
    assert story in Stage.__doc__
    for path in DOCS:
        for told in re.findall(r"register\W+→.*?load", path.read_text()):
            assert re.sub(r"[`*]", "", told) == story, path


@pytest.mark.parametrize("path", REQUIREMENTS, ids=lambda path: path.name)
def test_requirements_are_pinned_with_hashes_and_name_no_host(path: Path) -> None:
    lines = path.read_text().splitlines()
    assert not [
        line for line in lines if "://" in line or (line.lstrip().startswith("-") and "--hash" not in line)
    ]
    pins = [line for line in lines if line and not line.startswith((" ", "#"))]
    assert pins
    assert all("==" in line and line.endswith("\\") for line in pins)


def test_two_requirements_files_never_pin_the_same_package_differently() -> None:
    pins: dict[str, set[str]] = {}
    for path in REQUIREMENTS:
        for line in path.read_text().splitlines():
            found = re.match(r"(\S+)==(\S+?)( ;.*)? \\$", line)
            if found:
                pins.setdefault(found[1] + (found[3] or ""), set()).add(found[2])
    assert {name: versions for name, versions in pins.items() if len(versions) > 1} == {}


def test_every_command_is_documented() -> None:
    told = "\n".join(path.read_text() for path in DOCS)
    assert [command for command in commands() if command not in told] == []


def test_every_check_is_documented() -> None:
    from tasks.work.checks import CHECKS

    text = (ROOT / "docs" / "checks.md").read_text()
    assert [one.code for one in CHECKS if f"| `{one.code}` | {one.severity}" not in text] == []


def test_every_sample_has_a_source_and_a_licence() -> None:
    text = (ROOT / "samples" / "README.md").read_text()
    names = [path.name for path in (ROOT / "samples" / "documents").iterdir()]
    assert 8 <= len(names) <= 20
    assert [name for name in names if text.count(f"| `{name}` |") != 2] == []


def test_samples_stay_small() -> None:
    files = [path for path in (ROOT / "samples").rglob("*") if path.is_file()]
    assert sum(path.stat().st_size for path in files) < 3_000_000


def test_every_truth_belongs_to_a_sample() -> None:
    truths = list((ROOT / "samples" / "truth").iterdir())
    assert truths
    assert all((ROOT / "samples" / "documents" / t.name.removesuffix(".gt.txt")).is_file() for t in truths)
