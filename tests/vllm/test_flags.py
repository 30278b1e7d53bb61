"""Flags that profiles give to `vllm serve` are flags that vLLM has: one it does not know ends the start."""

import json
import os
import subprocess

from models.profiles import PROFILES
from tests.vllm.install import PYTHON
from tests.vllm.real import ENVIRONMENT, PATIENCE_S

PARSE = """
import json, shlex, sys
from vllm.entrypoints.launchers.cli_args import make_arg_parser
from vllm.utils.argparse_utils import FlexibleArgumentParser
parser = make_arg_parser(FlexibleArgumentParser())
for flag in json.load(sys.stdin):
    parser.parse_args(["--model", "any", *shlex.split(flag)])
    print(flag)
"""


def test_every_flag_and_option_of_every_profile_is_known_to_vllm() -> None:
    served = [profile.vlm for profile in PROFILES.values() if profile.vlm]
    flags = sorted({one.flag for vlm in served for one in vlm.flags if one.state != "breaks"})
    done = subprocess.run(
        [str(PYTHON), "-c", PARSE],
        input=json.dumps(flags),
        env=os.environ | ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )
    assert [flag for flag in flags if flag not in done.stdout.splitlines()] == [], done.stderr[-2_000:]
