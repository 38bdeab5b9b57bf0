# On a fresh machine with Python 3.11 or later:
#   make demo   fits the packaged toy data, prints the result, writes labels and pictures
#   make test   runs the tests
#   make test-all  runs them with the samplers of all families
#   make docs   builds the site of docs/ into docs/_build
#   make dist   builds what would be released into dist/, and tries it out
# All make their own environment first.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export FAIRMIX_DATA ?= $(wildcard $(abspath ../shared/data))

.PHONY: demo test test-all lint docs dist benchmark clean

demo: $(VENV)/.installed
	$(BIN)/python examples/toy.py

test: $(VENV)/.installed-test
	$(BIN)/python -m tests.compile_samplers
	$(BIN)/python -m pytest -n 2 -m "not thorough"

test-all: $(VENV)/.installed-test
	$(BIN)/python -m tests.compile_samplers --all
	SHARE_OF_DRAWS=1 $(BIN)/python -m pytest -n 2

lint: $(VENV)/.installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/.installed-docs
	rm -rf docs/_build docs/api/generated
	$(BIN)/python -m sphinx -q -n -W --keep-going -b html docs docs/_build

dist: $(VENV)/.installed-dist
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/python -m twine check --strict dist/*
	$(BIN)/python -m tests.check_dist dist

benchmark: $(VENV)/.installed
	$(BIN)/python benchmarks/engine.py

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip

$(VENV)/.installed: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[report]'
	touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group test
	touch $@

$(VENV)/.installed-lint: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group lint
	touch $@

$(VENV)/.installed-docs: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group docs
	touch $@

$(VENV)/.installed-dist: $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --group dist
	touch $@

clean:
	rm -rf $(VENV) demo-output dist docs/_build docs/api/generated
