# Every target sets up what it needs: a virtual environment from the hashed lock, nothing else assumed but
# Python >= 3.11, Node 20 with npm, and git.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/.installed
OPENAPI := tests/forges/openapi/node_modules/.package-lock.json
# The real coding tools: two for every test run, all of them for `make test-agents`. What a package wants to run when it is
# installed is run for those that need it, and for no other.
TOOLS  := tests/realagents/cli
FEW    := $(TOOLS)/node_modules/.few
ALL    := $(TOOLS)/node_modules/.all
PIPPED := $(VENV)/agents/aider/.installed $(VENV)/agents/mini/.installed
NPMCI  := npm ci --prefix $(TOOLS) --ignore-scripts --no-audit --no-fund --silent
# The web page: its packages, the built page (which the wheel carries), and a browser for its tests.
UI      := ui/node_modules/.package-lock.json
PAGE    := src/plait/ui/index.html
WRITTEN := $(shell find ui/src ui/public -type f 2>/dev/null) ui/index.html ui/vite.config.ts ui/tsconfig.json
BROWSER := $(VENV)/.browser
SANDBOX := $(VENV)/.sandbox
SEEDS  ?=
LONG   ?=
# Most tests wait for processes that they started, so more of them run at once than there are cores.
WORKERS ?= 6
PYTEST := $(BIN)/pytest -n $(WORKERS) --dist worksteal
# Without bytecode every process that a test starts, and every pytest worker, would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo page test set-up test-agents test-ray unit check check-types check-tests check-style check-page format sim crash soak stress fuzz pictures bench mutants lock clean

help:  ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 13

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "plait needs Python 3.11 or newer; $$($(PYTHON) --version) found. Try: make PYTHON=python3.12" >&2; exit 2; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

demo: $(STAMP)  ## run the tasks of a small repository: no keys, no network
	@$(BIN)/plait demo

page: $(PAGE)  ## the web page that plait serve shows

test: set-up check unit sim mutants  ## everything CI runs

# At the same time, because each of them waits or has one core to itself; but two at a time can't install system packages.
set-up:
	@$(MAKE) --no-print-directory --jobs=4 --output-sync=target $(STAMP) $(OPENAPI) $(FEW) $(PAGE) $(BROWSER) $(SANDBOX)

test-agents: $(STAMP) $(ALL) $(PIPPED) $(SANDBOX)  ## the real coding tools, all that npm and PyPI have, against a scripted model
	PLAIT_AGENTS_LONG=1 $(BIN)/pytest -n 2 tests/realagents

test-ray: $(STAMP)  ## attempts on a Ray cluster of three nodes on this machine, with nodes and engines killed and stopped
	PLAIT_RAY_LONG=1 $(BIN)/pytest -n 0 tests/runtime/ray

test-containers: $(STAMP)  ## attempts in containers of podman, which is installed if it can be, and of docker if it runs
	sh tests/runtime/sandbox/podman.sh
	PLAIT_CONTAINERS=1 $(BIN)/pytest -q tests/runtime/sandbox/test_podman.py

unit: $(STAMP) $(OPENAPI) $(FEW) $(PAGE) $(BROWSER) $(SANDBOX)
	$(PYTEST)

$(UI): ui/package-lock.json
	npm ci --prefix ui --ignore-scripts --no-audit --no-fund --silent
	@touch $@

$(PAGE): $(UI) $(WRITTEN)
	npm run build --prefix ui --silent
	@touch $@

$(BROWSER): tests/ui/browser.sh | $(STAMP)
	sh tests/ui/browser.sh $(BIN)/playwright
	@touch $@

$(SANDBOX): tests/runtime/sandbox/bubblewrap.sh | $(STAMP) $(filter $(BROWSER),$(MAKECMDGOALS))
	sh tests/runtime/sandbox/bubblewrap.sh
	@touch $@

# What GitHub says of its own interface: pull requests are checked against it.
$(OPENAPI): tests/forges/openapi/package-lock.json
	npm ci --prefix tests/forges/openapi --ignore-scripts --no-audit --no-fund --silent
	@touch $@

$(FEW): $(TOOLS)/package-lock.json
	$(NPMCI) --omit=dev
	npm rebuild --prefix $(TOOLS) --silent @anthropic-ai/claude-code
	@touch $@

$(ALL): $(TOOLS)/package-lock.json
	$(NPMCI)
	npm rebuild --prefix $(TOOLS) --silent @anthropic-ai/claude-code opencode-ai
	@touch $(FEW) $@

$(VENV)/agents/%/.installed: requirements/%.txt | $(STAMP)
	$(PYTHON) -m venv $(VENV)/agents/$*
	$(VENV)/agents/$*/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/$*.txt
	@touch $@

check: $(STAMP) $(PAGE)  ## format, lint, types, imports, and the page: its size and unit tests
	@$(MAKE) --no-print-directory --jobs=2 --output-sync=target check-types check-tests check-style check-page

check-types:
	$(BIN)/mypy

# Every test can be imported. It is done once here, because each worker of `make unit` would compile all of them.
check-tests:
	@$(BIN)/pytest --collect-only --quiet >$(VENV)/collect.log || { cat $(VENV)/collect.log; exit 1; }

check-style:
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-cache

check-page:
	npm run check --prefix ui --silent
	npm run types --prefix ui --silent -- --check
	npm run size --prefix ui --silent
	npm test --prefix ui --silent

format: $(STAMP) $(UI)  ## format the code
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	npm run format --prefix ui --silent

sim: $(STAMP)  ## simulated batches with crashes; LONG=1 for a million records and more
	$(BIN)/python -m tests.support.simulation $(if $(LONG),--long) $(if $(SEEDS),--seeds $(SEEDS))

crash: $(STAMP)  ## kill engines, front ends and writers, fill disks, damage files; LONG=1 for 300 kills and more
	PLAIT_CRASH_LONG=$(LONG) $(BIN)/pytest -n 2 tests/crash tests/cli/contests/test_contest_kill.py

soak: $(STAMP)  ## batches with worktrees, dropped from and added to, and many tasks at once; LONG=1 for 60 and 1,000
	PLAIT_SOAK_LONG=$(LONG) $(BIN)/pytest -n 2 -s tests/cli/worktree_runs/test_random_batches.py tests/cli/worktree_runs/test_many_tasks.py

stress: $(STAMP)  ## others write a source at the same time, and hostile texts; LONG=1 for more, and for all properties
	PLAIT_STRESS_LONG=$(LONG) PLAIT_HOSTILE_LONG=$(LONG) $(BIN)/pytest tests/system/status_files/test_write_stress.py tests/sources/test_hostile_texts.py
	$(if $(LONG),PLAIT_EXAMPLES=1000 $(PYTEST) tests/agents tests/config tests/core tests/sources tests/store)

pictures: $(STAMP) $(PAGE) $(BROWSER)  ## the pictures of the page in docs/img
	@mkdir -p docs/img
	PLAIT_PICTURES=1 $(BIN)/pytest -q tests/ui/test_all_views.py

fuzz: $(STAMP)  ## requests that the OpenAPI document allows and ones that it does not, generated: some minutes
	PLAIT_CONTRACT_LONG=1 $(BIN)/pytest tests/server/test_openapi_contract.py tests/server/test_event_routes.py

bench: $(STAMP)  ## ratios against a floor in the same run; a table and bench/results/*.json
	$(BIN)/python -m bench

mutants: $(STAMP)  ## deliberate defects, each of which the simulator must catch
	$(BIN)/python -m tests.support.mutants

lock: $(STAMP)  ## compile the hashed locks from pyproject.toml
	$(PYTHON) -m venv $(VENV)/lock && $(VENV)/lock/bin/python -m pip install --quiet uv
	$(VENV)/lock/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	  --custom-compile-command "make lock" pyproject.toml -o requirements/run.txt
	$(VENV)/lock/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	  --custom-compile-command "make lock" --group dev pyproject.toml -o requirements/dev.txt
	for tool in aider mini; do \
	  $(VENV)/lock/bin/uv pip compile --quiet --universal --generate-hashes --python-version 3.11 --no-emit-index-url \
	    --custom-compile-command "make lock" requirements/$$tool.in -o requirements/$$tool.txt || exit; \
	done

clean:  ## remove everything that was built or installed
	rm -rf $(VENV) ui/node_modules src/plait/ui tests/forges/openapi/node_modules $(TOOLS)/node_modules .mypy_cache .ruff_cache .pytest_cache .hypothesis dist build
