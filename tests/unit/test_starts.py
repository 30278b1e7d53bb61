"""What a start of the command leaves out."""

import os
import subprocess
import sys
from pathlib import Path


def test_a_command_looks_for_garbage_seldom(tmp_path: Path) -> None:
    code = "import gc; from cli.environment import enter; enter(); print(gc.get_threshold()[0] >= 50_000)"
    environ = os.environ | {"PAGEMILL_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "True"


def test_what_is_left_at_the_end_is_not_looked_through(tmp_path: Path) -> None:
    # Registered before, so it runs after.
    code = (
        "import atexit, gc; atexit.register(lambda: print(gc.get_freeze_count() > 0)); "
        "from cli.environment import enter; enter()"
    )
    environ = os.environ | {"PAGEMILL_HOME": str(tmp_path)}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "True"
