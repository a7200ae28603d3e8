# Every target sets up what it needs in .venv and is quick when that is up to date.

PYTHON ?= python3
PIP_ARGS ?=
VENV := .venv
BIN := $(VENV)/bin
PIP := PIP_DISABLE_PIP_VERSION_CHECK=1 $(BIN)/python -m pip install --quiet --constraint constraints.txt $(PIP_ARGS)
SHARED ?= ../shared

.DEFAULT_GOAL := help
.PHONY: help setup setup-dev demo page ask test unit integration e2e lint types format check bench quality screenshots clean

help: ## Show this list
	@grep -hE '^[a-z0-9-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z0-9-]+):.*## (.*)/  make \1|\2/' | column -t -s '|'

setup: $(VENV)/.core ## Create .venv with the light core (no torch)

setup-dev: $(VENV)/.dev ## Add development tools and the sentence-transformers extra

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Manuel needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 …"; exit 1; }
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.core: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing Manuel into $(VENV) (a minute or two the first time)…"
	@$(PIP) --editable .
	@touch $@

$(VENV)/.dev: pyproject.toml constraints.txt | $(BIN)/python
	@echo "Installing development tools and sentence-transformers into $(VENV) (a few minutes the first time)…"
	@$(PIP) --editable '.[dev,sentence-transformers]'
	@touch $(VENV)/.core $@

demo: setup ## Index the sample handbook and talk to it through a local stand-in for Slack
	@$(BIN)/python -m bot.sandbox.demo

page: web/node_modules/.package-lock.json ## Build the page of the sandbox again (needs Node 20)
	@cd web && npm run --silent types && npm run --silent build

web/node_modules/.package-lock.json: web/package-lock.json
	@cd web && npm ci --silent --no-audit --no-fund

ask: setup ## Ask one question of the sample handbook: make ask Q="combien de jours de télétravail ?"
	@test -n "$$Q" || { echo 'Ask something: make ask Q="combien de jours de télétravail ?"'; exit 2; }
	@export HANDBOOK_CONFIG=deploy/sample-handbook.toml DATABASE_URL=sqlite:///data/demo.db; \
	  $(BIN)/manuel ingest && $(BIN)/manuel ask "$$Q"
ask: export Q := $(value Q)

# Whole files go to a worker: what they set up, an encoder or a browser, is set up once.
test: setup-dev ## Run every test
	@$(BIN)/python -m pytest -n logical --maxprocesses 4 --dist loadfile

unit: setup-dev ## Run the tests that take milliseconds
	@$(BIN)/python -m pytest tests/unit

integration: setup-dev ## Run the tests of single adapters against the real thing
	@$(BIN)/python -m pytest tests/integration

e2e: setup-dev ## Run the tests of what people see
	@$(BIN)/python -m pytest tests/e2e

lint: setup-dev ## Check style and types
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy

types: setup-dev ## Check types alone
	@$(BIN)/mypy

format: setup-dev ## Rewrite files in the project's style
	@$(BIN)/ruff check --fix .
	@$(BIN)/ruff format .

check: lint test ## Everything that must pass before a commit

bench: setup-dev ## Measure speed, as ratios in one run, into docs/performance.md
	@$(BIN)/python -m tests.benchmarks.bench --shared $(SHARED)

screenshots: setup-dev ## Take the pictures of docs/images again (needs Chromium)
	@$(BIN)/python -m tests.message_pictures
	@$(BIN)/python -m tests.screenshots

quality: setup-dev ## Measure answers on the question sets, into docs/quality.md
	@$(BIN)/python -m tests.benchmarks.quality --shared $(SHARED)

clean: ## Remove the virtual environment and caches, keep data/
	@rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
