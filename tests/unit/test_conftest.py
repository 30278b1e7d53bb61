"""The suite leaves the knowledge base of whoever runs it alone."""

import os
import pwd
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_no_test_finds_the_home_or_the_settings_of_whoever_runs_it() -> None:
    assert Path.home() != Path(pwd.getpwuid(os.getuid()).pw_dir)
    assert [name for name in os.environ if name.startswith("PAGEMILL_")] == []


@pytest.mark.slow
def test_a_test_that_uses_the_default_home_fails_with_a_sentence(tmp_path: Path) -> None:
    test = tmp_path / "test_forgetful.py"
    test.write_text(
        "from models.settings import Settings\n\n"
        "def test_forgetful():\n"
        "    Settings().root.mkdir(parents=True)\n\n"
        "def test_next():\n"
        "    pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "--rootdir", str(tmp_path), str(test)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert "Give it a PAGEMILL_HOME of its own." in done.stdout
    assert "2 passed, 1 error" in done.stdout
