# Every target sets up .venv first; when nothing changed that takes no time.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

ifneq ($(wildcard ../shared/data/mnist),)  # the images, where somebody has put them beside the checkout
export NALM_DATA ?= $(abspath ../shared/data/mnist)
endif

.PHONY: demo test slow lint check report browser clean

demo: $(READY)  ## set up and run the main job: six units, nine ranges, five seeds
	$(BIN)/nalm run quick

report: $(READY)  ## the page of the shipped results
	$(BIN)/nalm report

test: $(READY) browser  ## set up and run the default tests
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup

slow: $(READY) browser  ## the tests that take minutes
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadgroup -m slow

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint test  ## everything that must hold before a commit

$(READY): pyproject.toml constraints.txt Makefile
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,report,sklearn,parquet,baselines,ray,ode]'
	touch $@

browser:  # for the tests of the page; without it they are skipped
	@command -v chromium >/dev/null || { test "$$(id -u)" = 0 && apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium >/dev/null; } || \
	echo "No chromium here: the tests of the page will be skipped."

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
