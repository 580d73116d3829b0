# One command for everything: "make help" lists them.
#
# The commands work in .venv, made on first use from $(PYTHON). For a second Python side by side:
# make test PYTHON=python3.13 VENV=.venv-3.13

PYTHON ?= python3
VENV ?= .venv
# Further arguments for pytest: make test ARGS="-k numbers"
ARGS ?=
# How many processes share a test run; 0: the run is one process, as a debugger wants it.
JOBS ?= 2

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
SPLIT := -n $(JOBS) --dist worksteal
PYTEST := $(BIN)/python -m pytest $(SPLIT)

# What the installed package is built from; anything else is read from the checkout as it is.
BUILD_INPUTS := pyproject.toml setup.py overturn_fast/_version.py csrc/ffi_build.py \
	csrc/native.cdef $(wildcard csrc/core/*.[ch] csrc/python/*.[ch])

# Succeeds where a C compiler and Python's headers are there, so that a build has no excuse.
CAN_COMPILE = echo '\#include <Python.h>' | $(CC) -fsyntax-only -x c \
	-I"$$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("include"))')" - \
	> /dev/null 2>&1

# Succeeds where the native library of this Python lies in the checkout, loadable or not.
IS_BUILT = $(BIN)/python -c 'import importlib.machinery as m, os, sys; \
	sys.exit(not any(os.path.exists("overturn_fast/_native" + s) for s in m.EXTENSION_SUFFIXES))'

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help run test test-native test-pure lint format sanitize wheel bench bench-plot \
	bench-docs bench-growth bench-instructions bench-instructions-update bench-numbers bench-text \
	bench-shape bench-sdk bench-audit verify-numbers clean

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-25s %s\n", $$1, $$2 }' Makefile

run: $(VENV)/.installed-cli ## Print the fingerprints of examples/calls.ndjson
	@$(BIN)/overturn-fast fingerprint examples/calls.ndjson

test: $(VENV)/.installed-test ## Run the whole suite twice: native backend, then pure Python
	@if $(IS_BUILT); then \
		$(MAKE) --no-print-directory test-native; \
	elif [ -n "$$CI" ]; then \
		echo "make test: no native library was built, and CI is set" >&2; exit 1; \
	fi
	@$(MAKE) --no-print-directory test-pure
	@$(IS_BUILT) || echo "make test: no C compiler with Python's headers was found," \
		"so only the pure-Python backend was tested;" \
		"after installing them: make clean test" >&2

test-native: $(VENV)/.installed-test ## Run the suite on the native backend
	OVERTURN_FAST_BACKEND=native $(PYTEST) $(ARGS)

test-pure: $(VENV)/.installed-test ## Run the suite on the pure-Python backend
	OVERTURN_FAST_BACKEND=python $(PYTEST) $(ARGS)

lint: $(VENV)/.installed-dev ## Check formatting, style, types and strict compilation
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/clang-format --dry-run -Werror $(wildcard csrc/*/*.[ch])
	PYTHON=$(BIN)/python tools/check_c.sh

format: $(VENV)/.installed-dev ## Lay out Python and C files as lint wants them
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/clang-format -i $(wildcard csrc/*/*.[ch])

# The variant is installed beside a copy of what the tests read, so that neither it nor the release
# build in the checkout can be taken for the other. --capture=sys lets a sanitizer's last words,
# which it writes to the file descriptor, through.
SANITIZE := $(CURDIR)/build/sanitize
SANITIZE_CC := gcc
SANITIZE_LIBRARIES = $(foreach name,libasan.so libubsan.so libstdc++.so.6,$(shell \
	$(SANITIZE_CC) -print-file-name=$(name)))
TEST_FILES := $(wildcard CHANGELOG.md Makefile README.md benchmarks csrc docs examples \
	pyproject.toml tests tools)
# What runs on the twin alone, or measures, shows nothing about the C code and takes very long here.
SANITIZED := -m "not memory" -k "not python or pythons or numpy" --ignore=tests/test_benchmarks.py
sanitize: $(VENV)/.installed-test ## Run the suite under AddressSanitizer and UBSan (Linux, gcc)
	@[ "$$(uname -s)" = Linux ] || { echo "make sanitize: runs on Linux only" >&2; exit 1; }
	@rm -rf $(SANITIZE)
	@mkdir -p $(SANITIZE)/tree
	CC=$(SANITIZE_CC) OVERTURN_FAST_BUILD=sanitize OVERTURN_FAST_REQUIRE_NATIVE=1 \
		$(PIP) install --no-deps --target $(SANITIZE)/site .
	@cp -R $(TEST_FILES) $(SANITIZE)/tree
	cd $(SANITIZE)/tree && env \
		LD_PRELOAD="$(SANITIZE_LIBRARIES)" \
		ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1 \
		UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
		PYTHONMALLOC=malloc PYTHONPATH=$(SANITIZE)/site OVERTURN_FAST_BACKEND=native \
		$(abspath $(BIN))/python -m pytest $(SPLIT) $(SANITIZED) -p no:cacheprovider \
		--capture=sys $(ARGS)

wheel: $(VENV)/.installed-dev ## Build sdist and wheel, and run the suite on the wheel alone
	@rm -rf dist
	OVERTURN_FAST_REQUIRE_NATIVE=1 $(BIN)/python -m build --outdir dist .
	$(BIN)/python tools/check_wheel.py dist -- $(SPLIT)

bench: $(VENV)/.installed-bench ## Measure against the other implementations; print one table
	$(BIN)/python -m benchmarks

bench-plot: $(VENV)/.installed-bench ## Draw the newest results of make bench for the README
	$(BIN)/python -m benchmarks.plot

bench-docs: bench-plot ## Draw the chart, and put the newest results into README and docs
	$(BIN)/python -m benchmarks.markdown

bench-growth: $(VENV)/.installed-bench ## Measure the time per byte from 1 KB to 64 MB
	$(BIN)/python -m benchmarks.growth

bench-instructions: $(VENV)/.installed-cli ## Count instructions of calls; fail if a count grew
	$(BIN)/python -m benchmarks.instructions

bench-instructions-update: $(VENV)/.installed-cli ## Store the counts, on purpose
	$(BIN)/python -m benchmarks.instructions --update

bench-numbers: $(VENV)/.installed-bench ## Measure numbers alone: written, read, and in lists
	$(BIN)/python -m benchmarks.numbers

bench-text: $(VENV)/.installed-bench ## Measure RFC 8785: of text, of objects, and with two threads
	$(BIN)/python -m benchmarks.text

bench-sdk: $(VENV)/.installed-bench ## Measure the SDK with install() and without, and compat
	$(BIN)/python -m benchmarks.sdk

bench-shape: $(VENV)/.installed-bench ## Measure shapes: of objects, of text, and learning them
	$(BIN)/python -m benchmarks.shape

bench-audit: $(VENV)/.installed-bench ## Measure an audit of a million calls, and its memory
	$(BIN)/python -m benchmarks.audit

verify-numbers: $(VENV)/.installed-test ## Check 100,000,000 texts of numbers, then random doubles
	$(BIN)/python tools/verify_numbers.py

clean: ## Remove the environment and everything that was built
	rm -rf $(VENV) build dist wheelhouse overturn_fast.egg-info overturn_fast/*.so
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis .benchmarks
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The environment. Each .installed-EXTRA stamp is an editable install with that extra, and with the
# native library in the checkout; it is renewed when a file that goes into the library changes.

$(BIN)/python:
	@command -v $(PYTHON) > /dev/null || { echo "overturn_fast needs Python 3.10 or newer;" \
		"there is no $(PYTHON). Name another one: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { \
		echo "overturn_fast needs Python 3.10 or newer; $(PYTHON) is" \
			"$$($(PYTHON) --version 2>&1). Name another one: make PYTHON=python3.12 ..." >&2; \
		exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-cli: | $(BIN)/python
$(VENV)/.installed-test: | $(BIN)/python
$(VENV)/.installed-bench: | $(BIN)/python
$(VENV)/.installed-dev: | $(BIN)/python
$(VENV)/.installed-%: $(BUILD_INPUTS)
	@if [ -z "$$OVERTURN_FAST_PURE" ] && $(CAN_COMPILE); then export OVERTURN_FAST_REQUIRE_NATIVE=1; fi; \
		echo "$(PIP) install -e '.[$*]'"; $(PIP) install -e '.[$*]'
	@$(BIN)/python -c 'import overturn_fast as f; print("overturn_fast", f.__version__, \
		"with the", f.backend, "backend", f"({f.native_error})" if f.native_error else "")'
	@case $* in \
		dev) touch $(VENV)/.installed-cli $(VENV)/.installed-test $(VENV)/.installed-bench ;; \
		test) touch $(VENV)/.installed-cli ;; \
	esac
	@touch $@
