# The two commands: `make demo` shows it, `make test` proves it. Both set up .venv by themselves, once.

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
# Three workers for two cores: one of them is often waiting for a browser.
PYTEST := $(BIN)/python -m pytest -n 3 --dist worksteal
PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && { echo $$p; break; }; done)

# Bytecode is kept, whatever the environment says: the tests start hundreds of programs, each of which would compile all
# sources again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo play test quick style lint format docs bench lock wheel clean

help: ## this list
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

demo: $(STAMP) ## five balls in a turning box: out/five-balls.mp4 (video) and out/five-balls.vtkhdf (for ParaView)
	@tools/graphics
	@mkdir -p out
	@$(BIN)/turgor run five-balls --fps 30 -o out/five-balls.mp4 -o out/five-balls.vtkhdf

play: $(STAMP) ## the playground: a page in the browser to pull, push and change the bodies (Ctrl-C ends)
	@$(BIN)/turgor play

test: style ## lint, types and all tests
	@tools/graphics
	@tools/browser
	$(PYTEST)

quick: $(STAMP) ## laws and units: no browser, pictures or other programs (two minutes once the kernels are compiled)
	$(PYTEST) -m "not picture and not process" tests/laws tests/unit tests/reference tests/repository

style: $(STAMP) ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

lint: style ## ruff and mypy (strict); make test has mypy among its tests
	$(BIN)/mypy

format: $(STAMP) ## put the code into ruff's format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(STAMP) ## the documentation as a site, without warnings: out/site/index.html (needs no server and no network)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "open out/site/index.html"

bench: $(STAMP) ## the ten main suites of turgor bench, as tables
	$(BIN)/turgor bench

lock: ## resolve the dependencies again (needs the network)
	tools/lock python3.11 python3.12 python3.13

wheel: $(STAMP) ## dist/: the wheel and the sdist, for pip install (needs the network, for pip's `build`)
	@$(BIN)/python -m venv build/venv
	@build/venv/bin/python -m pip install -qq --disable-pip-version-check build
	@build/venv/bin/python -m build --outdir dist .

clean: ## remove what was made, but not .venv
	rm -rf out build dist .hypothesis .mypy_cache .pytest_cache .ruff_cache src/*.egg-info
	find src tests tools -name __pycache__ -type d -prune -exec rm -rf {} +

# Exactly the packages of the lock, by hash; then turgor itself, editable, built with the setuptools of the lock.
$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "turgor needs Python 3.11, 3.12 or 3.13, and none was found; install one, or say which:" \
		"make PYTHON=/path/to/python3" >&2; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); echo "this Python cannot make a virtual" \
		"environment; on Debian and Ubuntu: apt-get install python3-venv" >&2; exit 1; }
	@echo "installing into $(VENV) (once) ..."
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@
