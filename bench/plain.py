"""The same model in Transformers: what a server is compared with. Runs in the environment that holds vLLM.

    python bench/plain.py MODEL PICTURE… --tokens N [--batches 1,20] [--rounds 2] [--random]

Prints a JSON row for each batch size: requests a second when so many are generated together, the best that
plain Transformers can do with so many in flight. `--random`: weights are made up from the configuration.
"""

import argparse
import json
import sys
import time
from typing import Any

import torch
import transformers
from PIL import Image


def device() -> str:
    """cuda, or cpu where no GPU answers."""
    return "cuda" if torch.cuda.is_available() else "cpu"


def open_model(folder: str, *, is_random: bool) -> Any:
    """The model on the GPU in bfloat16, ready to generate; on the CPU, in float32, where there is none."""
    kind, place = transformers.AutoModelForImageTextToText, device()
    number = torch.bfloat16 if place == "cuda" else torch.float32
    if not is_random:
        return kind.from_pretrained(folder, dtype=number).to(place).eval()
    config = transformers.AutoConfig.from_pretrained(folder)
    with torch.device(place):
        torch.set_default_dtype(number)
        return kind.from_config(config).eval()


def main() -> None:
    """Generate and print."""
    wish = _arguments()
    model = open_model(wish.model, is_random=wish.random)
    processor = transformers.AutoProcessor.from_pretrained(wish.model)
    processor.tokenizer.padding_side = "left"
    content = [{"type": "image"}, {"type": "text", "text": wish.prompt}]
    text = processor.apply_chat_template(
        [{"role": "user", "content": content}], tokenize=False, add_generation_prompt=True
    )
    pictures = [Image.open(path).convert("RGB") for path in wish.pictures]

    def generate(batch: int, first: int = 0) -> None:
        images = [[pictures[(first + n) % len(pictures)]] for n in range(batch)]
        inputs = processor(text=[text] * batch, images=images, return_tensors="pt", padding=True).to(
            model.device
        )
        with torch.inference_mode():
            model.generate(**inputs, max_new_tokens=wish.tokens, min_new_tokens=wish.tokens, do_sample=False)
        if model.device.type == "cuda":
            torch.cuda.synchronize()

    generate(1)
    for batch in (int(part) for part in wish.batches.split(",")):
        started = time.perf_counter()
        for number in range(wish.rounds):
            generate(batch, number * batch)
        seconds = time.perf_counter() - started
        row = {"batch": batch, "requests": wish.rounds * batch, "wall_s": round(seconds, 2)}
        row["pages_per_s"] = round(wish.rounds * batch / seconds, 4)
        if model.device.type == "cuda":
            row["gpu_memory_mb"] = torch.cuda.max_memory_allocated() // 2**20
        sys.stdout.write(json.dumps(row) + "\n")
        sys.stdout.flush()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("pictures", nargs="+")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--batches", default="1,20")
    parser.add_argument("--rounds", type=int, default=2, help="so many batches of each size")
    parser.add_argument("--prompt", default="Describe the picture.")
    parser.add_argument("--random", action="store_true")
    return parser.parse_args()


if __name__ == "__main__":
    main()
