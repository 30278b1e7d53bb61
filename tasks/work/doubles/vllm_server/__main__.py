"""Run a scripted server until interrupted; prints its URL when it listens."""

import argparse
import threading

from tasks.work.doubles.vllm_server import Model, Said, ScriptedVllm

WORDS = "The quick brown fox jumps over the lazy dog and reads the page aloud. "


def main() -> None:
    """One reply of `--tokens` tokens for every page, at the speed given."""
    parser = argparse.ArgumentParser(prog="python -m tasks.work.doubles.vllm_server", description=__doc__)
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument("--name", default="glm-ocr", help="served model name")
    parser.add_argument("--slots", type=int, default=32, help="requests that run at once")
    parser.add_argument("--tokens", type=int, default=256, help="tokens of each reply")
    parser.add_argument("--first-token-s", type=float, default=0.0)
    parser.add_argument("--token-s", type=float, default=0.0, help="seconds a token of one request")
    told = parser.parse_args()
    model = Model(name=told.name, first_token_s=told.first_token_s, token_s=told.token_s)
    text = (WORDS * (1 + told.tokens * 4 // len(WORDS)))[: told.tokens * 4]
    with ScriptedVllm(Said(text), model=model, slots=told.slots, port=told.port) as server:
        print(server.url, flush=True)  # noqa: T201
        try:
            threading.Event().wait()
        except KeyboardInterrupt:
            return


main()
