.DEFAULT_GOAL := help
.PHONY: help install demo up test check format bench clean

VENV := .venv
PYTHON := $(VENV)/bin/python
INSTALLED := $(VENV)/.installed
NODE_INSTALLED := node_modules/.installed

help: ## What can be done here
	@grep -E '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## /\1\t/' | expand -t 12

install: $(INSTALLED) $(NODE_INSTALLED) ## The environment: Python packages and local storage

demo: install ## Start everything, run the sample jobs, show what came of them, stop
	$(PYTHON) -m local demo

up: install ## The local stack on its default ports, data in .postern/
	$(PYTHON) -m local up --data .postern --port 7071

test: install ## Every test, the ones against the local stack included
	$(PYTHON) -m tests

check: install ## Format, lint, types, import rules, templates, manifests, sizes
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/ruff check .
	$(VENV)/bin/mypy
	$(VENV)/bin/lint-imports
	$(PYTHON) -m checks.bicep
	$(PYTHON) -m checks.manifests infra/kubernetes/*.yaml
	$(PYTHON) -m cli scale --check

format: install ## Put the code into its form
	$(VENV)/bin/ruff format .
	$(VENV)/bin/ruff check --fix .

bench: install ## Measure; a table here, figures in benchmarks/latest.json
	$(PYTHON) -m benchmarks

clean: ## Remove the environment and what runs have left
	rm -rf $(VENV) node_modules demo-out .mypy_cache .ruff_cache .pytest_cache .import_linter_cache

$(INSTALLED): requirements.txt requirements-dev.txt constraints.txt scripts/python.sh
	@echo "Installing Python packages and local storage: this takes a few minutes, once."
	@python=$$(scripts/python.sh) && echo "Using $$python" && \
	if [ ! -x $(PYTHON) ] || ! $(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 13))'; then \
	  rm -rf $(VENV) && "$$python" -m venv $(VENV); fi
	$(PYTHON) -m pip install --quiet --disable-pip-version-check -r requirements-dev.txt -c constraints.txt
	@touch $@

$(NODE_INSTALLED): package.json package-lock.json
	@command -v npm >/dev/null || { echo "Postern's local storage needs Node 20 with npm: install it and run the same command again." >&2; exit 1; }
	npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
	@touch $@
