"""A command that works by itself where an installation runs says so."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from cli.beside import beside
from flows.installation import services, state
from models.settings import Settings, load_settings
from tasks.work import processes

URL = "http://127.0.0.1:4200/api"


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(home=tmp_path)


@pytest.fixture
def installed(settings: Settings) -> Iterator[Settings]:
    """A home whose server, or what stands in for it, runs."""
    folder = state.run_folder(settings)
    processes.start(services.SERVER, ["sleep", "60"], dict(os.environ), folder)
    state.remember_api_url(folder, URL)
    yield settings
    processes.stop(services.SERVER, folder, 5)


def test_without_an_installation_nothing_is_said(settings: Settings) -> None:
    assert beside(settings) == ""


@pytest.mark.slow
def test_beside_an_installation_it_is_said_how_its_screen_shows_the_run(installed: Settings) -> None:
    assert beside(installed).endswith(f"export PREFECT_API_URL={URL}")


@pytest.mark.slow
def test_a_run_that_is_on_the_screen_needs_no_words(installed: Settings) -> None:
    with temporary_settings({PREFECT_API_URL: URL}):
        assert beside(installed) == ""


def test_a_server_that_runs_no_more_is_not_named(settings: Settings) -> None:
    state.run_folder(settings).mkdir(parents=True)
    state.remember_api_url(state.run_folder(settings), URL)
    assert beside(settings) == ""
