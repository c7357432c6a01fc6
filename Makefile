# `make demo` and `make test` need Python 3.11 or newer, pip and make; everything else they bring themselves.
# Both can be run again at any time. They write to .venv/ and .demo/ in this folder and nowhere else, except that as root
# they install missing system packages.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SYSTEM_PACKAGES := git jq curl libgomp1 strace openssh-client gpg gpg-agent

.PHONY: help demo test test-slow fuzz lint format bench lock system clean

help:
	@echo "make demo       compile an example at its commit, verify it, run it against a small embedded model"
	@echo "make test       linters, types, all tests but the slow ones"
	@echo "make test-slow  the slow tests"
	@echo "make lint       ruff and mypy"
	@echo "make format     let ruff rewrite the code"
	@echo "make bench      speed, as ratios"
	@echo "make fuzz       a million inputs for each reader of text (READER=name for one); takes hours"
	@echo "make lock       resolve the dependencies again (needs uv)"
	@echo "make clean      remove .venv, .demo and caches"

demo: $(STAMP)
	@$(BIN)/python examples/demo.py

test: lint
	@$(BIN)/python -m pytest -q -n 2 -m "not slow"

test-slow: $(STAMP)
	@$(BIN)/python -m pytest -q -m slow

READER := all
GUIDED := 100000
BLIND := 900000

fuzz: $(STAMP)
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r locks/fuzz.txt
	@$(BIN)/python -m fuzz $(READER) --guided $(GUIDED) --blind $(BLIND)

lint: $(STAMP)
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

format: $(STAMP)
	@$(BIN)/ruff check --fix-only .
	@$(BIN)/ruff format .

bench: $(STAMP)
	@$(BIN)/python -m benchmarks

# The lock files are the only thing that is installed from; each archive is checked against its recorded hash.
$(STAMP): locks/dev.txt locks/local.txt pyproject.toml tools/find_python.sh tools/system_packages.sh
	@tools/system_packages.sh $(SYSTEM_PACKAGES)
	@if [ ! -x $(BIN)/python ]; then \
	  python="$$(tools/find_python.sh)"; \
	  echo "creating $(VENV) with $$python"; \
	  "$$python" -m venv $(VENV); \
	fi
	@echo "installing the locked dependencies into $(VENV) (about 600 MB; takes a minute or two, once)"
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r locks/dev.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --require-hashes -r locks/local.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

system:
	@tools/system_packages.sh $(SYSTEM_PACKAGES)

UV_COMPILE := uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header

lock:
	@command -v uv >/dev/null || { echo "make lock needs uv: python3 -m pip install uv" >&2; exit 1; }
	$(UV_COMPILE) pyproject.toml -o locks/runtime.txt
	$(UV_COMPILE) --group dev pyproject.toml -o locks/dev.txt
	$(UV_COMPILE) --no-deps --only-binary :all: locks/local.in -o locks/local.txt
	$(UV_COMPILE) --no-deps --only-binary :all: locks/fuzz.in -o locks/fuzz.txt

clean:
	rm -rf $(VENV) .demo .mypy_cache .ruff_cache .pytest_cache .hypothesis build dist
