"""The tree of errors: drawn as it is, with codes that last and survive the way out of a child."""

import pickle
import re
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from models import errors
from models.errors import (
    PASSING,
    Code,
    ConfigurationError,
    DatabaseBusy,
    DatabaseUnreachable,
    DocumentRejected,
    EngineUnavailable,
    EnvironmentFault,
    PageFailed,
    PagemillError,
    PermanentError,
    PictureGone,
    ScanStopped,
    SourceBusy,
    SourceForbidden,
    SourceGone,
    StoreFull,
    TransientError,
)

DEFAULTS = {
    ConfigurationError: Code.CONFIGURATION,
    EnvironmentFault: Code.ENVIRONMENT,
    DatabaseUnreachable: Code.DATABASE_UNREACHABLE,
    ScanStopped: Code.ROOT_UNAVAILABLE,
    TransientError: Code.INTERNAL,
    SourceBusy: Code.SOURCE_BUSY,
    SourceGone: Code.SOURCE_GONE,
    SourceForbidden: Code.SOURCE_FORBIDDEN,
    DatabaseBusy: Code.DATABASE_BUSY,
    StoreFull: Code.STORE_FULL,
    PictureGone: Code.PICTURE_GONE,
    EngineUnavailable: Code.ENGINE_UNAVAILABLE,
    PermanentError: Code.INTERNAL,
    DocumentRejected: Code.CORRUPT,
    PageFailed: Code.RENDER_FAILED,
}


def below(kind: type[PagemillError], depth: int = 0) -> Iterator[tuple[int, str]]:
    """Depth and name of a class and all that are derived from it, in the order they are defined."""
    yield depth, kind.__name__
    for child in kind.__subclasses__():
        if child.__module__ == errors.__name__:
            yield from below(child, depth + 1)


def drawn() -> list[tuple[int, str]]:
    """Depth and name of each class in the module's own picture."""
    lines = (errors.__doc__ or "").splitlines()
    found = (re.match(r"([│├└─ ]*)([A-Z]\w+)(?:\s{2,}|$)", line) for line in lines)
    return [(len(match[1]) // 4, match[2]) for match in found if match]


def fail(kind: type[PagemillError], code: Code) -> None:
    raise kind("Seite 3: kein Bild — 安", code)


def test_the_tree_is_drawn_as_it_is() -> None:
    assert drawn() == list(below(PagemillError))


def test_every_class_is_tried_here() -> None:
    assert {kind.__name__ for kind in DEFAULTS} | {"PagemillError"} == {name for _, name in drawn()}


@pytest.mark.parametrize(("kind", "code"), DEFAULTS.items())
def test_an_error_without_a_code_of_its_own_has_its_class_s(kind: type[PagemillError], code: Code) -> None:
    assert kind("Something.").code is code


@pytest.mark.parametrize("kind", DEFAULTS)
def test_an_error_says_its_message_and_nothing_more(kind: type[PagemillError]) -> None:
    error = kind("The file is empty.", Code.EMPTY)
    assert (str(error), error.message, error.code) == ("The file is empty.",) * 2 + (Code.EMPTY,)


@pytest.mark.parametrize("kind", [PagemillError, *DEFAULTS])
@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_error_keeps_class_message_and_code(kind: type[PagemillError], protocol: int) -> None:
    again = pickle.loads(pickle.dumps(kind("Seite 3: 安", Code.TOO_LARGE), protocol))
    assert (type(again), again.message, str(again), again.code) == (
        kind,
        "Seite 3: 安",
        "Seite 3: 安",
        Code.TOO_LARGE,
    )


def test_an_error_of_a_child_process_arrives_with_its_code() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        raised = pool.submit(fail, PageFailed, Code.OCR_TIMEOUT).exception(timeout=120)
    assert isinstance(raised, PageFailed)
    assert (raised.code, raised.message) == (Code.OCR_TIMEOUT, "Seite 3: kein Bild — 安")


def test_a_failed_document_and_a_failed_page_are_no_passing_matter() -> None:
    assert not issubclass(PermanentError, TransientError)
    for kind in (DocumentRejected, PageFailed):
        assert kind("Something.").code not in PASSING


@pytest.mark.parametrize("kind", [kind for kind in DEFAULTS if issubclass(kind, TransientError)])
def test_what_used_up_its_tries_is_tried_again_at_the_next_scan(kind: type[TransientError]) -> None:
    # TransientError alone says nothing of the cause.
    assert (kind("Something.").code in PASSING) == (kind is not TransientError)


@pytest.mark.parametrize(
    "code", [Code.QUARANTINED, Code.INTERNAL, Code.NEEDS_PASSWORD, Code.SPLIT_TIMEOUT, Code.UNKNOWN_PROFILE]
)
def test_what_lies_in_the_document_or_in_the_question_does_not_pass(code: Code) -> None:
    assert code not in PASSING


def test_codes_are_in_kebab_case_and_unique() -> None:
    # A second name for an equal value is an alias, which __members__ shows and iteration hides.
    values = [code.value for code in Code.__members__.values()]
    assert [value for value in values if not re.fullmatch("[a-z]+(-[a-z]+)*", value)] == []
    assert len(values) == len(set(values))


def test_a_code_is_typed_as_it_is_named() -> None:
    assert [code.value for code in Code] == [name.lower().replace("_", "-") for name in Code.__members__]


def test_only_the_two_families_leave_the_code_to_whoever_raises_them() -> None:
    silent = {kind for kind in DEFAULTS if "default" not in vars(kind)}
    assert silent == {TransientError, PermanentError}
