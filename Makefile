# Set-up, demo and tests. `make demo` and `make test` do all the set-up by themselves.
#
#   PYTHON   the Python to make the environment from (default: python3.11 if there is one, else python3)
#   VENV     where the environment lives (default: .venv)
#   JOBS     parallel compile jobs (default: number of cores)

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV   ?= .venv
JOBS   ?= $(shell nproc 2>/dev/null || echo 2)
OUT    ?= out

BIN       := $(VENV)/bin
DEPS      := $(VENV)/.deps-stamp
INSTALLED := $(VENV)/.install-stamp
TESTED    := $(VENV)/.install-tests-stamp
MOOSE     := $(VENV)/.moose-stamp
HOSTS     := $(VENV)/.hosts-stamp
CONDA     := $(VENV)/.conda-stamp
BUILD     := build/install

SOURCES := CMakeLists.txt pyproject.toml README.md LICENSE $(shell find cmake cpp python -type f -not -name '*.pyc')
CPP_TESTS := $(shell find tests/cpp -type f)

export CMAKE_BUILD_PARALLEL_LEVEL := $(JOBS)

.PHONY: help setup demo test test-python test-cpp conda distributions sanitize lint bench clean

help:
	@echo "make demo    set up, compile a law, run a notched bar in tension with it"
	@echo "make test    set up, lint, run every test; build, install and test the wheel and the conda packages"
	@echo "make conda   build the conda packages, install them into an environment and test them there"
	@echo "make distributions  build sdist and wheel and test them"
	@echo "make sanitize  build for ThreadSanitizer and AddressSanitizer, run the tests of threads and memory (ten minutes)"
	@echo "make bench   print the figures of benchmarks/"
	@echo "make clean   remove everything that was built"

setup: $(INSTALLED)

SAY = @echo "==="

$(DEPS): scripts/install_system_packages.sh scripts/requirements.txt
	$(SAY) "set-up 1 of 3: what the build needs of the system (g++, headers)"
	sh scripts/install_system_packages.sh
	$(SAY) "set-up 2 of 3: Python packages into $(VENV), PyTorch among them; a minute or more with a slow network"
	test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python -m pip install --quiet -r scripts/requirements.txt
	touch $@

# Finite-element codes that examples run in. Tests of one that cannot be had are skipped.
$(HOSTS): $(DEPS) scripts/requirements-hosts.txt
	$(BIN)/python -m pip install --quiet --no-deps -r scripts/requirements-hosts.txt && touch $@ || \
		echo "not all of scripts/requirements-hosts.txt could be installed: the tests that need it are skipped"

# `pip install .` with a build folder that is kept: a second call compiles only what changed.
PIP_INSTALL = $(BIN)/python -m pip install --quiet --no-build-isolation --no-deps --force-reinstall . \
	-C build-dir=$(BUILD)

$(INSTALLED): $(DEPS) $(SOURCES)
	$(SAY) "set-up 3 of 3: compiling and installing matlaw, $(JOBS) files at once; some minutes, silent until it is done"
	$(PIP_INSTALL)
	touch $@

$(TESTED): $(DEPS) $(SOURCES) $(CPP_TESTS)
	$(SAY) "set-up 3 of 3: compiling and installing matlaw and its C++ tests, $(JOBS) files at once; silent for some minutes"
	$(PIP_INSTALL) -C cmake.define.MATLAW_TESTS=ON
	touch $@ $(INSTALLED)

demo: $(INSTALLED)
	$(SAY) "demo 1 of 2: compiling a viscoplastic law into $(OUT)/demo/aoti"
	$(BIN)/matlaw-compile examples/models/j2_viscoplastic.i --model model -d stress:strain --backend native \
		--output-dir $(OUT)/demo/aoti
	$(SAY) "demo 2 of 2: a notched bar in tension with it, results in $(OUT)/demo"
	$(BIN)/matlaw-fe examples/fe/notched_bar.i -o $(OUT)/demo

lint: $(DEPS)
	$(BIN)/ruff check python tests benchmarks examples
	$(BIN)/ruff format --check python tests benchmarks examples
	$(BIN)/mypy
	find cpp tests/cpp examples -name '*.h' -o -name '*.cpp' | xargs $(BIN)/clang-format --dry-run --Werror

test: lint test-cpp test-python distributions conda

test-cpp: $(TESTED)
	$(SAY) "C++ tests: compiling the laws that they load"
	$(BIN)/python tests/artifacts.py
	MATLAW_TEST_ARTIFACTS="$(CURDIR)/build/test-artifacts" \
		$(BIN)/ctest --test-dir $(BUILD) --output-on-failure --no-tests=error -j $(JOBS)

# A real MOOSE for the tests of the UMAT plugin, where this system can have it; without it they are skipped.
$(MOOSE): $(DEPS) scripts/install_moose_wheel.py
	$(BIN)/python scripts/install_moose_wheel.py $(VENV)/moose
	touch $@

test-python: $(TESTED) $(MOOSE) $(HOSTS)
	$(BIN)/python -m pytest

$(CONDA): $(DEPS) scripts/requirements-conda.txt
	$(BIN)/python -m pip install --quiet -r scripts/requirements-conda.txt
	touch $@

# Without conda and without its servers: from a channel of this environment's own packages. docs/install.md.
conda: export PATH := $(CURDIR)/$(BIN):$(PATH)
conda: $(CONDA)
	$(BIN)/python scripts/conda/channel.py build/conda/channel
	$(BIN)/python scripts/conda/build.py build/conda
	MATLAW_CONDA="$(CURDIR)/build/conda" $(BIN)/python -m pytest tests/conda/test_recipe.py tests/conda/test_installed.py

distributions: $(INSTALLED)
	MATLAW_DISTRIBUTIONS=1 $(BIN)/python -m pytest tests/conda/test_distributions.py

sanitize: $(INSTALLED)
	$(BIN)/python tests/artifacts.py --native
	for which in thread address; do \
		PATH="$(CURDIR)/$(BIN):$$PATH" MATLAW_TEST_ARTIFACTS="$(CURDIR)/build/test-artifacts" \
			sh scripts/sanitize.sh $$which || exit 1; \
	done

bench: $(INSTALLED)
	@for script in benchmarks/*.py benchmarks/speed/latency.py benchmarks/speed/speed.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf build $(OUT) $(VENV)
