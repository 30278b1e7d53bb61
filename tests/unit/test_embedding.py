"""The embedder that ships: near is near across words and languages, and nothing leaves the machine."""

import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from tasks.work.embedding import embed_texts, open_embedder

pytestmark = pytest.mark.slow

TOPICS = {
    "invoice": (
        "The invoice must be paid within thirty days.",
        "Payment is due in one month.",
        "发票须在三十天内付款。",
    ),
    "weather": (
        "It will rain heavily tomorrow in the north.",
        "Expect showers up north the next day.",
        "明天北部有大雨。",
    ),
    "cooking": (
        "Boil the potatoes until they are soft.",
        "Cook the spuds in water till tender.",
        "把土豆煮到软为止。",
    ),
}

AUDIT = """
import sys
def refuse(event, args):
    if event in {"socket.connect", "socket.getaddrinfo", "subprocess.Popen"}:
        raise SystemExit(f"{event} {args}")
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        raise SystemExit(f"writes {args}")
sys.dont_write_bytecode = True
sys.addaudithook(refuse)
from tasks.work.embedding import embed_texts
print(len(embed_texts(["one text"])[0]))
"""


def cosine(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


@pytest.fixture(scope="module")
def vectors() -> dict[str, list[list[float]]]:
    return {topic: embed_texts(texts) for topic, texts in TOPICS.items()}


@pytest.mark.parametrize("other", [1, 2], ids=["paraphrase", "chinese"])
def test_the_same_in_other_words_is_nearest(vectors: dict[str, list[list[float]]], other: int) -> None:
    for topic, own in vectors.items():
        likeness = {name: cosine(own[0], theirs[other]) for name, theirs in vectors.items()}
        assert max(likeness, key=lambda name: likeness[name]) == topic


def test_chinese_finds_english(vectors: dict[str, list[list[float]]]) -> None:
    for topic, own in vectors.items():
        likeness = {name: cosine(own[2], theirs[0]) for name, theirs in vectors.items()}
        assert max(likeness, key=lambda name: likeness[name]) == topic


def test_vectors_are_plain_lists_of_length_one() -> None:
    embedder = open_embedder()
    for vector in embedder.encode(["some text", "", "字" * 3_000]):
        assert len(vector) == embedder.dims
        assert type(vector[0]) is float
        assert cosine(vector, vector) == pytest.approx(1.0, abs=1e-4)


def test_a_text_has_the_same_vector_alone_and_among_others() -> None:
    texts = ["first", "a much longer second text about rivers " * 20, "third"]
    alone = [embed_texts([text])[0] for text in texts]
    for one, among in zip(alone, embed_texts(texts), strict=True):
        assert cosine(one, among) == pytest.approx(1.0, abs=1e-5)


def test_no_texts_no_vectors() -> None:
    assert embed_texts([]) == []


def test_the_name_says_model_and_version() -> None:
    assert open_embedder().name.startswith("use-multilingual-v3/0.")


def test_worker_children_can_embed() -> None:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn"), initializer=open_embedder) as pool:
        (vector,) = pool.submit(embed_texts, ["a text"]).result(timeout=120)
    assert len(vector) == 512


def test_it_neither_uses_the_network_nor_writes() -> None:
    done = subprocess.run([sys.executable, "-c", AUDIT], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout.strip()) == (0, "512"), done.stderr
