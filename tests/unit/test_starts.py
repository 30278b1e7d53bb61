"""What a start of the command leaves out: libraries that few runs need, and the search for garbage."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

_LOADED = """
import sys
import cli.ingesting, flows.lines
print([name for name in {names} if name in sys.modules])
"""


@pytest.mark.slow
def test_a_run_imports_nothing_that_only_a_migration_needs() -> None:
    code = _LOADED.format(names=["alembic", "mako"])
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


def test_a_command_looks_for_garbage_seldom(tmp_path: Path) -> None:
    code = "import gc; from cli.environment import enter; enter(); print(gc.get_threshold()[0] >= 50_000)"
    environ = os.environ | {"PAGEMILL_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "True"
