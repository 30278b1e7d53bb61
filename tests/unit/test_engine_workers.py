import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import psutil
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from models.engine import OcrRequest
from models.errors import (
    Code,
    ConfigurationError,
    EngineUnavailable,
    EnvironmentFault,
    PageFailed,
    PictureGone,
)
from models.geometry import Box
from models.profile import Profile
from models.profiles import get
from tasks.work.engines import open_engine
from tasks.work.engines.workers import WorkerEngine, require
from tasks.work.lines import Line
from tasks.work.metrics import cer
from tests import factories
from tests.unit import pages

pytestmark = pytest.mark.slow

PROFILE = get("ppocr")


class Scripted:
    """A library that does what a comment in the page image says: crash, hang, tell its pid or read it."""

    name = "scripted 1"

    def lines(self, picture: bytes) -> list[Line]:
        with Image.open(io.BytesIO(picture)) as image:
            order = image.info["order"]
        if order == "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        if order == "hang":
            time.sleep(60)
        said = str(os.getpid()) if order == "pid" else order
        return [Line(said, Box(0, 0, 100, 20), 1.0)]


@contextmanager
def _scripted(jobs: int = 1, profile: Profile = PROFILE) -> Iterator[WorkerEngine]:
    engine = WorkerEngine(profile, jobs, Scripted, {"scripted": "1"})
    try:
        yield engine
    finally:
        engine.close()


def _page(tmp_path: Path, order: str) -> OcrRequest:
    page = pages.made(pages.born_digital(), tmp_path, "ignore")
    comment = PngInfo()
    comment.add_text("order", order)
    picture = factories.picture_bytes(Image.new("L", (200, 100), 255), pnginfo=comment)
    return replace(page, path=factories.write(tmp_path / order, picture))


def test_a_crash_in_native_code_costs_its_page_only_and_can_be_tried_again(tmp_path: Path) -> None:
    with _scripted() as engine:
        crashed = engine.submit(_page(tmp_path, "crash"))
        with pytest.raises(EngineUnavailable) as caught:
            crashed.result(120)
        assert caught.value.code is Code.WORKER_DIED
        assert engine.submit(_page(tmp_path, "next")).result(120).text == "next"


def test_a_page_that_hangs_is_killed_after_the_profile_s_time(tmp_path: Path) -> None:
    with _scripted(profile=PROFILE.model_copy(update={"timeout_s": 0.5})) as engine:
        with pytest.raises(PageFailed) as caught:
            engine.submit(_page(tmp_path, "hang")).result(120)
        assert caught.value.code is Code.OCR_TIMEOUT


def test_a_page_whose_picture_is_gone_says_so(tmp_path: Path) -> None:
    with _scripted() as engine:
        gone = replace(_page(tmp_path, "x"), path=tmp_path / "gone")
        with pytest.raises(PictureGone):
            engine.submit(gone).result(120)


def test_close_cancels_what_is_in_flight_and_leaves_no_worker(tmp_path: Path) -> None:
    with _scripted() as engine:
        worker = int(engine.submit(_page(tmp_path, "pid")).result(120).text)
        flying = engine.submit(_page(tmp_path, "hang"))
        time.sleep(0.2)
    with pytest.raises(CancelledError):
        flying.result(120)
    assert not psutil.pid_exists(worker) or psutil.Process(worker).status() == psutil.STATUS_ZOMBIE


def test_facts_name_the_library_and_slots_the_workers() -> None:
    with _scripted(jobs=2) as engine:
        assert (engine.name, engine.slots, engine.facts()) == ("ppocr", 2, {"scripted": "1"})


def _read_in_an_empty_home(reader: str, home: Path) -> list[str]:
    """What a fresh process with this reader reads, run where all that it writes would show."""
    home.mkdir()
    picture = factories.write(
        home.parent / "in.png", factories.picture_bytes(factories.picture("Hello picture"))
    )
    module, name = reader.rsplit(".", 1)
    code = (
        f"import sys, pathlib; from {module} import {name} as Reader;"
        "print(*(line.text for line in Reader().lines(pathlib.Path(sys.argv[1]).read_bytes())))"
    )
    places = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "TMPDIR"), str(home))
    done = subprocess.run(
        [sys.executable, "-c", code, str(picture)],
        env=os.environ | places,
        cwd=home,
        check=True,
        capture_output=True,
    )
    return done.stdout.decode().split()


def test_ppocr_reads_in_an_empty_home_and_writes_nothing_there(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert _read_in_an_empty_home("tasks.work.engines.ppocr.FasterPaddle", home) == ["Hello", "picture"]
    assert not list(home.iterdir())


@pytest.mark.slow
def test_rapidocr_reads_in_an_empty_home_and_writes_nothing_there(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    home = tmp_path / "home"
    assert _read_in_an_empty_home("tasks.work.engines.rapidocr.RapidReader", home) == ["Hello", "picture"]
    assert not list(home.iterdir())


def _read(profile: Profile, page: OcrRequest) -> str:
    engine = open_engine(profile, 1)
    try:
        return engine.submit(page).result(120).text
    finally:
        engine.close()


def test_ppocr_reads_a_page_in_its_workers(tmp_path: Path) -> None:
    text = _read(PROFILE, pages.made(pages.born_digital(), tmp_path, "ignore"))
    assert cer("".join(pages.LINES), text) < 0.02


@pytest.mark.slow
def test_rapidocr_reads_a_page_behind_the_same_interface(tmp_path: Path) -> None:
    pytest.importorskip("rapidocr")
    text = _read(get("rapidocr"), pages.made(pages.born_digital(), tmp_path, "ignore"))
    assert cer("".join(pages.LINES), text) < 0.02


def test_a_missing_package_is_named_with_what_to_type() -> None:
    with pytest.raises(EnvironmentFault, match="Type: pip install") as caught:
        require("a_package_that_is_not_there", "Type: pip install it")
    assert caught.value.code is Code.PACKAGE_MISSING


def test_the_scripted_engine_is_not_opened_by_a_profile() -> None:
    with pytest.raises(ConfigurationError):
        open_engine(PROFILE.model_copy(update={"engine": "fake"}), 1)
