"""pagemill timings --cost, over a real run."""

import datetime as dt
import json

import pytest
from pydantic import SecretStr

from cli.choices import By
from cli.costs import show_costs
from cli.timing import show_timings
from db import telemetry
from models.cost import Price
from models.errors import Code, ConfigurationError
from models.settings import Settings
from models.stage import Stage
from models.telemetry import Sample
from tasks.work.engines.fake import FakeEngine
from tests.flows.climbing import GOOD, costing, page
from tests.flows.yard import Yard


@pytest.fixture
def settings(yard: Yard, postgres: str) -> Settings:
    return yard.settings.model_copy(update={"database_url": SecretStr(postgres)})


def told(capsys: pytest.CaptureFixture[str]) -> str:
    """All that was printed, its spaces made one."""
    return " ".join(capsys.readouterr().out.split())


def test_before_anything_was_read_there_is_nothing_to_pay(
    yard: Yard, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    show_costs(settings, None, By.STAGE, Price(2.69), as_json=False)
    assert "No page has been read yet" in told(capsys)


def test_a_run_says_what_its_pages_cost_and_what_limits_it(
    yard: Yard, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    page(yard, "a.pdf", "ONE", "TWO")
    yard.ingest(FakeEngine(default=costing(GOOD, seconds=2.0, tokens=700)))
    now = dt.datetime.now(dt.UTC)
    samples = [Sample("gpu:0", now, 0.93), Sample(f"stage:{Stage.OCR}", now, 1.0, queued=50, in_hand=8)]
    yard.database.run(lambda conn: telemetry.save(conn, 1, samples))
    show_costs(settings, None, By.RUN, Price(3.6, "$"), as_json=False)
    shown = told(capsys)
    assert "GPU s/1,000" in shown
    assert "ocr limits run 1" in shown
    assert "1 GPU 93% busy" in shown
    assert "700" in shown


def test_costs_are_figures_for_programs_too(
    yard: Yard, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    page(yard, "a.pdf", "ONE", "TWO")
    yard.ingest(FakeEngine(default=costing(GOOD, seconds=2.0, tokens=700)))
    show_costs(settings, str(yard.inbox / "a.pdf"), By.DOCUMENT, Price(1.0), as_json=True)
    report = json.loads(capsys.readouterr().out)
    (row,) = report["rows"]
    assert (row["pages"], row["tokens_out"], report["by"]) == (2, 1400, "document")
    assert row["gpu_s"] > 0


def test_a_document_that_is_not_there_is_said_so(yard: Yard, settings: Settings) -> None:
    with pytest.raises(ConfigurationError) as raised:
        show_costs(settings, "nothing.pdf", By.RUN, Price(1.0), as_json=False)
    assert raised.value.code is Code.NOT_FOUND


def test_timings_tell_what_gpus_did_below_the_table(
    yard: Yard, settings: Settings, capsys: pytest.CaptureFixture[str]
) -> None:
    page(yard)
    yard.ingest(FakeEngine(default=GOOD))
    sample = Sample("gpu:0", dt.datetime.now(dt.UTC), 0.93, memory_mb=81_920.0, power_w=612.0)
    yard.database.run(lambda conn: telemetry.save(conn, 1, [sample]))
    show_timings(settings, None, By.STAGE, as_json=False)
    assert "gpu:0: 93% busy (93% or more nine times in ten), 80.0 GiB at most, 612 W" in told(capsys)
