"""`pagemill` with one more profile, which nobody else has: what benchmarks of whole runs start.

PAGEMILL_BENCH_PROFILE='{"name": "bench", …}' python -m bench.child ingest FOLDER --profile bench
"""

import os
import runpy
import sys
from collections.abc import Mapping

from models import profiles
from models.profile import Profile

VARIABLE = "PAGEMILL_BENCH_PROFILE"


def environ(profile: Profile, **more: str) -> dict[str, str]:
    """The environment of a child that knows `profile`, and believes servers that do not read for real."""
    known = {VARIABLE: profile.model_dump_json(by_alias=True), "PAGEMILL_OCR_GOLDEN": "false"}
    # Where the machine that measures forbids bytecode files, every start would pay for compiling again.
    mine = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**mine, **known, **more}


def command(*words: str) -> list[str]:
    """`pagemill WORDS…` as such a child."""
    return [sys.executable, "-m", "bench.child", *words]


def admit(variables: Mapping[str, str]) -> Profile:
    """Make the profile of these variables known in this process."""
    profile = Profile.model_validate_json(variables[VARIABLE])
    profiles.PROFILES[profile.name] = profile
    return profile


if __name__ == "__main__":
    admit(os.environ)
    # Started as a command is: nothing below the command line imports it.
    runpy.run_module("cli.main", run_name="__main__")
