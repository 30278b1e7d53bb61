# pagemill: `make run` tries it on samples/, `make test` runs all tests. Nothing outside this folder and
# PAGEMILL_HOME is touched; uv is used where it is installed, pip otherwise.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
UV := $(shell command -v uv 2>/dev/null)
QUERY ?= gravy for roasted chicken

# No caches outside the project, no look for newer versions, no Python fetched behind one's back.
export PIP_DISABLE_PIP_VERSION_CHECK := 1
export PIP_NO_CACHE_DIR := 1
export UV_NO_CACHE := 1
export UV_PYTHON_DOWNLOADS := never
export VIRTUAL_ENV := $(CURDIR)/$(VENV)

# Wheels only: a source archive would be built with tools that nobody pinned.
PINNED := --require-hashes --only-binary :all:
ifdef UV
  INSTALL := $(UV) pip install --quiet --compile-bytecode
else
  INSTALL := $(BIN)/python -m pip install --quiet
endif

.DEFAULT_GOAL := help
.PHONY: help run test test-vllm check clean

help:  ## show this list
	@sed -n 's/^\([a-z-]*\):.*## /  make \1\t/p' $(MAKEFILE_LIST)

run: $(VENV)/.run  ## set up and read samples/: summary, timings, a search
	@echo "==> pagemill ingest samples/documents --recipe text_layer=prefer"
	@# 3: some documents are partial or rejected, as two of the samples are meant to be.
	@$(BIN)/pagemill ingest samples/documents --recipe text_layer=prefer || [ $$? -eq 3 ]
	@echo; echo "==> pagemill timings"
	@$(BIN)/pagemill timings
	@echo; echo "==> pagemill search '$(QUERY)'"
	@$(BIN)/pagemill search '$(QUERY)'
	@echo; echo "Next, with your own files:"
	@echo "  $(BIN)/pagemill ingest FOLDER     read every page of your own files"
	@echo "  $(BIN)/pagemill search '您的硬件'       Chinese works as well"
	@echo "  $(BIN)/pagemill status            every document, and why it was refused"
	@echo "  $(BIN)/pagemill down              stop the embedded Postgres"

test: $(VENV)/.dev  ## set up and run all tests, with a real Postgres
	$(BIN)/python -m pytest -n 2 --dist loadfile -m "not vllm"

test-vllm: $(VENV)/.dev  ## the tests against a real vLLM on the CPU (an environment of 2.2 GB, six minutes)
	@# 77: vLLM cannot be had on this machine; what is lacking has been said.
	@$(BIN)/python tests/vllm/install.py || { [ $$? -eq 77 ] && exit 0; exit 1; }
	$(BIN)/python -m pytest tests/vllm

check: $(VENV)/.dev  ## format, lint, types, imports and fast tests, under a minute
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m pytest -n auto --dist loadfile -m "not slow" tests/unit tests/contract

clean:  ## remove the virtual environment and caches; the knowledge base stays
	rm -rf $(VENV) .venv-vllm .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and \
	  "pagemill needs Python 3.11 or newer; this is " + sys.version.split()[0] + ". Try: make PYTHON=python3.12")'
ifdef UV
	$(UV) venv --quiet --allow-existing --python "$$($(PYTHON) -c 'import sys; print(sys.executable)')" $(VENV)
else
	@$(PYTHON) -c 'import ensurepip, venv' || { \
	  echo "This Python cannot make virtual environments: install python3-venv (Debian, Ubuntu) or uv."; exit 1; }
	$(PYTHON) -m venv $(VENV)
endif

$(VENV)/.run: requirements.txt requirements-build.txt pyproject.toml | $(BIN)/python
ifndef UV
	@# A virtual environment that uv made has no pip of its own.
	@$(BIN)/python -m pip --version >/dev/null 2>&1 || $(BIN)/python -m ensurepip
endif
	$(INSTALL) $(PINNED) -r requirements.txt
	$(INSTALL) $(PINNED) -r requirements-build.txt
	$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/.dev: requirements-dev.txt $(VENV)/.run
	$(INSTALL) $(PINNED) -r requirements-dev.txt
	@touch $@
