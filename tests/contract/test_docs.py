"""What the documentation names exists: links, sections, commands with their options, settings, files."""

import re
import subprocess
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

from cli.main import app
from db.invariants import INVARIANTS
from models import notes
from models.errors import Code
from models.profiles import PROFILES
from models.settings import Settings
from tasks.work import textlayer
from tasks.work.checks import CHECKS, DOCUMENT_CHECKS
from tasks.work.engines.reader import TURNED, UNSURE
from tasks.work.engines.vllm.reader import SHRUNK
from tasks.work.regions_asked import EMPTY

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
CODE = re.compile(r"```\w*\n(.*?)```|`([^`\n]+)`|^    (\S.*)$", re.DOTALL | re.MULTILINE)
OPTION = re.compile(r"(?<!\S)(--[a-z][a-z-]+|-[a-z](?!\S))")
FILE = re.compile(r"(?:bench|cli|db|deploy|docs|flows|models|samples|tasks|tests)/[\w./-]*\w")
of_pages = pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
PAGEMILL: Any = typer.main.get_command(app)


def code(page: Path) -> list[str]:
    """Lines of code of a page, remarks left out; a line that ends with \\ goes on."""
    found = ("".join(part) for part in CODE.findall(page.read_text("utf-8")))
    lines = [line for part in found for line in part.replace("\\\n", " ").splitlines()]
    return [re.sub(r"\s#\s.*", "", line).strip() for line in lines]


def slugs(page: Path) -> set[str]:
    """Names of a page's sections, as links have them."""
    headings = re.findall(r"^#+ (.+)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\s-]", "", heading.lower()).strip().replace(" ", "-") for heading in headings}


def options_of(words: list[str]) -> set[str]:
    """What may be typed after these words; those of a benchmark are its module's own."""
    command: Any = PAGEMILL
    for word in words:
        inner = getattr(command, "commands", {})
        # Two groups do something when no command of theirs is named.
        usual = inner.get("run") or inner.get("list")
        command = inner.get(word) or (usual if command is not PAGEMILL else None) or command
    options = [option for one in (command, PAGEMILL) for option in one.params]
    return {name for option in options for name in (*option.opts, *option.secondary_opts)}


def options_in(module: str) -> set[str]:
    """Options that a module of `bench` defines, or one that it imports from there."""
    source = (ROOT / f"{module.replace('.', '/')}.py").read_text("utf-8")
    others = re.findall(r"^from bench\.(\w+) import|^from bench import (.+)$", source, re.MULTILINE)
    names = {name.strip() for found in others for part in found for name in part.split(",") if name}
    files = [path for name in names if (path := ROOT / "bench" / f"{name}.py").exists()]
    return set(re.findall(r'"(--?[a-z][a-z-]*)"', source + "".join(map(Path.read_text, files))))


def called(page: Path) -> Iterator[tuple[set[str], str]]:
    """Each command that a page tells to type: the options it knows, and the line."""
    for line in code(page):
        words = line.split(" -- ")[0].split()
        for place, (before, word) in enumerate(pairwise(words)):
            if before == "-m" and re.fullmatch(r"bench\.[a-z_.]+", word):
                yield options_in(word), " ".join(words[place + 2 :])
        if words[:2] == ["pagemill", "bench"] and words[2:] and re.fullmatch(r"[a-z]+", words[2]):
            yield options_in(f"bench.{words[2]}"), " ".join(words[3:])
        elif words and Path(words[0]).name == "pagemill":
            yield options_of(words[1:]), " ".join(words[1:])


@of_pages
def test_links_lead_to_files_and_sections_that_are_there(page: Path) -> None:
    for target in LINK.findall(page.read_text("utf-8")):
        place, _, section = target.partition("#")
        if "://" in place:
            continue
        there = (page.parent / place).resolve() if place else page
        assert there.exists(), target
        assert not section or section in slugs(there), target


def test_the_index_leads_to_every_page() -> None:
    index = ROOT / "docs" / "README.md"
    listed = {(index.parent / target).resolve() for target in LINK.findall(index.read_text("utf-8"))}
    assert [page for page in PAGES if page not in {*listed, index}] == []


@of_pages
def test_options_that_are_told_can_be_typed(page: Path) -> None:
    for known, told in called(page):
        assert set(OPTION.findall(told)) <= known | {"--help"}, told


def commands(command: Any = PAGEMILL, name: str = "pagemill") -> Iterator[tuple[str, Any]]:
    """Every command by what is typed for it."""
    if not hasattr(command, "commands"):
        yield name, command
    for word, inner in getattr(command, "commands", {}).items():
        yield from commands(inner, f"{name} {word}")


def told_of(name: str) -> str:
    """What is said of a command: its own page, and every section that is called after it or names it."""
    top = " ".join(name.split()[:2])
    page = ROOT / "docs" / f"{name.split()[1]}.md"
    sections = [
        part for one in PAGES for part in re.split(r"^##+ ", one.read_text("utf-8"), flags=re.MULTILINE)
    ]
    about = [part for part in sections if top in part or part.startswith(f"{name.split()[1]}\n")]
    return "\n".join([*about, page.read_text("utf-8") if page.exists() else ""])


@pytest.mark.parametrize("name", [name for name, _ in commands()])
def test_every_option_of_a_command_is_told(name: str) -> None:
    command, told = dict(commands())[name], told_of(name)
    options = [{*one.opts, *one.secondary_opts} for one in command.params if one.opts[0].startswith("-")]
    words = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", told)) | {"--json"}
    assert [names for names in options if not names & words] == []


@of_pages
def test_settings_that_are_named_can_be_set(page: Path) -> None:
    told = re.findall(r"PAGEMILL_([A-Z_]*[A-Z])\b", page.read_text("utf-8"))
    known = {name.upper() for name in Settings.model_fields} | {"DEBUG"}
    assert {name.partition("__")[0] for name in told} <= known


@of_pages
def test_profiles_that_are_named_are_known(page: Path) -> None:
    lines = "\n".join(code(page))
    told = re.findall(r"(?:--profile|--gpu|pagemill serve|pagemill tune) ([a-z][\w.-]*)", lines)
    assert {name for name in told if not name.endswith((".toml", "-tuned"))} <= set(PROFILES)


def test_every_code_is_told() -> None:
    told = "".join(
        (ROOT / "docs" / f"{name}.md").read_text("utf-8") for name in ("codes", "scanning", "profiles")
    )
    noted = {code for name, code in vars(notes).items() if name.isupper() and isinstance(code, str)}
    found = {"downscaled", SHRUNK, EMPTY, UNSURE, f"{TURNED}90", f"{textlayer.REJECTED}…", textlayer.UNPROVEN}
    checks = {one.code for one in (*CHECKS, *DOCUMENT_CHECKS)}
    assert [code for code in sorted({*Code, *noted, *found} - checks) if f"`{code}`" not in told] == []


def test_what_always_holds_of_the_ledger_is_told() -> None:
    text = (ROOT / "docs" / "maintain.md").read_text("utf-8")
    told = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", text, re.MULTILINE)
    assert told == [(one.name, one.about) for one in INVARIANTS]


def test_files_that_are_named_are_there() -> None:
    listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    files = [Path(line) for line in listed.stdout.splitlines()]
    places = {str(place) for file in files for place in (file, *file.parents)}
    for page in PAGES if files else ():
        words = {word.rstrip("/") for line in code(page) for word in line.split()}
        assert {word for word in words if FILE.fullmatch(word)} <= places, page
