"""Make a tiny model with random weights that a real vLLM serves: a real architecture, a million numbers.

    .venv-vllm/bin/python tests/vllm/tiny_model.py FOLDER qwen3_vl

Nothing is fetched. It answers gibberish unless a request holds it to a pattern (structured outputs); how it
cuts pictures into tokens, stops and fails is as with the full-size model. Runs in vLLM's own environment.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import transformers
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers

HIDDEN, ROWS, CONTEXT = 128, 320, 32_768
ROPE = {"rope_type": "default", "rope_theta": 10_000.0}

QWEN_MARKS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"]
GLM_MARKS = ["<|endoftext|>", "[gMASK]", "<sop>", "<|user|>", "<|assistant|>", "<|begin_of_image|>"]
GLM_MARKS += ["<|end_of_image|>", "<|begin_of_video|>", "<|end_of_video|>"]

# One user turn of pictures and text, as these models' own templates write it.
_TURN = """{%% for message in messages %%}%(open)s
{%% if message.content is string %%}{{ message.content }}{%% else %%}{%% for part in message.content %%}
{%%- if part.type == 'text' %%}{{ part.text }}{%% else %%}%(picture)s{%% endif %%}
{%%- endfor %%}{%% endif %%}%(close)s{%% endfor %%}{%% if add_generation_prompt %%}%(answer)s{%% endif %%}"""


@dataclass(frozen=True)
class Family:
    """What models of a family share."""

    marks: list[str]
    picture: str
    video: str
    end: str
    template: str
    patch: int
    processor: tuple[str, str, str]


QWEN = Family(
    marks=QWEN_MARKS,
    picture="<|image_pad|>",
    video="<|video_pad|>",
    end="<|im_end|>",
    template=_TURN
    % {
        "open": "<|im_start|>{{ message.role }}\n",
        "picture": "<|vision_start|><|image_pad|><|vision_end|>",
        "close": "<|im_end|>\n",
        "answer": "<|im_start|>assistant\n",
    },
    patch=16,
    processor=("Qwen3VLProcessor", "Qwen2VLImageProcessor", "Qwen3VLVideoProcessor"),
)
GLM = Family(
    marks=GLM_MARKS,
    picture="<|image|>",
    video="<|video|>",
    end="<|user|>",
    template="[gMASK]<sop>"
    + _TURN
    % {
        "open": "<|{{ message.role }}|>\n",
        "picture": "<|begin_of_image|><|image|><|end_of_image|>",
        "close": "",
        "answer": "<|assistant|>\n",
    },
    patch=14,
    processor=("Glm46VProcessor", "Glm46VImageProcessor", "Glm46VVideoProcessor"),
)


def tokenizer_of(family: Family) -> Any:
    """Bytes and the family's marks, nothing learnt."""
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE(vocab={letter: n for n, letter in enumerate(letters)}, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    marks = [*family.marks, family.picture, family.video]
    tokenizer.add_special_tokens([AddedToken(mark, special=True, normalized=False) for mark in marks])
    wrapped = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        eos_token=family.end,
        pad_token="<|endoftext|>",
        additional_special_tokens=marks,
        clean_up_tokenization_spaces=False,
        model_max_length=CONTEXT,
    )
    wrapped.chat_template = family.template
    return wrapped


def text_of(ids: dict[str, int], family: Family) -> dict[str, Any]:
    """The language half."""
    return {
        "vocab_size": ROWS,
        "hidden_size": HIDDEN,
        "intermediate_size": 3 * HIDDEN,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "num_hidden_layers": 2,
        "head_dim": 32,
        "max_position_embeddings": CONTEXT,
        "pad_token_id": ids["<|endoftext|>"],
        "eos_token_id": [ids["<|endoftext|>"], ids[family.end]],
        "rope_parameters": ROPE | {"partial_rotary_factor": 1.0, "mrope_section": [4, 6, 6]},
    }


def config_of(arch: str, ids: dict[str, int], family: Family) -> Any:
    """The architecture at its smallest; sizes that kernels insist on are kept."""
    text, rope = text_of(ids, family), ROPE
    vision = {
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_heads": 4,
        "out_hidden_size": HIDDEN,
        "depth": 2,
    }
    vision["patch_size"] = family.patch
    marks = {"image_token_id": ids[family.picture], "video_token_id": ids[family.video]}
    if arch == "glm_ocr":
        for kind, name in (("image", "image"), ("video", "video")):
            marks[f"{kind}_start_token_id"] = ids[f"<|begin_of_{name}|>"]
            marks[f"{kind}_end_token_id"] = ids[f"<|end_of_{name}|>"]
        return transformers.GlmOcrConfig(text_config=text, vision_config=vision | {"num_heads": 2}, **marks)
    marks |= {"vision_start_token_id": ids["<|vision_start|>"], "vision_end_token_id": ids["<|vision_end|>"]}
    if arch == "qwen3_vl":
        text["rope_parameters"] = rope | {"mrope_section": [6, 5, 5], "mrope_interleaved": True}
        vision["deepstack_visual_indexes"] = [0, 1]
        return transformers.Qwen3VLConfig(text_config=text, vision_config=vision, **marks)
    linear = {f"linear_{kind}_head_dim": 128 for kind in ("key", "value")}
    heads = {"linear_num_key_heads": 2, "linear_num_value_heads": 4, "head_dim": 64, "num_hidden_layers": 4}
    text |= linear | heads
    text["rope_parameters"] = rope | {"partial_rotary_factor": 0.25, "mrope_section": [4, 2, 2]}
    text["rope_parameters"]["mrope_interleaved"] = True
    return transformers.Qwen3_5Config(text_config=text, vision_config=vision, **marks)


def write_processors(family: Family, folder: Path) -> None:
    """How pictures are cut: at most 1,000,000 pixels."""
    shared = {
        "processor_class": family.processor[0],
        "patch_size": family.patch,
        "temporal_patch_size": 2,
        "merge_size": 2,
        "image_mean": [0.5] * 3,
        "image_std": [0.5] * 3,
        "size": {"shortest_edge": 112 * 112, "longest_edge": 1_000_000},
    }
    picture = shared | {"image_processor_type": family.processor[1]}
    video = shared | {"video_processor_type": family.processor[2]}
    (folder / "preprocessor_config.json").write_text(json.dumps(picture))
    (folder / "video_preprocessor_config.json").write_text(json.dumps(video))


def make(arch: str, folder: Path) -> None:
    """Write configuration, tokenizer, processors and weights."""
    torch.manual_seed(7)
    family = GLM if arch == "glm_ocr" else QWEN
    tokenizer = tokenizer_of(family)
    config = config_of(arch, tokenizer.get_vocab(), family)
    model = transformers.AutoModelForImageTextToText.from_config(config)
    config.architectures = [type(model).__name__]
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    write_processors(family, folder)


if __name__ == "__main__":
    for name in sys.argv[2:]:
        make(name, Path(sys.argv[1]) / name)
