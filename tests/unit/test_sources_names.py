"""Which names are nobody's documents, which places are URLs, and when a remote file was changed."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from models.document import SourceFile
from models.errors import ConfigurationError
from tasks.work import remote
from tasks.work.sources_names import LINK, LOOP, OUTPUT, SPECIAL, ignored_name, passed_over

NOON = dt.datetime(2026, 5, 1, 12, tzinfo=dt.UTC)
NOON_NS = int(NOON.timestamp()) * 1_000_000_000


class Store:
    """A store whose one file has the facts that a test gives it."""

    protocol = "memory"

    def __init__(self, **info: object) -> None:
        self._info = {"name": "/a.pdf", "type": "file", "size": 7} | info

    def info(self, _: str) -> dict[str, object]:
        """What such a store tells of the file."""
        return self._info


def changed(monkeypatch: pytest.MonkeyPatch, **info: object) -> SourceFile:
    """The file as a store tells of it, whose own name for the time of a change is in `info`."""
    monkeypatch.setattr("fsspec.filesystem", lambda *_, **__: Store(**info))
    return remote.facts("memory://a.pdf")


@pytest.mark.parametrize(
    "name",
    [
        "letter.pdf",
        "Thumbs.db.pdf",
        "a~b.pdf",
        "part.pdf",
        "report.part.pdf",
        "tmp",
        "~notes.pdf",
        "$recycle.pdf",
        "lost and found",
        "desktop.ini.png",
        "übersicht.tif",
        "…dots.pdf",
    ],
)
def test_names_that_only_look_odd_are_documents(name: str) -> None:
    assert ignored_name(name) is None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("Thumbs.db", "ignored-system"),
        ("DESKTOP.INI", "ignored-system"),
        ("__MACOSX", "ignored-system"),
        ("@eaDir", "ignored-system"),
        ("$RECYCLE.BIN", "ignored-system"),
        ("System Volume Information", "ignored-system"),
        ("lost+found", "ignored-system"),
        ("#recycle", "ignored-system"),
        (".hidden", "ignored-hidden"),
        ("._letter.pdf", "ignored-hidden"),
        (".DS_Store", "ignored-hidden"),
        (".part", "ignored-hidden"),
        ("~$letter.docx", "ignored-temporary"),
        ("scan.pdf.PART", "ignored-temporary"),
        ("scan.crdownload", "ignored-temporary"),
        ("scan.tmp", "ignored-temporary"),
        ("letter.pdf~", "ignored-temporary"),
        (".x.swp", "ignored-hidden"),
        ("x.swp", "ignored-temporary"),
    ],
)
def test_what_systems_and_editors_leave_is_told_by_its_kind(name: str, code: str) -> None:
    why = ignored_name(name)
    assert why is not None
    assert why[0] == code
    assert why[1].endswith(".")


@given(st.text("aZ.~$#tmpPART", max_size=12))
def test_the_case_of_letters_never_decides(name: str) -> None:
    assert ignored_name(name) == ignored_name(name.upper()) == ignored_name(name.lower())


@pytest.mark.parametrize("why", [SPECIAL, OUTPUT, LINK, LOOP])
def test_what_is_passed_over_is_a_problem_with_place_code_and_sentence(why: tuple[str, str]) -> None:
    problem = passed_over("/in/x", why)
    assert (problem.uri, problem.code, problem.message) == ("/in/x", *why)
    assert problem.code.startswith("ignored-")


@pytest.mark.parametrize(
    ("place", "is_url"),
    [
        ("s3://bucket/folder", True),
        ("SFTP://host/folder", True),
        ("memory://x", True),
        ("a+b.c-d://x", True),
        ("/home/ada/in", False),
        ("in:out", False),
        ("C:\\scans", False),
        ("c://scans", False),
        ("./s3://x", False),
        ("://x", False),
        ("3s://x", False),
        ("", False),
    ],
)
def test_urls_are_told_from_paths(place: str, is_url: bool) -> None:
    assert remote.is_url(place) is is_url


@pytest.mark.parametrize(
    "info",
    [
        {"LastModified": NOON},
        {"last_modified": NOON.replace(tzinfo=None)},
        {"mtime": NOON.timestamp()},
        {"modified": NOON.astimezone(dt.timezone(dt.timedelta(hours=9)))},
        {"updated": int(NOON.timestamp())},
        {"mtime": None, "created": NOON},
    ],
)
def test_the_moment_of_a_change_is_the_same_whatever_a_store_calls_it(
    info: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed(monkeypatch, **info) == SourceFile("memory://a.pdf", 7, NOON_NS)


@pytest.mark.parametrize("info", [{}, {"updated": "2026-05-01"}, {"mtime": None}])
def test_a_store_that_tells_no_moment_has_files_from_the_beginning_of_time(
    info: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert changed(monkeypatch, **info).mtime_ns == 0


@pytest.mark.parametrize("now", [{"size": 8, "mtime": 5.0}, {"size": 7, "mtime": 6.0}])
def test_a_file_of_another_size_or_moment_has_changed(
    now: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = changed(monkeypatch, size=7, mtime=5.0)
    remote.check_unchanged(listed)
    changed(monkeypatch, **now)
    with pytest.raises(remote.SourceBusy, match="changed while it was read"):
        remote.check_unchanged(listed)


def test_a_file_that_has_become_a_folder_is_worth_another_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(remote.SourceBusy, match="no longer a file"):
        changed(monkeypatch, type="directory")


@pytest.mark.parametrize("root", ["no url", "", "nothing-knows-this://x"])
def test_a_root_that_is_no_known_url_is_refused(root: str) -> None:
    with pytest.raises(ConfigurationError):
        remote.normal(root)
