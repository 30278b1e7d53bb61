"""`pagemill up --gpu`: a document dropped into a folder is read through the pool `gpu` by a real vLLM."""

import os
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from bench.served import free_port
from flows.installation import raising
from models.settings import load_settings
from tests import factories
from tests.e2e.shell import Shell
from tests.served import until
from tests.vllm.conftest import TINY_OCR
from tests.vllm.install import PYTHON
from tests.vllm.real import ENVIRONMENT, FLAGS, PATIENCE_S
from tests.vllm.test_drain import LINES, print_pdf, reads

# What the driver's tool says of a GPU: vLLM's build for the CPU does not mind.
DRIVER = "#!/bin/sh\necho '0, Pretended GPU, 81920, 81000, 570.00'\n"
PROFILE = """
title = "tiny-ocr"
long_edge_px = 616

[vlm]
served_name = "tiny-ocr"
weights = "test/tiny-ocr"
context = 4096
prompt_tokens = 96
most_in_flight = 4
first_token_s = 900
sampling = { max_tokens = 400 }
pixels = { patch_px = 14, min_pixels = 6272, max_pixels = 400000 }

[[vlm.flags]]
flag = '''FLAGS'''
state = "on"
about = "small, on the CPU"

[vlm.tasks.text]
prompt = "Text Recognition:"
parser = "text"
about = "all text"
"""


@pytest.fixture
def shell() -> Iterator[Shell]:
    """A home with the profile `tiny`; its path is short, as a socket's must be."""
    with TemporaryDirectory(prefix="pm-") as folder:
        home = Path(folder) / "home"
        flags = " ".join(word if word[0] != "{" else f"'{word}'" for word in ["--dtype", "float32", *FLAGS])
        factories.write(home / "profiles" / "tiny.toml", PROFILE.replace("FLAGS", flags).encode())
        yield Shell(home)
        raising.down(load_settings(home=home), lambda _: None)


def machine(folder: Path) -> dict[str, str]:
    """The environment of a machine with a GPU, vLLM, and weights in the place where downloads lie."""
    tool = factories.write(folder / "bin" / "nvidia-smi", DRIVER.encode())
    tool.chmod(0o755)
    repository = folder / "hub" / "models--test--tiny-ocr"
    factories.write(repository / "refs" / "main", b"0" * 40)
    (repository / "snapshots").mkdir()
    (repository / "snapshots" / ("0" * 40)).symlink_to(TINY_OCR / "model")
    path = f"{tool.parent}:{os.environ['PATH']}"
    return {**ENVIRONMENT, "PATH": path, "HF_HOME": str(folder), "PAGEMILL_VLLM_PYTHON": str(PYTHON)}


@reads
def test_a_document_dropped_into_a_folder_is_found_by_what_the_model_reads(
    shell: Shell, tmp_path: Path
) -> None:
    inbox, variables = tmp_path / "inbox", machine(tmp_path / "hf")
    inbox.mkdir()
    options = ("--gpu", "tiny", "--watch", inbox, "--cron", "* * * * *", "--port", free_port())
    done = shell.run("up", *options, **variables)
    assert done.returncode == 0, done.stdout + done.stderr
    memo = factories.write(inbox / "memo.pdf", print_pdf("\n".join(LINES)))
    os.utime(memo, (time.time() - 60, time.time() - 60))
    until(lambda: "memo.pdf" in shell.run("search", "Harris").stdout, PATIENCE_S)
    (page,) = shell.json("show", "1")["pages"]
    assert page["engine"].startswith("vllm ")
    assert page["engine"].endswith(" tiny-ocr")
    assert [part in page["text"] for part in LINES] == [True] * len(LINES)
