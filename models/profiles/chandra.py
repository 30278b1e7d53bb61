"""Chandra 1: a 9 B fine-tune of Qwen3-VL, HTML with 15 kinds of blocks and boxes on a scale of 1024.

Facts from the package chandra-ocr 0.1.8 and the repository datalab-to/chandra. Its processor cuts pictures on
a grid of 32 pixels; the vendor's client snaps to 28 and has every picture resized twice.
"""

from models.profiles import chandra_prompts as prompts
from models.profiles import chandra_terms as terms
from models.profiles import serving

PROFILE = terms.profile(
    name="chandra",
    title="Chandra 1, 9B, on a GPU",
    revision="datalab-to/chandra.1",
    temperatures=(0.3, 0.6),
    vlm=terms.vlm(
        weights="datalab-to/chandra",
        architecture="Qwen3VLForConditionalGeneration",
        tasks=terms.tasks("chandra", prompts.LAYOUT_1, prompts.PLAIN_1),
        min_pixels=65_536,
        context=32_768,
        prompt_tokens=700,
        most_in_flight=64,
        box_scale=prompts.SCALE_1,
        flags=(
            *serving.COMMON,
            serving.batched(65_536),
            serving.images(1),
            serving.sequences(32),
            *serving.QUANTISED,
            *serving.BREAKING,
        ),
        least_vllm="0.11.0",
        least_transformers="4.57.0",
        checked_with="vLLM 0.25.1 on an H200 (Qwen3-VL-8B architecture at full size, random weights)",
    ),
)
