# `make demo` and `make test` do everything; both use the dev profile, so that the second reuses what the first has built.
.PHONY: demo test ci prove lint check release bench reference deny clean-demo

OK := target/debug/ok
DEMO := demo

# Builds, creates a company in ./demo unless there is one, prints the admin's token once, serves on 127.0.0.1:8080.
demo:
	cargo build --bin ok
	@test -e $(DEMO)/state.db || $(OK) --state $(DEMO)/state.db init --admin ana
	@test ! -e $(DEMO)/state.db || echo "Another token: $(OK) --state $(DEMO)/state.db --as ana token issue"
	$(OK) --state $(DEMO)/state.db serve

# Every check.
test: lint
	INSTA_UPDATE=no cargo test

# The same from nothing: clippy lints what it compiles, so dependencies are compiled once instead of checked, too.
ci: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
ci: export CLIPPY_ARGS := -D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__
ci:
	cargo fmt --check
	cargo build --benches
	INSTA_UPDATE=no cargo test

# Every check as in `test`, each law ten times longer, and whole what `test` only takes a part of.
prove: lint
	OK_PROVE=1 PROPTEST_CASES=2560 INSTA_UPDATE=no cargo test

lint:
	cargo fmt --check
	cargo clippy --all-targets -- -D warnings

# For production: target/release/ok
release:
	cargo build --release --bin ok

# Figures of docs/guides/performance.md; needs a quiet machine.
bench:
	cargo bench

# Writes docs/reference and policies/ok.cedarschema anew.
reference:
	OK_UPDATE_REFERENCE=1 UPDATE_REFERENCE=1 cargo test --test main reference

# Licences, sources and bans of all dependencies; needs cargo-deny.
deny:
	cargo deny --config .deny.toml check licenses sources bans

clean-demo:
	rm -rf $(DEMO)
