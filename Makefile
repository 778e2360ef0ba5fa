# Every target sets up what it needs in the clone: .venv with the locked dependencies, and the engine
# in it, built anew only when its sources changed. scripts/setup.sh says what it cannot bring itself.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules --no-print-directory

# rustup's own folder is not on PATH until the next login, and an older cargo may be.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)
export CARGO_BUILD_JOBS ?= 2
export CARGO_TARGET_DIR := $(CURDIR)/engine/target
export PYO3_PYTHON := $(CURDIR)/.venv/bin/python
unexport VIRTUAL_ENV PYTHONPATH PYTHONHOME

BIN := .venv/bin
PYTHON_READY := .venv/.installed-lock
ENGINE_READY := .venv/.built-engine
OBJECT_SERVER_READY := .venv/object-server/.installed-lock
ENGINE_SOURCES := $(shell find engine -name target -prune -o \( -name '*.rs' -o -name 'Cargo.*' \) -print)
CARGO := cargo --quiet
CARGO_AT := --manifest-path engine/Cargo.toml --workspace
REPORT ?= report.html
STORE ?= destage-store
PYTEST_ARGS ?=
# As many processes as processors, up to the four that Ray's clusters in the tests leave memory for.
TOGETHER := --numprocesses auto --maxprocesses 4 --dist loadgroup
CASES ?= 20000

# $(call step,what is checked) prints where `make test` is.
step = @printf '\n==> %s\n' '$(1)'

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

.PHONY: demo
demo: engine ## set up, run the call-centre study, print the design space, write report.html
	@$(BIN)/destage study run call_center --store $(STORE) --report $(REPORT)

.PHONY: test
# The test cluster is used where it is built; building it takes longer than everything else.
test: export BUILD ?= 0
test: engine $(OBJECT_SERVER_READY) rust-lints ## the checks that CI runs: every room, and a short form of each long suite
	@$(MAKE) lint types layers docs-check
	@$(MAKE) --jobs 2 --output-sync=target test-rust test-python chart-test
	@$(MAKE) cluster-test PYTEST_ARGS="-m smoke"

.PHONY: test-all
test-all: test test-long chaos validation objects-test image-test cluster-test ## every suite: before an issue is resolved

.PHONY: lint
lint: python rust-lints ## formatting and lints of Python, Rust and shell
	$(call step,formatting)
	@$(BIN)/ruff format --check
	@cargo fmt --manifest-path engine/Cargo.toml --all --check
	$(call step,lints)
	@$(BIN)/ruff check
	@$(BIN)/shellcheck scripts/*.sh .ci/run
	@$(CARGO) clippy $(CARGO_AT) --all-targets --locked -- -D warnings

.PHONY: types
types: engine ## mypy --strict, and the engine's stub against the compiled engine
	$(call step,types)
	@$(BIN)/mypy
	@$(BIN)/python -m mypy.stubtest --ignore-disjoint-bases destage.engine._engine

.PHONY: layers
layers: python ## who may import whom
	$(call step,layers)
	@$(BIN)/lint-imports --no-logo --no-cache --config pyproject.toml

.PHONY: docs
docs: engine ## write the generated pages of docs/ anew
	@$(BIN)/python scripts/generate_docs.py

.PHONY: docs-check
docs-check: engine
	$(call step,generated documentation)
	@$(BIN)/python scripts/generate_docs.py --check

.PHONY: test-rust
test-rust: python ## the Rust tests
	$(call step,Rust tests)
	@$(CARGO) test $(CARGO_AT) --locked

.PHONY: test-python
test-python: engine $(OBJECT_SERVER_READY) ## the Python tests, the wheel's contents among them
	$(call step,Python tests)
	@$(BIN)/pytest $(TOGETHER) $(PYTEST_ARGS)

.PHONY: test-long
test-long: engine $(OBJECT_SERVER_READY) ## the Python tests that `make test` leaves out: all studies to the digit among them
	$(call step,long Python tests)
	@$(BIN)/pytest $(TOGETHER) -m long $(PYTEST_ARGS)

.PHONY: validation
validation: engine ## prove the model against closed forms at length; writes docs/validation.md
	$(call step,the engine with mistakes)
	@$(CARGO) build --manifest-path engine/Cargo.toml -p destage-bindings --release --locked --features mutations \
	  --target-dir engine/target/mutations
	$(call step,proofs)
	@DESTAGE_VALIDATION_REPORT=docs/validation.md $(BIN)/pytest tests/validation $(PYTEST_ARGS)

.PHONY: studies
studies: engine ## run every bundled study, the published experiments among them; writes docs/published-experiments.md and docs/published/
	@$(BIN)/destage study run --all --store $(STORE) --page docs/published-experiments.md

.PHONY: chaos
chaos: engine ## the long kill-and-resume tests
	@$(BIN)/pytest -m chaos $(PYTEST_ARGS)

.PHONY: chart
chart: engine ## write the generated files of the chart anew
	@$(BIN)/python scripts/generate_chart.py

.PHONY: chart-test
chart-test: engine ## the Helm chart: lint, unit tests, KubeRay's schemas, Pod Security, equality with the builder
	$(call step,the chart)
	@scripts/chart_test.sh $(PYTEST_ARGS)

.PHONY: cluster-test
cluster-test: engine ## sweeps on a real Kubernetes with real pods, which is built the first time, in ten minutes
	$(call step,sweeps on the test cluster)
	@scripts/cluster_test.sh $(PYTEST_ARGS)

.PHONY: objects-test
objects-test: engine $(OBJECT_SERVER_READY) ## stores in buckets: on two S3 servers and on Google's and Azure's emulators
	@servers=$$(scripts/object_servers.sh) && DESTAGE_OBJECT_SERVERS="$$servers" $(BIN)/pytest tests/objects $(PYTEST_ARGS)

.PHONY: image
image: ## build the container image with Docker; IMAGE names it, PUSH=1 pushes it with its bill of materials
	@scripts/build_image.sh

.PHONY: image-test
image-test: engine ## build image/Dockerfile without Docker (buildah, root) and test what comes out; cold, ten minutes
	$(call step,the container image)
	@scripts/image_test.sh $(PYTEST_ARGS)

.PHONY: fuzz
fuzz: python ## CASES random scenarios, sound and not, under the eyes of the debug build
	@DESTAGE_FUZZ_CASES=$(CASES) $(CARGO) test --manifest-path engine/Cargo.toml --locked -p destage-core --lib -- simulation::fuzz trace::formats::fuzz

.PHONY: bench
bench: engine ## the benchmarks: a table of the engine, one of planning, driving and reading
	@$(BIN)/python benchmarks/run.py
	@$(BIN)/python benchmarks/orchestration.py

.PHONY: lock
lock: python ## resolve requirements.lock anew; UPGRADE=1 takes the newest versions
	@$(BIN)/uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --constraint requirements.lock --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --quiet -o image/requirements.lock
	@$(BIN)/uv pip compile scripts/chart-tools/requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) -o scripts/chart-tools/requirements.lock
	@$(BIN)/uv pip compile tests/objects/requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) -o tests/objects/requirements.lock
	@$(BIN)/uv pip compile tests/image/requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) -o tests/image/requirements.lock

.PHONY: engine
engine: $(ENGINE_READY) ## build the engine (release) into .venv

.PHONY: python
python: $(PYTHON_READY)

.PHONY: rust-lints
rust-lints: .venv/.rust-lints

$(PYTHON_READY): requirements.lock
	@scripts/setup.sh python

.venv/.rust-lints: | $(PYTHON_READY)
	@scripts/setup.sh lints
	@touch $@

$(ENGINE_READY): $(ENGINE_SOURCES) pyproject.toml $(PYTHON_READY)
	@scripts/setup.sh engine

$(OBJECT_SERVER_READY): tests/objects/requirements.lock | $(PYTHON_READY)
	@scripts/setup.sh object-server
	@touch $@

# Gone from a clone whose .venv is still there: build it again.
ifeq ($(wildcard engine/python/_engine*.so),)
.PHONY: $(ENGINE_READY)
endif

.PHONY: clean
clean: ## remove what the targets made, .venv and the store of the demo among it
	@rm -rf .venv engine/target dist $(STORE) $(REPORT) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@rm -f engine/python/_engine*.so
