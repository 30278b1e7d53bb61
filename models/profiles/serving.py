"""`vllm serve` flags and ladders that several profiles share, with what is known of each.

Measured: a full-size GLM-OCR architecture on an H200, vLLM 0.25.1, about 2,000 tokens a picture, 512 a reply.
"""

from models.vlm import Rung, ServeFlag

LOOPS = ("repetition", "loop", "answer-too-long")
WRONG_WAY_UP = ("empty-with-ink", "repetition", "loop", "mostly-signs")
MOST_ERRORS = 0.1
"""Of golden pages, which are in clean print. Measured (docs/serving-client.md): servers that read leave up to
1.1 %, a quarter of the pixels 8 %, an eighth 43 %, a wrong template 80 %. Published weights were not."""
ODD = ("empty-with-ink", "layout-invalid", "chat-text", "unparsable")


def batched(tokens: int) -> ServeFlag:
    """Room for pictures in one step of the server."""
    return ServeFlag(
        flag=f"--max-num-batched-tokens {tokens}",
        state="on",
        about="A picture must fit into one step: with less, vLLM refuses large ones (400, encoder cache).",
    )


def images(most: int) -> ServeFlag:
    """How many pictures a request may hold."""
    return ServeFlag(
        flag=f'--limit-mm-per-prompt \'{{"image": {most}, "video": 0}}\'',
        state="on",
        about="Memory is kept for the pictures that are sent, none for videos.",
    )


def sequences(most: int) -> ServeFlag:
    """How many pages the server works on at once."""
    return ServeFlag(
        flag=f"--max-num-seqs {most}", state="on", about="Pages at once, as the model's publisher serves it."
    )


COMMON = (
    ServeFlag(flag="--dtype bfloat16", state="on", about="The type that the weights are in."),
    ServeFlag(
        flag="--mm-processor-cache-gb 0",
        state="on",
        about="No page comes twice: the cache of pictures only fills the server's memory.",
    ),
    ServeFlag(
        flag="--no-enable-prefix-caching",
        state="on",
        about="Pages share no prefix worth keeping, and a wrong hit gives another page's text.",
    ),
    ServeFlag(
        flag="--scheduling-policy priority",
        state="on",
        about="Scheduled pages before backfills: without it the server takes requests as they come.",
    ),
)

H200 = ServeFlag(
    flag="--max-num-seqs 512 --api-server-count 4",
    state="option",
    option="h200",
    about="For 80 GB beside 16 cores, many pages at once: 1.1 to 1.3 times as fast, by the cores; slower "
    "at one in flight.",
)
FUSED = ServeFlag(
    flag='--ir-op-priority \'{"rms_norm": ["vllm_c"], "fused_add_rms_norm": ["vllm_c"]}\' '
    '--compilation-config \'{"custom_ops": ["+silu_and_mul", "+quant_fp8"]}\'',
    state="option",
    option="fused",
    about="For NVIDIA: norms and activations of the encoder as one kernel each, where vLLM leaves them to a "
    "compiler that this encoder never goes through. With h200 1.28 times as fast as the defaults.",
)
FP8 = ServeFlag(
    flag="--quantization fp8",
    state="option",
    option="fp8",
    about="Weights as 8-bit floats, made at start: half the memory; accuracy has to be measured.",
)
FP8_CACHE = ServeFlag(
    flag="--kv-cache-dtype fp8",
    state="option",
    option="fp8-cache",
    about="Keys and values as 8-bit floats: twice as many pages at once, for where memory is short: each is "
    "slower; accuracy has to be measured.",
)
AWQ = ServeFlag(
    flag="--quantization awq_marlin",
    state="option",
    option="awq",
    about="For weights that were quantised with AWQ: name them with --model.",
)
GPTQ = ServeFlag(
    flag="--quantization gptq_marlin",
    state="option",
    option="gptq",
    about="For weights that were quantised with GPTQ: name them with --model.",
)
QUANTISED = (FP8, FP8_CACHE, AWQ, GPTQ)

BREAKING = (
    ServeFlag(
        flag="--enable-prefix-caching",
        state="breaks",
        about="Of pages that look alike one can get the text of another (vLLM #20261).",
    ),
    ServeFlag(
        flag="--allowed-local-media-path /",
        state="breaks",
        about="Model cards advise it; it lets every client read every file of the machine.",
    ),
)


def ladder(*hotter: Rung) -> tuple[Rung, ...]:
    """What is tried when a page reads badly, `hotter` being how the model is asked again for a loop.

    Least dear first; at the end what needs no model of this kind: the text layer, then the CPU's reader.
    """
    return (
        Rung(kind="halves", when=("truncated",)),
        *hotter,
        Rung(kind="larger", when=(*LOOPS, *ODD, "low-confidence", "too-little-text", "mostly-signs")),
        Rung(kind="turn", degrees=(180, 90, 270), when=WRONG_WAY_UP),
        Rung(kind="smaller", factor=0.6, when=LOOPS),
        Rung(kind="text-layer"),
        Rung(kind="profile", profile="ppocr"),
    )
