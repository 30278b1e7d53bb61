"""Notes of the earlier stages are told in sentences."""

import pytest

from models.notes import REPAIRS
from models.verdict import Severity
from tasks.work.checks.remarks import remark
from tasks.work.engines.reader import TURNED, UNSURE
from tasks.work.engines.vllm.reader import SHRUNK
from tasks.work.textlayer import REJECTED, UNPROVEN
from tests.unit.readings import PROSE, found, page_of


@pytest.mark.parametrize(
    "code", [*sorted(REPAIRS), UNSURE, UNPROVEN, SHRUNK, f"{TURNED}270", f"{REJECTED}invisible"]
)
def test_every_note_of_ours_has_words_of_its_own(code: str) -> None:
    assert remark(code) != remark("no note of ours")
    assert remark(code).endswith(".")


def test_a_figure_or_fault_is_told() -> None:
    assert remark("turned-270") == "Degrees by which the page was turned to be read: 270."
    assert remark("layer-rejected:differs").endswith("was not used: differs.")


def test_a_note_comes_along_with_its_sentence_and_changes_no_verdict() -> None:
    finding = found(page_of(PROSE, notes=("turned-90",)), "turned-90")
    assert finding is not None
    assert (finding.severity, finding.message) == (
        Severity.INFO,
        "Degrees by which the page was turned to be read: 90.",
    )
