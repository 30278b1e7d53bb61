"""Ostrakon-VL-8B: a fine-tune of Qwen3-VL for shops, counters and kitchens; for photos, not for books.

Facts from the repository Ostrakon-VL/Ostrakon-VL and arXiv 2601.21342: a plain Qwen3-VL client, pictures
before the question. It has no format for documents: what it is asked, and the JSON it is held to, is ours.
"""

from models.profile import Profile
from models.profiles import serving
from models.profiles.ostrakon_tasks import TASKS
from models.vlm import LadderLimits, Pixels, Rung, Sampling, Vlm

_PICTURES = max(task.max_images for task in TASKS.values())

PROFILE = Profile(
    name="ostrakon",
    title="Ostrakon-VL 8B on a GPU (shops and kitchens)",
    engine="vllm",
    revision="Ostrakon/Ostrakon-VL-8B.1",
    licence="code Apache-2.0; weights Apache-2.0",
    scripts=frozenset({"latin", "han", "kana", "hangul", "cyrillic", "arabic", "greek", "hebrew", "thai"}),
    long_edge_px=1_536,
    min_pixels=262_144,
    max_pixels=4_194_304,
    grid_px=32,
    resolution="fixed",
    batch_pages=16,
    timeout_s=600.0,
    ladder=(
        Rung(
            kind="sampling",
            sampling={"temperature": 0.4, "top_p": 0.9},
            when=serving.LOOPS + serving.ODD,
        ),
        Rung(kind="larger", when=("empty-with-ink", "low-confidence")),
        Rung(kind="smaller", factor=0.6, when=(*serving.LOOPS, "truncated")),
    ),
    ladder_limits=LadderLimits(attempts=4, seconds=600.0, tokens=32_768),
    vlm=Vlm(
        served_name="ostrakon",
        weights="Ostrakon/Ostrakon-VL-8B",
        architecture="Qwen3VLForConditionalGeneration",
        tasks=TASKS,
        pixels=Pixels(patch_px=16, merge=2, min_pixels=65_536, max_pixels=4_194_304),
        sampling=Sampling(max_tokens=4_096, stop=("<|im_end|>", "<|endoftext|>")),
        context=40_960,
        prompt_tokens=300,
        most_in_flight=64,
        flags=(
            *serving.COMMON,
            serving.batched(32_768),
            serving.images(_PICTURES),
            serving.H200,
            *serving.QUANTISED,
            *serving.BREAKING,
        ),
        least_vllm="0.11.0",
        least_transformers="4.57.0",
        checked_with="vLLM 0.25.1 on an H200 (Qwen3-VL-8B architecture at full size, random weights)",
    ),
)
