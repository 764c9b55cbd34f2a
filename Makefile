# Two commands do everything for a newcomer: make demo, make test.
.PHONY: demo test bench validate setup

demo:
	@./scripts/demo

test: setup
	@./scripts/test

# Ratios against the peers found on this machine, measured in the same run.
bench:
	@./scripts/bench

# The full-size figures and standing comparisons (more than an hour of real time); not part of make test.
validate:
	@./scripts/validate

setup:
	@./scripts/setup
