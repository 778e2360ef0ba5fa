# Every target sets up what it needs in the clone: .venv with the locked dependencies, and the engine
# in it, rebuilt only when its sources change. scripts/setup.sh reports what it cannot install itself.

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
# Without compiled modules, each of the many processes of the tests would compile the packages again.
unexport PYTHONDONTWRITEBYTECODE

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
# Two processes more than processors, as tests wait for programs; up to four, as the Ray clusters of the tests need memory.
TOGETHER := --numprocesses $(shell n=$$(getconf _NPROCESSORS_ONLN); echo $$((n < 2 ? n + 2 : 4))) --dist loadgroup
CASES ?= 20000
RUNS ?= 1000000

# $(call step,TEXT) prints the current step.
step = @printf '\n==> %s\n' '$(1)'

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1\t/' | expand -t 20

.PHONY: demo
# The tables fit 80 columns, also where stdout is not a terminal.
demo: export COLUMNS := 80
demo: engine ## Build the engine, draw users and hit ratio against the write cache, size an array and write report.html
	$(call step,users and hit ratio against the size of the write cache)
	@$(BIN)/destage run examples/users-against-cache.yaml --store $(STORE) --report $(REPORT)
	@$(BIN)/python scripts/published_counts.py | fold -s -w 80
	$(call step,the cheapest array for 300 virtual desktops)
	@$(BIN)/destage size --users 300 --workload vdi --store $(STORE)

.PHONY: test
# The test cluster is used if it is already built, as building it takes longer than everything else.
test: export BUILD ?= 0
test: engine $(OBJECT_SERVER_READY) rust-lints ## Run the checks of CI: all packages, and a short form of each long suite
	@$(MAKE) lint
	@$(MAKE) --jobs 2 --output-sync=target test-python test-rust types layers docs-check chart-test browser-test cluster-smoke

.PHONY: cluster-smoke
cluster-smoke: engine
	@$(MAKE) cluster-test PYTEST_ARGS="-m smoke"

.PHONY: test-all
# It needs only Python, so that a suite whose set-up fails is a row of the table.
test-all: python ## Run every suite, and print a table; FROM=SUITE begins with a later one
	@$(BIN)/python scripts/test_all.py $(if $(FROM),--from $(FROM))

.PHONY: lint
lint: python rust-lints ## Check formatting and lints of Python, Rust and shell
	$(call step,formatting)
	@$(BIN)/ruff format --check
	@cargo fmt --manifest-path engine/Cargo.toml --all --check
	$(call step,lints)
	@$(BIN)/ruff check
	@$(BIN)/shellcheck scripts/*.sh .ci/run
	@$(CARGO) clippy $(CARGO_AT) --all-targets --locked -- -D warnings

.PHONY: types
types: engine ## Check types of the packages and benchmarks with mypy --strict, and the engine's stub against the compiled engine
	$(call step,types)
	@$(BIN)/mypy
	@$(BIN)/mypy benchmarks
	@$(BIN)/python -m mypy.stubtest --ignore-disjoint-bases destage.engine._engine

.PHONY: layers
layers: python ## Check which packages import which
	$(call step,layers)
	@$(BIN)/lint-imports --no-logo --no-cache --config pyproject.toml

.PHONY: docs
docs: engine ## Regenerate docs/reference/
	@$(BIN)/python scripts/generate_docs.py

.PHONY: map
map: engine ## Draw the folders, their imports and two paths; writes docs/architecture.md and its pictures
	@$(BIN)/python scripts/map.py

.PHONY: docs-check
docs-check: engine
	$(call step,generated documentation)
	@$(BIN)/python scripts/generate_docs.py --check
	@$(BIN)/python benchmarks/growth_page.py --check
	@$(BIN)/python scripts/truth.py --check
	@$(BIN)/python scripts/calibrated_systems.py --check
	@$(BIN)/python scripts/map.py --check

.PHONY: test-rust
test-rust: python ## Run the Rust tests
	$(call step,Rust tests)
	@$(CARGO) test $(CARGO_AT) --locked

.PHONY: test-python
test-python: engine $(OBJECT_SERVER_READY) ## Run the Python tests that need no special environment
	$(call step,Python tests)
	@$(BIN)/pytest $(TOGETHER) $(PYTEST_ARGS)

.PHONY: browser-test
browser-test: engine ## Test `destage report --serve` in a real browser; installs missing Chromium if run as root on Debian
	$(call step,tests in a browser)
	@scripts/setup.sh browser
	@$(BIN)/pytest -m browser tests/browser $(PYTEST_ARGS)

.PHONY: test-long
test-long: engine $(OBJECT_SERVER_READY) ## Run the long Python tests, such as comparing every figure of all studies
	$(call step,long Python tests)
	@$(BIN)/pytest $(TOGETHER) -m long $(PYTEST_ARGS)

.PHONY: validation
validation: engine ## Check the model against closed forms and measurements; writes docs/validation.md
	$(call step,the engine with mistakes)
	@$(CARGO) build --manifest-path engine/Cargo.toml -p destage-bindings --release --locked --features mutations \
	  --target-dir engine/target/mutations
	$(call step,proofs)
	@DESTAGE_VALIDATION_REPORT=docs/validation.md $(BIN)/pytest tests/validation $(PYTEST_ARGS)

.PHONY: truth
truth: engine ## Predict the rates measured on real systems and print how well they agree; writes docs/truth.md and its picture
	@$(BIN)/python scripts/truth.py

.PHONY: calibrated-systems
calibrated-systems: engine ## Calibrate each measured system on six of its results and predict the others; writes docs/calibrated-systems.md
	@$(BIN)/python scripts/calibrated_systems.py $(STORE)

.PHONY: studies
studies: engine ## Run every bundled study; writes docs/published-experiments.md, docs/published/ and the tables of docs/calibrating.md
	@$(BIN)/python scripts/published_experiments.py $(STORE) docs/published-experiments.md
	@$(BIN)/python scripts/calibrating_page.py $(STORE)

.PHONY: readme-picture
readme-picture: engine ## Run the call-centre study and write the picture of README.md, a figure of its report
	@$(BIN)/destage run call_center_curve --store $(STORE) --quiet
	@$(BIN)/destage report call_center_curve --store $(STORE) --plot users_against_write_cache \
	  --out docs/images/users-against-cache.svg

.PHONY: chaos
chaos: engine $(OBJECT_SERVER_READY) ## Run 200 random schedules of faults, and the long kill-and-resume tests; CHAOS_SEED, CHAOS_ONLY
	@servers=$$(scripts/object_servers.sh) && export DESTAGE_OBJECT_SERVERS="$$servers" && \
	  { $(BIN)/pytest $(TOGETHER) -m chaos tests/chaos $(PYTEST_ARGS); schedules=$$?; } && \
	  { [ -n "$(CHAOS_ONLY)" ] || $(BIN)/pytest $(TOGETHER) -m chaos --ignore=tests/chaos $(PYTEST_ARGS); } && exit $$schedules

.PHONY: chart
chart: engine ## Regenerate the generated files of the Helm chart, and package it into dist/
	@$(BIN)/python scripts/generate_chart.py
	@scripts/package_chart.sh

.PHONY: chart-test
chart-test: engine ## Test the Helm chart: lint, unit tests, KubeRay's schemas, Pod Security, equality with `submit`
	$(call step,the chart)
	@scripts/chart_test.sh $(PYTEST_ARGS)

.PHONY: cluster-test
cluster-test: engine ## Test sweeps on a real Kubernetes with real pods; the first run builds it (ten minutes); OPERATOR=PATH runs KubeRay's own operator
	$(call step,sweeps on the test cluster)
	@DESTAGE_TEST_OPERATOR=$(abspath $(OPERATOR)) scripts/cluster_test.sh $(PYTEST_ARGS)

.PHONY: objects-test
objects-test: engine $(OBJECT_SERVER_READY) ## Test stores in buckets on two S3 servers and the emulators of Google and Azure
	@servers=$$(scripts/object_servers.sh) && DESTAGE_OBJECT_SERVERS="$$servers" $(BIN)/pytest tests/objects $(PYTEST_ARGS)

.PHONY: workloads-test
workloads-test: engine ## Compare imported fio jobs with what the real fio sends; on Debian, root installs fio if there is none
	$(call step,workloads against fio)
	@scripts/setup.sh fio
	@$(BIN)/pytest -m fio tests/workloads $(PYTEST_ARGS)

.PHONY: wheel
wheel: python ## Build the wheel into dist/, with profile-guided optimisation (two builds of the engine)
	@scripts/build_wheel.sh dist --compatibility linux --auditwheel skip

.PHONY: wheels
wheels: python ## Build the wheels for release into dist/: manylinux for x86-64 and aarch64, with profile-guided optimisation
	@scripts/build_wheels.sh dist

.PHONY: training
training: engine ## Regenerate the scenarios that `make wheel` trains the engine with
	@$(BIN)/python scripts/wheel/generate.py

.PHONY: image
image: ## Build the container image with Docker; IMAGE names it, PUSH=1 pushes it with its bill of materials
	@scripts/build_image.sh

.PHONY: image-test
image-test: engine ## Build image/Dockerfile without Docker (buildah, which root installs on Debian) and test it; ten minutes cold
	$(call step,the container image)
	@scripts/setup.sh image
	@scripts/image_test.sh $(PYTEST_ARGS)

.PHONY: fuzz
fuzz: python ## Run CASES random scenarios, valid and invalid, in the debug build
	@DESTAGE_FUZZ_CASES=$(CASES) $(CARGO) test --manifest-path engine/Cargo.toml --locked -p destage-core --lib -- simulation::fuzz trace::formats::fuzz

.PHONY: bench
# All tables are printed, and the exit code is that of the worst.
bench: engine ## Run all benchmarks and check their floors; LIBCACHESIM=PYTHON compares with libCacheSim, which is left out otherwise
	@worst=0; \
	for script in run instructions orchestration execution reading startup; do \
	  $(BIN)/python benchmarks/$$script.py || worst=1; \
	done; \
	$(BIN)/python benchmarks/replacement.py $(if $(LIBCACHESIM),--libcachesim $(LIBCACHESIM)) || worst=1; \
	exit $$worst

.PHONY: growth
growth: engine ## Measure how cost grows with size; writes benchmarks/results/growth.json and docs/benchmarks.md
	@$(BIN)/python benchmarks/growth.py
	@$(MAKE) bench-page

.PHONY: replacement
# The page is written even if a policy misses its floor.
replacement: engine ## Compare replacement policies with libCacheSim, which the Python LIBCACHESIM has; writes benchmarks/results/replacement.json and docs/benchmarks.md
	@[ -n "$(LIBCACHESIM)" ] || { echo "set LIBCACHESIM to a Python that has libcachesim" >&2; exit 2; }
	@code=0; $(BIN)/python benchmarks/replacement.py --libcachesim $(LIBCACHESIM) --json benchmarks/results/replacement.json \
	  || code=$$?; $(BIN)/python benchmarks/growth_page.py; exit $$code

.PHONY: bench-page
bench-page: engine ## Write the measured parts of docs/benchmarks.md from the stored results
	@$(BIN)/python benchmarks/growth_page.py

.PHONY: scale
# Only a sweep of the default size replaces the stored result.
scale: engine ## Plan, run, kill and resume a sweep of RUNS runs (default 1000000) with a stand-in for the engine; the default size updates docs/benchmarks.md, with the remark NOTE
	@code=0; $(BIN)/python benchmarks/scale.py --runs $(RUNS) $(if $(NOTE),--note "$(NOTE)") \
	  $(if $(filter 1000000,$(RUNS)),--json benchmarks/results/scale.json) || code=$$?; \
	$(if $(filter 1000000,$(RUNS)),$(BIN)/python benchmarks/growth_page.py;) exit $$code

SPOT_RUNS ?= 100000

.PHONY: spot
spot: engine ## Run SPOT_RUNS runs (default 100000) on Ray while two thirds of its machines are drained or killed, and print what was executed twice
	@SPOT_RUNS=$(SPOT_RUNS) $(BIN)/pytest --numprocesses 0 -rP -m "chaos or not chaos" tests/system/test_ray_spot.py

.PHONY: lock
lock: python ## Resolve requirements.lock again; UPGRADE=1 selects the newest versions
	@$(BIN)/uv pip compile pyproject.toml --all-extras --group dev --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --extra ray --extra cluster --extra scipy --extra search --constraint requirements.lock --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate --quiet -o image/requirements.lock
	@$(BIN)/uv pip compile scripts/chart-tools/requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) -o scripts/chart-tools/requirements.lock
	@$(BIN)/uv pip compile tests/objects/requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) -o tests/objects/requirements.lock
	@$(BIN)/uv pip compile tests/image/requirements.in --universal --python-version 3.11 --generate-hashes \
	  --no-header --no-annotate --quiet $(if $(UPGRADE),--upgrade) -o tests/image/requirements.lock

.PHONY: engine
engine: $(ENGINE_READY) ## Build the engine (release) into .venv

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

# Missing from a clone that still has .venv: build it again.
ifeq ($(wildcard engine/python/_engine*.so),)
.PHONY: $(ENGINE_READY)
endif

.PHONY: clean
clean: ## Remove everything that the targets created, including .venv and the demo's store
	@rm -rf .venv engine/target dist .test-all $(STORE) $(REPORT) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@rm -f engine/python/_engine*.so
