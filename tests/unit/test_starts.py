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
