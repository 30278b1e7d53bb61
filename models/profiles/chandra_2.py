"""Chandra 2: a 4 B fine-tune of Qwen3.5, HTML with 19 kinds of blocks and boxes on a scale of 1000.

Facts from the package chandra-ocr 0.2.0. The vendor serves it with room for 18,000 tokens, which a picture of
6.29 megapixels (6,144 tokens) and a reply of 12,384 pass: here it has 20,480.
"""

from models.profiles import chandra_prompts as prompts
from models.profiles import chandra_terms as terms
from models.profiles import serving
from models.vlm import ServeFlag

_FLAGS = (
    *serving.COMMON,
    serving.batched(8_192),
    serving.images(1),
    serving.sequences(64),
    ServeFlag(
        flag='--mm-processor-kwargs \'{"min_pixels": 3136, "max_pixels": 6291456}\'',
        state="on",
        about="The pixels that the model was trained on; the processor's own limits reach higher.",
    ),
    ServeFlag(
        flag='--speculative-config \'{"method": "mtp", "num_speculative_tokens": 1}\'',
        state="option",
        option="mtp",
        about="The model's own draft layer: off by default at the vendor's too, who calls it unstable.",
    ),
    *serving.QUANTISED,
    ServeFlag(
        flag="--max-model-len 18000",
        state="breaks",
        about="The vendor's value: the largest pages and the longest replies do not fit together (400).",
    ),
    *serving.BREAKING,
)

PROFILE = terms.profile(
    name="chandra-2",
    title="Chandra 2, 4B, on a GPU",
    revision="datalab-to/chandra-ocr-2.1",
    temperatures=(0.2, 0.6),
    vlm=terms.vlm(
        weights="datalab-to/chandra-ocr-2",
        architecture="Qwen3_5ForConditionalGeneration",
        tasks=terms.tasks("chandra-2", prompts.LAYOUT_2, prompts.PLAIN_2),
        min_pixels=3_136,
        context=20_480,
        prompt_tokens=800,
        most_in_flight=128,
        box_scale=prompts.SCALE_2,
        flags=_FLAGS,
        least_vllm="0.17.0",
        least_transformers="5.2.0",
        checked_with="vLLM 0.32.0 on the CPU (a small model of the Qwen3.5 architecture)",
    ),
)
