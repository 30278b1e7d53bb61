"""A scan by the clock mostly finds nothing new: its process loads no more than that takes."""

import subprocess
import sys

import pytest

# Each for documents, pictures, models or answers: seconds of CPU at every scan, and memory.
_HEAVY = (
    "pymupdf",
    "numpy",
    "PIL",
    "pillow_heif",
    "lxml",
    "rapidfuzz",
    "onnxruntime",
    "markdown_it",
    "boto3",
)


@pytest.mark.slow
def test_a_command_without_a_server_loads_no_prefect() -> None:
    told = "import sys, cli.ingesting, flows.lines; print(*{'prefect', 'flows.ingesting'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["flows.ingesting"]


@pytest.mark.slow
def test_the_flow_of_a_scan_loads_no_library_for_documents_pictures_or_models() -> None:
    told = f"import sys, flows.ingest; print(*sorted(set(sys.modules) & set({_HEAVY!r})))"
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
