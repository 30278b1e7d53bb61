"""The same flows against a real Prefect server: recorded, cached by content, equal in result."""

import json
import socket
import urllib.request

import pytest

from models.document import DocumentStatus
from tests import factories
from tests.e2e.shell import Shell
from tests.flows.prefects import artifacts_of
from tests.flows.yard import Yard

pytestmark = pytest.mark.slow


def test_a_run_with_a_server_is_recorded_and_ends_the_same(yard: Yard, server: str, postgres: str) -> None:
    factories.write(yard.inbox / "a.pdf", factories.pdf("Words that a machine can read"))
    run_id = _ingest(yard, server, postgres)
    assert yard.document("a.pdf").status is DocumentStatus.COMPLETE
    (run,) = yard.rows("run", id=run_id)
    assert run.outcome == "ok"
    with urllib.request.urlopen(f"{server}/flow_runs/{run.prefect_run_id}") as answer:
        flow_run = json.load(answer)
    assert flow_run["name"].startswith(f"ingest {socket.gethostname()} 20")
    assert (flow_run["state_type"], flow_run["state"]["name"]) == ("COMPLETED", "Completed")
    assert flow_run["state"]["message"] == "1 page of 1 document read."
    assert {row.prefect_run_id for row in yard.rows("stage_run")} == {run.prefect_run_id}


def test_the_screen_shows_the_stages_of_a_run_and_what_failed(yard: Yard, server: str, postgres: str) -> None:
    factories.write(yard.inbox / "good.pdf", factories.pdf("Words that a machine can read"))
    factories.write(yard.inbox / "torn.pdf", b"%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\n")
    run_id = _ingest(yard, server, postgres, code=3)
    (run,) = yard.rows("run", id=run_id)
    shown = artifacts_of(server, run.prefect_run_id)
    stages = [row["stage"] for row in shown["ingest-stages"]]
    assert stages == ["split", "preprocess", "ocr", "validate", "load"]
    assert "torn.pdf" in shown["ingest-failures"]
    assert "`zero-pages`" in shown["ingest-failures"]


def test_what_prefect_keeps_is_used_again_by_content(yard: Yard, server: str, postgres: str) -> None:
    factories.write(yard.inbox / "b.pdf", factories.pdf("Another page to read"))
    _ingest(yard, server, postgres)
    images = yard.rows("page_image")
    for table in ("document", "run"):
        yard.clear(table)
    # The name is another, the bytes are the same: so are the manifests that Prefect kept.
    (yard.inbox / "b.pdf").rename(yard.inbox / "c.pdf")
    _ingest(yard, server, postgres)
    assert yard.document("c.pdf").status is DocumentStatus.COMPLETE
    assert [row.sha256 for row in yard.rows("page_image")] == [row.sha256 for row in images]
    kept = [path for path in (yard.home / "prefect" / "storage").iterdir() if path.is_file()]
    assert sorted(path.name.split("-")[0] for path in kept) == ["preprocess", "split"]


def _ingest(yard: Yard, server: str, postgres: str, code: int = 0) -> int:
    """The command as a user with both servers runs it; the id of its run."""
    env = {"PAGEMILL_DATABASE_URL": postgres, "PAGEMILL_VECTORS": "false", "PREFECT_API_URL": server}
    done = Shell(yard.home).run("ingest", yard.inbox, **env)
    assert done.returncode == code, done.stderr
    run_id: int = yard.rows("run")[-1].id
    return run_id
