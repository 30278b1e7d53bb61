"""Docling's pipeline for vision-language models, for Chandra 2 at a server. Runs in docling's environment.

    python bench/peers/with_docling.py '{"files": […], "url": …, "model": …, "out": …, "slots": …}'

Its command line cannot name a server: this is what its documentation has in place of it. Requests in flight
and pages in a batch are raised from docling's defaults (1 and 4) to the server's slots.
"""

import json
import sys
from pathlib import Path
from typing import Any

from docling.datamodel.base_models import InputFormat
from docling.datamodel.pipeline_options import VlmConvertOptions, VlmPipelineOptions
from docling.datamodel.settings import settings
from docling.datamodel.vlm_engine_options import ApiVlmEngineOptions, VlmEngineType
from docling.document_converter import DocumentConverter, PdfFormatOption
from docling.pipeline.vlm_pipeline import VlmPipeline


def converter(told: dict[str, Any]) -> DocumentConverter:
    """A converter that sends pages to the server."""
    settings.perf.page_batch_size = told["slots"]
    engine = ApiVlmEngineOptions(
        engine_type=VlmEngineType.API_OPENAI,
        url=f"{told['url']}/v1/chat/completions",
        params={"model": told["model"], "max_tokens": 12384},
        concurrency=told["slots"],
        timeout=600,
    )
    options = VlmPipelineOptions(
        enable_remote_services=True,
        vlm_options=VlmConvertOptions.from_preset("chandra_ocr2", engine_options=engine),
    )
    return DocumentConverter(
        allowed_formats=[InputFormat.PDF],
        format_options={InputFormat.PDF: PdfFormatOption(pipeline_cls=VlmPipeline, pipeline_options=options)},
    )


def main() -> None:
    """Convert all files to Markdown."""
    told = json.loads(sys.argv[1])
    out = Path(told["out"])
    out.mkdir(parents=True, exist_ok=True)
    for result in converter(told).convert_all(told["files"], raises_on_error=False):
        name = Path(result.input.file).stem
        (out / f"{name}.md").write_text(result.document.export_to_markdown(), encoding="utf-8")


if __name__ == "__main__":
    main()
