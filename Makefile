# Every target sets up .venv first; when nothing changed that takes no time.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready

.PHONY: demo test slow lint check clean

demo: $(READY)  ## set up and run the main job: six units, nine ranges, five seeds
	$(BIN)/nalm run quick

test: $(READY)  ## set up and run the default tests
	$(BIN)/python -m pytest -n auto

slow: $(READY)  ## the tests that take minutes
	$(BIN)/python -m pytest -n auto -m slow

lint: $(READY)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint test  ## everything that must hold before a commit

$(READY): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --editable '.[dev,report]'
	touch $@

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis
