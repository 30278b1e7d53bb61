"""Backfill and maintain as a shell runs them: real engine, real Postgres, real exit codes."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from db import embedded
from db.engine import Database
from tests import factories
from tests.e2e.shell import Shell

pytestmark = pytest.mark.slow

OTHER = ("--recipe", "text_layer=prefer")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    """A shell over a knowledge base of two documents that can be read and a file that is none."""
    folder = tmp_path_factory.mktemp("scans")
    factories.write(
        folder / "a.pdf", factories.pdf("The main hydraulic pump\nstands behind the wall", "Trim")
    )
    factories.write(folder / "b.pdf", factories.pdf("Invoice 4711"))
    factories.write(folder / "letter.pdf", b"this is no PDF, only called one")
    shell = Shell(tmp_path_factory.mktemp("home"))
    shell.json("ingest", folder, code=3)
    yield shell
    shell.run("down")


@pytest.fixture(scope="module")
def read_again(base: Shell) -> Any:
    """What a backfill of everything under another recipe said."""
    return base.json("backfill", "--all", *OTHER, "--go")


def shown(base: Shell) -> dict[int, int]:
    """Editions by document."""
    return {one["id"]: one["edition_id"] for one in base.json("status") if one["edition_id"]}


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ([], "Say which documents"),
        (["--status", "partial"], "No document matches"),
        (["--source", "*", "--go"], "--all"),
        (["--all", "--profile", "nonsense"], "There is no profile 'nonsense'"),
        (["--verdict", "splendid"], "there is no 'splendid'"),
        (["--doc", "99"], "There is no document '99'"),
        (["compare", "99"], "There is no backfill 99"),
    ],
)
def test_what_is_not_there_is_told_in_a_line_and_ends_with_2(
    base: Shell, arguments: list[str], told: str
) -> None:
    done = base.run("backfill", *arguments)
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_a_dry_run_counts_and_changes_nothing(base: Shell) -> None:
    plan = base.json("backfill", "--all", *OTHER)
    assert (plan["documents"], plan["pages"], plan["to_read"]) == (2, 3, 3)
    assert plan["engine_minutes"] > 0
    assert "Nothing was changed. Add --go" in base.run("backfill", "run", "--all", *OTHER).stdout
    assert base.run("backfill", "compare").returncode == 2
    assert base.json("backfill", "--doc", "a.pdf")["to_read"] == 0


def test_what_a_backfill_read_is_compared_promoted_and_rolled_back(base: Shell, read_again: Any) -> None:
    assert read_again["standing"] == {"documents": 2, "unfinished": 0, "failed": 0, "waiting": 2}
    assert read_again["exit_code"] == 0
    before = shown(base)
    compared = base.json("backfill", "compare")
    assert {one["name"].rpartition("/")[2]: one["pages"] for one in compared} == {"a.pdf": 2, "b.pdf": 1}
    assert all(one["new_edition"] and not one["is_shown"] for one in compared)
    (first,) = base.json("backfill", "promote", "--source", "*a.pdf")["documents"]
    assert {one["document_id"] for one in base.json("backfill", "compare") if one["is_shown"]} == {first}
    assert "1 document shown as the backfill read them." in base.run("backfill", "promote").stdout
    assert base.json("backfill", "rollback", read_again["backfill"]) == {"documents": sorted(before)}
    assert shown(base) == before


def test_the_same_again_has_nothing_to_read(base: Shell, read_again: Any) -> None:
    done = base.run("backfill", "--all", *OTHER, "--go")
    assert done.returncode == 0
    assert "2 documents; 2 read, but not shown yet" in done.stdout
    assert base.json("backfill", "--all", *OTHER)["to_read"] == 0


def test_a_sound_ledger_ends_maintain_with_0_and_a_broken_one_with_3(base: Shell) -> None:
    done = base.run("maintain")
    assert (done.returncode, done.stderr) == (0, "")
    assert "The ledger holds together." in done.stdout
    database = Database(embedded.start(Path(base.home)))
    document = min(shown(base))
    for status, code in (("pending", 3), ("complete", 0)):
        change = sa.text(f"UPDATE document SET status = '{status}' WHERE id = {document}")
        database.run(lambda conn, change=change: conn.execute(change))  # type: ignore[misc]
        report = base.json("maintain", code=code)
        assert [one["invariant"] for one in report["violations"]] == ["pending-without-work"] * (code == 3)
    database.close()


def test_purged_pictures_are_made_again(base: Shell) -> None:
    assert base.json("maintain", "--images-days", 0)["images"] == 3
    done = base.json("backfill", "--doc", "b.pdf", "--again", "--go")
    assert (done["plan"]["to_read"], done["standing"]["failed"]) == (1, 0)
    assert base.json("maintain", "--images-days", 0)["images"] == 1
