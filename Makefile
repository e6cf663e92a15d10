# Two commands matter: `make demo` and `make test`. Both set everything up.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PEERS  := .venv-bench
OLDEST := .venv-oldest
SETUP  := pyproject.toml lab/pyproject.toml constraints.txt

# Real data sets for tests and experiments: ours when they lie beside the repo, else the reader's own.
ifndef GRFPP_DATA
ifneq ($(wildcard ../shared/data),)
export GRFPP_DATA := $(abspath ../shared/data)
endif
endif

.PHONY: demo test test-oldest lint types compiled fuzz bench bench-full clean

demo: $(VENV)/.installed
	$(BIN)/grfpp demo --out out/demo

# Compiled once, beside the types, and not by each of the processes that test. With plain asserts,
# because each of them would rewrite all; run by itself, what fails shows its values.
test: lint
	$(MAKE) -j2 types compiled
	$(BIN)/python -m pytest -n 2 --dist worksteal --assert=plain

# The library with the lowest versions of its core dependencies that pyproject.toml allows.
test-oldest: $(OLDEST)/.installed
	$(OLDEST)/bin/python -m pytest -n 2 --dist worksteal --assert=plain tests/grfpp

$(OLDEST)/.installed: $(SETUP) tools/oldest.py
	$(PYTHON) -m venv $(OLDEST)
	$(PYTHON) tools/oldest.py > $(OLDEST)/constraints.txt
	$(OLDEST)/bin/python -m pip install --quiet -c $(OLDEST)/constraints.txt -e '.[dev]' -e './lab[all]'
	touch $@

compiled: $(VENV)/.installed-dev
	$(BIN)/python -m compileall -q src lab tests
	$(BIN)/python -c 'from grfpp.warmup import warmup; warmup()'

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

types: $(VENV)/.installed-dev
	$(BIN)/mypy

# Damaged files of every format, thousands of them: make fuzz N=100000, or FORMATS="mtx gml". Those
# that fail are kept in out/fuzz. Other numbers than before: FIRST=10000.
N ?= 10000
FIRST ?= 0
fuzz: $(VENV)/.installed-dev
	PYTHONPATH=tests/helpers $(BIN)/python -m fuzz -n $(N) --first $(FIRST) $(if $(FORMATS),--formats $(FORMATS))

# Side by side with peers, which live in an environment of their own: at most five minutes, or an hour.
bench: $(VENV)/.installed $(PEERS)/.installed
	$(BIN)/grfpp bench --out out/bench --peers '$(PEERS)/bin/python benchmarks/peers'

bench-full: $(VENV)/.installed $(PEERS)/.installed
	$(BIN)/grfpp bench --set full --out out/bench-full --peers '$(PEERS)/bin/python benchmarks/peers'

# torch-cluster is compiled, which takes some minutes; where that fails, its rows say so.
$(PEERS)/.installed: benchmarks/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet -r benchmarks/requirements.txt
	-PATH="$(CURDIR)/$(PEERS)/bin:$$PATH" MAX_JOBS=2 FORCE_ONLY_CPU=1 $(PEERS)/bin/python -m pip install --quiet --no-build-isolation torch-cluster==1.6.3
	touch $@

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "grfpp needs Python 3.11 or newer, found " + sys.version.split()[0] + "; call make PYTHON=python3.11 ...")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python $(SETUP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[plot]' -e ./lab
	touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python $(SETUP)
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[dev]' -e './lab[all]'
	touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) $(PEERS) $(OLDEST) out dist build .mypy_cache .ruff_cache .pytest_cache
