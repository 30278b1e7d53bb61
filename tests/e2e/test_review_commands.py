"""Review from the command line, against the real thing: embedded Postgres, real engine, a real file."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import factories
from tests.e2e.shell import Shell

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell with a knowledge base: a page the checks doubt, since its engine cannot read its script."""
    shell = Shell(tmp_path_factory.mktemp("home"))
    folder = tmp_path_factory.mktemp("scans")
    noise = factories.picture("~ . , ; ~ . ,\n' ` ~ , . ;", (900, 300), font_px=40)
    pages = [factories.picture("The main pump", (900, 300)), noise]
    factories.write(folder / "scan.pdf", factories.scan_pdf(*pages))
    shell.run("ingest", folder)
    yield shell
    shell.run("down")


@pytest.fixture(scope="module")
def doubted(shell: Shell) -> Any:
    """The page that waits."""
    (page,) = shell.json("review")["pages"]
    return page


def test_the_list_names_page_reason_and_a_picture_that_is_there(shell: Shell, doubted: Any) -> None:
    assert doubted["page"] == "1:2"
    assert doubted["verdict"] in {"suspect", "bad"}
    assert doubted["code"]
    assert doubted["message"].endswith(".")
    assert Path(doubted["picture"]).is_file()
    shown = shell.run("review", "--limit", "1").stdout
    assert doubted["picture"] in shown
    assert "1 page to look at" in shown


def test_a_person_s_text_is_shown_searched_and_exported(shell: Shell, doubted: Any, tmp_path: Path) -> None:
    text = factories.write(tmp_path / "page.md", b"# Zebra\n\nWritten by <b>hand</b>")
    (done,) = shell.json("review", "edit", "1:2", text, "--person", "Ann Lee", "--note", "unreadable")
    assert (done["pages"], done["status"]) == (["1:2"], "complete")
    assert shell.json("review") == {"pages": [], "total": 0}
    (hit, *_) = shell.json("search", "zebra")["hits"]
    assert hit["pages"] == [2]
    assert "## Zebra" in shell.run("export", "1", "--format", "md").stdout
    shown = shell.run("show", "1", "--page", "2").stdout
    assert "human by Ann Lee" in shown
    assert "edit by Ann Lee" in shown


def test_every_decision_stands_in_the_history(shell: Shell, doubted: Any) -> None:
    refused = shell.run("review", "retry", "1:2")
    assert refused.returncode == 2
    assert "--over-edit" in refused.stderr
    history = shell.json("review", "--history")
    assert [(one["action"], one["person"], one["note"]) for one in history] == [
        ("edit", "Ann Lee", "unreadable")
    ]
    assert json.dumps(history[0]["at"]).endswith('+00:00"')


def test_what_names_no_page_or_no_text_is_refused(shell: Shell, tmp_path: Path) -> None:
    latin = factories.write(tmp_path / "latin.txt", "caf\xe9".encode("latin-1"))
    refused = shell.run("review", "edit", "1:1", latin)
    assert (refused.returncode, "no UTF-8 text" in refused.stderr) == (2, True)
    assert shell.run("review", "accept", "12").returncode == 2
