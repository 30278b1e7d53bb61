"""Units of systemd: one a process, without secrets, and those in deploy/ are what is written today."""

import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from flows.installation import systemd
from flows.installation.wish import Wish
from models.errors import Code, EnvironmentFault
from models.settings import load_settings
from tests.permissions import as_nobody

DEPLOY = Path(__file__).parents[2] / "deploy"
API = "http://prefect.example:4200/api"


def units(given: dict[str, str] | None = None, *, url: str | None = None, **wish: Any) -> dict[str, str]:
    settings = load_settings(home=Path("/var/lib/pagemill"), database_url=url)
    return systemd.units(settings, Wish(**wish), given or {}, "pagemill")


def example() -> dict[str, str]:
    """As for an installation in /opt/pagemill, on whatever host."""
    here = str(Path(sys.executable).parent)
    made = units(gpu="glm-ocr")
    return {
        name: text.replace(here, "/opt/pagemill/.venv/bin").replace(f"pu-{socket.gethostname()} ", "pu-%H ")
        for name, text in made.items()
    }


def test_there_is_a_unit_for_each_process() -> None:
    assert list(units()) == [f"pagemill-{name}.service" for name in ("postgres", "prefect", "worker-cpu")]
    assert list(units(gpu="glm-ocr"))[3:] == [
        "pagemill-serve-glm-ocr.service",
        "pagemill-worker-gpu.service",
    ]


def test_a_machine_whose_ocr_servers_are_named_gets_a_worker_for_them_and_no_server() -> None:
    settings = load_settings(home=Path("/var/lib/pagemill"), ocr_url="http://127.0.0.1:8000")
    made = systemd.units(settings, Wish(gpu="glm-ocr"), {}, "pagemill")
    assert list(made)[2:] == ["pagemill-worker-cpu.service", "pagemill-worker-gpu.service"]


def test_what_others_run_has_no_unit() -> None:
    own = units(url="postgresql://me@db/mill", theirs=API)
    assert list(own) == ["pagemill-worker-cpu.service"]
    assert f'Environment="PREFECT_API_URL={API}"' in own["pagemill-worker-cpu.service"]
    assert "pagemill-postgres" not in own["pagemill-worker-cpu.service"]


def test_no_secret_is_written_and_each_is_named_for_the_file_of_secrets() -> None:
    given = {"PAGEMILL_PREFECT_AUTH": "mill:hunter2", "PAGEMILL_OCR_API_KEY": "hunter2"}
    made = units(given, url="postgresql://me:hunter2@db/mill")
    for text in made.values():
        assert "hunter2" not in text
        assert "PAGEMILL_DATABASE_URL" in text.split("readable by root alone")[1].splitlines()[0]
        assert "EnvironmentFile=-/etc/pagemill.env" in text


def test_a_persons_settings_go_into_the_units_and_the_rest_of_their_environment_does_not() -> None:
    text = units({"PAGEMILL_JOBS": "3", "EDITOR": "vi"})["pagemill-worker-cpu.service"]
    assert 'Environment="PAGEMILL_JOBS=3"' in text
    assert "EDITOR" not in text


def test_signs_that_systemd_would_read_are_written_twice() -> None:
    text = units({"PAGEMILL_PASSWORD_FILE": '/srv/100%/"x"'})["pagemill-worker-cpu.service"]
    assert 'Environment="PAGEMILL_PASSWORD_FILE=/srv/100%%/\\"x\\""' in text


def test_a_worker_starts_after_the_server_and_the_server_after_postgres() -> None:
    made = units()
    assert "After=network-online.target pagemill-postgres.service\n" in made["pagemill-prefect.service"]
    assert "pagemill-prefect.service\n" in made["pagemill-worker-cpu.service"]


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_understands_the_units(tmp_path: Path) -> None:
    settings = load_settings(home=tmp_path)
    paths = systemd.write(settings, Wish(gpu="glm-ocr"), {}, tmp_path / "units")
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, paths)], capture_output=True, text=True, check=False
    )
    assert [line for line in done.stderr.splitlines() if "pagemill" in line and "Failed" not in line] == []


def test_the_examples_are_what_is_written_today() -> None:
    there = {path.name: path.read_text() for path in (DEPLOY / "systemd").iterdir()}
    assert there == example()


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    tmp_path.chmod(0o555)
    settings = load_settings(home=tmp_path)
    with as_nobody(tmp_path), pytest.raises(EnvironmentFault, match="--into") as caught:
        systemd.write(settings, Wish(), {}, tmp_path / "units")
    assert caught.value.code is Code.HOME_UNWRITABLE
