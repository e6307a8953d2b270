# `make drill` shows a retry storm and the same outage survived; `make test` runs everything that has to pass.
# Both set up .venv by themselves: all they need is a Python >= 3.11.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

# The first that is new enough makes .venv; `make PYTHON=/path/to/python install` names another.
PYTHONS := $(or $(PYTHON),python3 python3.14 python3.13 python3.12 python3.11)
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet
LOCK := $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate

.PHONY: help
help: ## this list
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## /|/' | awk -F'|' '{ printf "make %-12s %s\n", $$1, $$2 }'

.PHONY: install
install: .venv/installed ## set up .venv with the library, its extras and all tools

.PHONY: drill
drill: .venv/installed ## the main job: retry strategies against a real outage (ARGS="--clients 1000")
	$(BIN)/seawall drill $(ARGS)

.PHONY: test
test: lint types ## everything that has to pass
	$(BIN)/pytest --cov $(ARGS)

.PHONY: lint
lint: .venv/installed ## ruff: rules and format
	$(BIN)/ruff check
	$(BIN)/ruff format --check

.PHONY: types
types: .venv/installed ## mypy and basedpyright, both strict
	$(BIN)/mypy
	$(BIN)/basedpyright

.PHONY: format
format: .venv/installed ## let ruff format and mend what it can
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

.PHONY: bench
bench: .venv/bench-installed ## measure everything we claim against peers, and renew docs/reference/benchmarks.md
	$(BIN)/python -m bench all --write docs/reference/benchmarks.md

.PHONY: constraints
constraints: .venv/installed ## pin anew after a change of dependencies (ARGS=--upgrade for newer versions)
	$(LOCK) $(ARGS) pyproject.toml --all-extras --group dev --output-file constraints.txt
	$(LOCK) $(ARGS) --group bench --constraint constraints.txt --output-file bench/requirements.txt

.PHONY: clean
clean: ## remove .venv and everything generated
	rm -rf .venv dist build htmlcov .coverage .coverage.* .mypy_cache .ruff_cache .pytest_cache .hypothesis

# The pinned packages first, each checked against its hash; then the project itself, which can have none.
.venv/installed: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Setting up .venv; this takes about a minute, once."
	$(PIP) --require-hashes --requirement constraints.txt
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/bench-installed: bench/requirements.txt .venv/installed
	$(PIP) --require-hashes --requirement bench/requirements.txt
	@touch $@

$(BIN)/python:
	@for python in $(PYTHONS); do \
	    if "$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
	        "$$python" -m venv .venv && exit 0; \
	        rm -rf .venv; \
	        echo "$$python cannot make a virtual environment; on Debian: apt-get install python3-venv" >&2; \
	        exit 1; \
	    fi; \
	done; \
	echo "seawall needs Python >= 3.11, and none of these is one: $(PYTHONS)." >&2; \
	echo "Install one, or name it: make PYTHON=/path/to/python3.12 install" >&2; \
	exit 1
