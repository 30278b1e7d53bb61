"""The `pagemill` command as a shell runs it."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PAGEMILL = [sys.executable, "-m", "cli.main"]


@dataclass(frozen=True)
class Shell:
    """Runs commands with a home of their own."""

    home: Path

    def run(self, *arguments: object, **environment: str) -> subprocess.CompletedProcess[str]:
        """The finished command with exit code, standard output and error."""
        return subprocess.run(
            [*PAGEMILL, *map(str, arguments)],
            env=self.environment(**environment),
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )

    def json(self, *arguments: object, code: int = 0) -> Any:
        """What the command prints with --json, ending with `code`."""
        done = self.run(*arguments, "--json")
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)

    def interrupted(self, *arguments: object, after: str) -> subprocess.CompletedProcess[str]:
        """The command, sent Ctrl-C as soon as a line holds `after`."""
        command = [*PAGEMILL, *map(str, arguments)]
        with subprocess.Popen(
            command, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        ) as process:
            assert process.stdout is not None
            seen = ""
            while after not in seen:
                line = process.stdout.readline()
                assert line, seen
                seen += line
            process.send_signal(signal.SIGINT)
            out, error = process.communicate(timeout=120)
        return subprocess.CompletedProcess(command, process.returncode, seen + out, error)

    def environment(self, **more: str) -> dict[str, str]:
        """Ours without what would lead elsewhere."""
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("PAGEMILL_", "PREFECT_"))}
        return kept | {"PAGEMILL_HOME": str(self.home)} | more
