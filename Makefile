# Two commands matter: `make demo` and `make test`. Both set everything up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
SETUP  := pyproject.toml constraints.txt

# Real data sets for tests and experiments: ours when they lie beside the repo, else the reader's own.
ifndef GRFPP_DATA
ifneq ($(wildcard ../shared/data),)
export GRFPP_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: demo test lint types clean

demo: $(VENV)/.installed
	$(BIN)/grfpp demo --out out/demo

test: lint types
	$(BIN)/python -m pytest -n 2 --dist worksteal

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(VENV)/.installed-dev
	$(BIN)/mypy

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "grfpp needs Python 3.11 or newer, found " + sys.version.split()[0] + "; call make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python $(SETUP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[plot]'
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python $(SETUP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) out dist build .mypy_cache .ruff_cache .pytest_cache
