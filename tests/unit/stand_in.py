"""A program to be started in vLLM's place: takes its command line and serves the scripted double.

    stand_in.py -m vllm.entrypoints.cli.main serve MODEL --served-model-name NAME --port N …

MODEL is a folder. A word in its file `mood` changes how the server does: wedged, well, dead, grow, exit. Its
file `answers.json` says what is read of which picture, by SHA-256; of others nothing is read for a minute.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm
from tasks.work.doubles.vllm_server.app import Mood

LOOK_S = 0.05


def program(folder: Path) -> Path:
    """An executable that runs this module, to stand in for the Python that vLLM is installed in."""
    path = folder / "python"
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -m tests.unit.stand_in "$@"\n')
    path.chmod(0o755)
    return path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-m")
    parser.add_argument("verb")
    parser.add_argument("model", type=Path)
    parser.add_argument("--served-model-name")
    parser.add_argument("--port", type=int)
    parser.add_argument("--fails", action="store_true")
    told, _ = parser.parse_known_args()
    if told.fails:
        sys.exit("CUDA error: out of memory")
    mood = told.model / "mood"
    kept: list[bytes] = []
    answers = told.model / "answers.json"
    script = (
        {sha: Said(text) for sha, text in json.loads(answers.read_text()).items()} if answers.exists() else {}
    )
    slow, model = Said("x", seconds=60), Model(name=told.served_model_name)
    with ScriptedVllm(script, default=slow, model=model, port=told.port) as server:
        while True:
            time.sleep(LOOK_S)
            word = mood.read_text() if mood.exists() else ""
            mood.unlink(missing_ok=True)
            if word == "exit":
                sys.exit(3)
            if word == "grow":
                kept.append(b"x" * 300_000_000)
            elif word:
                server.feel(Mood(word))


if __name__ == "__main__":
    main()
