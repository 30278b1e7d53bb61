"""GLM-OCR: 0.9 B, made for documents, MIT. Whole pages to Markdown with HTML tables and LaTeX; no boxes.

Facts from the model card and the repository zai-org/GLM-OCR. Its prompts are exact: others loop. Its own SDK
sends a repetition penalty of 1.1, which invents table rows; here it is off but for the last retry.

Its processor counts every picture twice (two frames), so its limits of 12,544 and 11,760,000 pixels are half
that for a page. vLLM counts alike: under a limit of 4,096 x 28 x 28, 1240 x 1754 pixels were 2,027 tokens.
"""

from models.profile import Profile
from models.profiles import serving
from models.region import RegionKind
from models.vlm import (
    LadderLimits,
    Pixels,
    RepetitionDetection,
    Rung,
    Sampling,
    ServeFlag,
    Task,
    Vlm,
)

_FLAGS = (
    *serving.COMMON,
    serving.batched(32_768),
    serving.images(1),
    serving.H200,
    serving.FUSED,
    ServeFlag(
        flag='--speculative-config \'{"method": "mtp", "num_speculative_tokens": 1}\'',
        state="option",
        option="mtp",
        about="The model's own draft layer. Start-up failed with it under several versions of vLLM (#57631, "
        "#49856), and one test saw no gain without prefix caching: measure it.",
    ),
    *serving.QUANTISED,
    ServeFlag(
        flag='--speculative-config \'{"method": "mtp", "num_speculative_tokens": 3}\'',
        state="breaks",
        about="As the README has it; vLLM's own recipe drafts 1 token, see option mtp.",
    ),
    *serving.BREAKING,
)

_TASKS = {
    "text": Task(
        prompt="Text Recognition:", parser="markdown", about="the whole page as Markdown, nothing left out"
    ),
    "table": Task(prompt="Table Recognition:", parser="glm-table", about="a picture of one table"),
    "formula": Task(prompt="Formula Recognition:", parser="glm-formula", about="a picture of one formula"),
    "extract": Task(
        prompt="请按下列JSON格式输出图中信息:\n{template}",
        parser="glm-json",
        about="fields of a form: name them in a JSON schema, with --schema",
    ),
}

PROFILE = Profile(
    name="glm-ocr",
    title="GLM-OCR 0.9B on a GPU",
    engine="vllm",
    revision="zai-org/GLM-OCR.1",
    licence="code Apache-2.0; weights MIT",
    scripts=frozenset({"latin", "han", "kana", "hangul", "cyrillic"}),
    long_edge_px=2_324,
    min_pixels=200_704,
    max_pixels=5_880_000,
    grid_px=28,
    resolution="legible",
    x_height_px=10.0,
    orient=True,
    batch_pages=32,
    timeout_s=900.0,
    ladder=serving.ladder(
        Rung(
            kind="sampling",
            sampling={"temperature": 0.3, "top_p": 0.95},
            when=serving.LOOPS + serving.ODD,
        ),
        Rung(kind="regions", when=(*serving.LOOPS, "truncated", "empty-with-ink", "too-little-text")),
        Rung(
            kind="sampling",
            sampling={"temperature": 0.6, "top_p": 0.95, "repetition_penalty": 1.1},
            when=serving.LOOPS,
        ),
    ),
    ladder_limits=LadderLimits(attempts=9, seconds=900.0),
    vlm=Vlm(
        served_name="glm-ocr",
        weights="zai-org/GLM-OCR",
        architecture="GlmOcrForConditionalGeneration",
        tasks=_TASKS,
        pixels=Pixels(patch_px=14, merge=2, min_pixels=6_272, max_pixels=5_880_000),
        sampling=Sampling(
            max_tokens=8_192,
            stop=("<|user|>", "<|endoftext|>"),
            repetition_detection=RepetitionDetection(max_pattern_size=48, min_count=100),
        ),
        context=16_384,
        prompt_tokens=32,
        most_in_flight=256,
        regions={RegionKind.TEXT: "text", RegionKind.TABLE: "table", RegionKind.FORMULA: "formula"},
        flags=_FLAGS,
        least_vllm="0.19.0",
        least_transformers="5.3.0",
        most_errors=serving.MOST_ERRORS,
        checked_with="vLLM 0.25.1 on an H200 (architecture at full size, random weights); vLLM 0.32.0 with "
        "transformers 5.19 on the CPU (a small trained model of this architecture)",
    ),
)
