# Each target first puts into .venv what it needs and no more; when nothing changed that takes no time.
PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --constraint constraints.txt
PYTEST := OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup
SOURCES := pyproject.toml constraints.txt Makefile

.PHONY: demo test system slow integrations lint check report docs versions browser clean

demo: .venv/.demo  ## set up and run the main job: six units, nine ranges, five seeds
	$(BIN)/nalm run quick

report: .venv/.report  ## the site of the shipped results, in report/
	$(BIN)/nalm report

docs: .venv/.docs  ## the documentation site, in docs/_build/html; a warning is an error
	OMP_NUM_THREADS=1 $(BIN)/python -m sphinx --fail-on-warning --keep-going --quiet docs docs/_build/html
	@echo "Open docs/_build/html/index.html"

test: .venv/.ready browser  ## set up and run the default tests
	$(PYTEST)

system: .venv/.ready browser  ## the tests of whole commands, and those that compile or search for many seconds
	$(PYTEST) -m "system and not slow"

slow: .venv/.ready browser  ## the tests that take minutes
	$(PYTEST) -m slow

integrations: .venv/.ready  ## the tests with Lightning, transformers and onnxruntime; downloads a few hundred megabytes
	@$(PIP) --editable '.[lightning,transformers,onnx]'
	$(PYTEST) -m 'slow or not slow' tests/networks/test_callbacks.py tests/units/test_onnx.py

lint: .venv/.ready
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint test  ## everything that must hold before a commit

versions:  ## a part of the tests on each Python, and with the oldest packages that pyproject.toml admits
	@$(PYTHON) scripts/versions.py

.venv/.demo: $(SOURCES) | $(BIN)/pip
	@echo "Installing what the demo needs into .venv (250 MB, a minute; gigabytes where torch comes with CUDA) ..."
	@$(PIP) --editable .
	@$(BIN)/python -c 'import torch._inductor.compile_fx, nalm.lab.executors.local' || true  # writes byte code once
	@touch $@

.venv/.report: $(SOURCES) | $(BIN)/pip
	@echo "Installing what the report needs into .venv (290 MB, a minute; gigabytes where torch comes with CUDA) ..."
	@$(PIP) --editable '.[report]'
	@touch .venv/.demo $@

.venv/.docs: $(SOURCES) | $(BIN)/pip
	@echo "Installing what the site needs into .venv (400 MB, two minutes; gigabytes where torch comes with CUDA) ..."
	@$(PIP) --editable '.[docs,report,sklearn]'
	@touch .venv/.demo .venv/.report $@

.venv/.ready: $(SOURCES) | $(BIN)/pip
	@echo "Installing what the tests need into .venv (550 MB, two minutes; gigabytes where torch comes with CUDA) ..."
	@$(PIP) --editable '.[dev,docs,report,sklearn,parquet,baselines,ray]'
	@touch .venv/.demo .venv/.docs .venv/.report $@

# pip comes last when an environment is made: without it .venv is what an interrupted set-up left.
$(BIN)/pip:
	@$(PYTHON) -c '' 2>/dev/null || { \
	echo "$(PYTHON) is not here or does not start: install Python 3.11 or newer, or name one with make PYTHON=/path/to/python3."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	echo "$(PYTHON) is $$($(PYTHON) --version 2>&1), and nalm needs 3.11 or newer: name one with make PYTHON=/path/to/python3.11."; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	echo "$(PYTHON) cannot make virtual environments: install its venv package (on Debian: apt install python3-venv)."; exit 1; }
	@$(PYTHON) -m venv --clear .venv

browser:  # for the tests of the page; without it they are skipped
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && \
	echo "Installing chromium for the tests of the page ..." && apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
	echo "No chromium here: the tests of the page will be skipped."

clean:
	rm -rf docs/_build docs/generated docs/gallery docs/tutorials .venv .venv-versions .pytest_cache .mypy_cache .ruff_cache .hypothesis
