"""Exit codes: which error and which documents end a command with which number."""

from itertools import pairwise
from pathlib import Path

import pytest

from cli.exits import MEANINGS, Exit, exit_of_documents, exit_of_error
from models import errors
from models.document import DocumentStatus

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ConfigurationError("x", errors.Code.UNKNOWN_PROFILE), Exit.USAGE),
        (errors.ConfigurationError("x", errors.Code.NOT_FOUND), Exit.USAGE),
        (errors.EnvironmentFault("x", errors.Code.HOME_UNWRITABLE), Exit.ENVIRONMENT),
        (errors.EnvironmentFault("x", errors.Code.PACKAGE_MISSING), Exit.ENVIRONMENT),
        (errors.DatabaseUnreachable("x"), Exit.ENVIRONMENT),
        (errors.DatabaseBusy("x"), Exit.ENVIRONMENT),
        (errors.StoreFull("x"), Exit.ENVIRONMENT),
        (errors.EngineUnavailable("x"), Exit.ENVIRONMENT),
        (errors.SourceBusy("x"), Exit.ENVIRONMENT),
        (errors.SourceGone("x"), Exit.ENVIRONMENT),
        (errors.SourceForbidden("x"), Exit.ENVIRONMENT),
        (errors.DocumentRejected("x"), Exit.INCOMPLETE),
        (errors.PageFailed("x"), Exit.INCOMPLETE),
        (errors.PagemillError("x"), Exit.INTERNAL),
    ],
    ids=lambda value: type(value).__name__,
)
def test_every_family_of_errors_has_its_exit_code(error: errors.PagemillError, code: Exit) -> None:
    assert exit_of_error(error) is code


def test_whole_documents_end_with_0() -> None:
    assert exit_of_documents([DocumentStatus.COMPLETE, DocumentStatus.COMPLETE]) is Exit.OK


def test_a_document_that_needs_review_is_whole() -> None:
    assert exit_of_documents([DocumentStatus.NEEDS_REVIEW]) is Exit.OK


@pytest.mark.parametrize("status", ["partial", "rejected", "failed", "pending"])
def test_one_document_that_is_not_whole_ends_with_3(status: str) -> None:
    assert exit_of_documents([DocumentStatus.COMPLETE, DocumentStatus(status)]) is Exit.INCOMPLETE


def test_no_documents_at_all_are_no_failure() -> None:
    assert exit_of_documents([]) is Exit.OK


def test_the_codes_are_those_that_scripts_rely_on() -> None:
    assert {code.name: code.value for code in Exit} == {
        "OK": 0,
        "INTERNAL": 1,
        "USAGE": 2,
        "INCOMPLETE": 3,
        "ENVIRONMENT": 4,
        "INTERRUPTED": 130,
        "PIPE_CLOSED": 141,
    }


def test_every_code_has_a_meaning_in_order() -> None:
    assert list(MEANINGS) == list(Exit)
    assert all(one < other for one, other in pairwise(MEANINGS))


def test_every_code_is_documented() -> None:
    text = (ROOT / "docs" / "cli.md").read_text("utf-8")
    assert [code for code in Exit if f"| {code.value} |" not in text] == []
