# make app    a dashboard in the browser; the first time it makes a virtual environment and installs
# make test   lint, format, types, import floors, tests (the first time it installs too)
# make soak   the longest proofs alone: hours; once before an issue is closed
# make docs   pages of all modules, classes and functions in docs/: open docs/index.html
#
# Settings: PYTHON=python3.12 (any ≥ 3.11), WORKERS=4 (test processes), TESTS=tests/graph (what to test),
# LEVEL=all (the heavy proofs too: what CI runs)

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install --no-compile --quiet --progress-bar off -c constraints.txt
WORKERS ?= 2
TESTS ?= tests
LEVEL ?= quick

NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))
PYTHON ?= $(shell for python in python3 python3.13 python3.12 python3.11; do \
	$$python -c '$(NEW_ENOUGH)' 2>/dev/null && { echo $$python; break; }; done)

.PHONY: app test types suite soak docs clean

app: $(VENV)/installed
	@$(BIN)/lab app

test: $(VENV)/installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory --jobs=2 types suite

# Of one process, and slow: beside the tests
types:
	$(BIN)/mypy

suite:
	LEVEL=$(LEVEL) $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(TESTS)

soak: $(VENV)/installed-dev
	LEVEL=soak $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal -rA $(TESTS)

docs: $(VENV)/installed-dev
	rm -rf docs
	$(BIN)/pdoc --docformat google --output-directory docs lab modules datamodules

clean:
	rm -rf $(VENV) docs

# The stamps are younger than what they were installed from; a change of it installs again.
$(VENV)/installed: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing Lectern into $(VENV): some minutes, once."
	@$(PIP) -e .
	@touch $@

$(VENV)/installed-dev: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "Installing Lectern and its tests' tools into $(VENV): some minutes, once."
	@$(PIP) -e '.[dev]'
	@touch $(VENV)/installed $@

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "Lectern needs Python 3.11 or newer: install it, or say PYTHON=…" >&2; exit 2; }
	@$(PYTHON) -c '$(NEW_ENOUGH)' || { echo "$(PYTHON) is older than Python 3.11: say PYTHON=…" >&2; exit 2; }
	@$(PYTHON) -m venv $(VENV)
