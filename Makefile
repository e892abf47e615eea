# Each target does its own set-up, on a machine with Python 3.11+, git and Node.
.DEFAULT_GOAL := help
.PHONY: help setup demo demo-paperclip test lint bench soak clean

PY := .venv/bin/python

help:
	@echo 'make demo    a first campaign, published to a local repository'
	@echo 'make demo-paperclip   the same on real Paperclip servers, without a model'
	@echo 'make test    every behaviour once'
	@echo 'make lint    ruff, mypy and the import contract'
	@echo 'make bench   measure against peers and limits'
	@echo 'make soak    repeats and big sizes'

setup:
	@scripts/setup.sh

demo: setup
	@scripts/demo.sh

demo-paperclip:
	@scripts/setup.sh paperclip
	@scripts/demo-paperclip.sh

test:
	@scripts/setup.sh test paperclip
	@# 25 minutes are the aim on two cores; 40 mean that something is badly wrong.
	timeout 40m $(PY) -m pytest -n 2 --dist worksteal -m 'not soak'

lint: setup
	.venv/bin/ruff check
	.venv/bin/ruff format --check
	.venv/bin/mypy
	.venv/bin/lint-imports

bench:
	@scripts/setup.sh test
	$(PY) -m benchmarks

soak:
	@scripts/setup.sh test paperclip
	$(PY) -m pytest -n 2 --dist worksteal -m soak

clean:
	rm -rf .venv .tools tests/node/node_modules tests/live/agents/node_modules runner-e2e-results
