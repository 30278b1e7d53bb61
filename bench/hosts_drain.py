"""One drain of one host: `python -m bench.hosts_drain STAGE`. It ends with the pictures that were read.

It begins when a line comes in, so that starting the process is not measured.
"""

import json
import os
import sys

from bench.hosts import PROFILE, TEXT
from flows.load import load
from flows.ocr import ocr
from flows.split import split
from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm

_LINGER_S = 3.0
_ANSWER_S = 0.2


def main() -> None:
    """Work off a stage as a flow without a Prefect server; pages are read at a server on this host."""
    flow = {"split": split, "ocr": ocr, "load": load}[sys.argv[1]]
    with ScriptedVllm(Said(TEXT, seconds=_ANSWER_S), model=Model(name=PROFILE)) as server:
        os.environ["PAGEMILL_OCR_URL"] = server.url
        print("ready", flush=True)
        sys.stdin.readline()
        flow.fn(profile=PROFILE, linger_s=_LINGER_S)
        print(json.dumps([image for entry in server.entries for image in entry.asked.images]))


if __name__ == "__main__":
    main()
