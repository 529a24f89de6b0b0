# `make demo` and `make test` do everything; both use the dev profile, so that the second reuses what the first has built.
.PHONY: demo web web-or-say test test-web test-browser build-all ci ci-build ci-test prove lint release bench reference deny clean-demo

CARGO ?= cargo
OK := target/debug/ok
DEMO := demo
APP := src/web/app
DIST := src/web/dist/index.html
WEB_SOURCES := $(shell find $(APP) \( -name node_modules -o -name '*.test.*' -o -name browser \) -prune -o -type f -print) docs/reference/openapi.json

# Builds, makes a demo company in ./demo unless there is one, serves on 127.0.0.1:8080 and prints a link for each of its people.
demo:
	@$(MAKE) --no-print-directory web-or-say
	cargo build --bin ok
	@test -e $(DEMO)/state.db || $(OK) demo --dir $(DEMO)
	$(OK) demo serve --dir $(DEMO)

# The workspace, when its sources are newer than what was built of them. Needs Node 20.19 or newer.
web: $(DIST)

$(DIST): $(APP)/node_modules/.package-lock.json $(WEB_SOURCES)
	cd $(APP) && npm run --silent build
	@touch $(DIST)

$(APP)/node_modules/.package-lock.json: $(APP)/package-lock.json $(APP)/package.json
	cd $(APP) && npm ci --no-audit --no-fund
	@touch $@

web-or-say:
	@if node -e 'const [a, b] = process.versions.node.split(".").map(Number); process.exit(a > 20 || (a === 20 && b >= 19) ? 0 : 1)' 2>/dev/null && command -v npm >/dev/null; \
	then $(MAKE) --no-print-directory web; \
	else echo "The binary is built without the workspace, which needs Node 20.19 or newer and npm: install them and run this again."; fi

# Some tests wait for something outside, and others work meanwhile.
test ci-test prove: export RUST_TEST_THREADS := $(shell expr $$(getconf _NPROCESSORS_ONLN) + 2)

# Every check.
test: lint
	@$(MAKE) --no-print-directory web-or-say
	INSTA_UPDATE=no cargo test
	@ls /usr/lib/postgresql/*/bin/postgres >/dev/null 2>&1 || command -v postgres >/dev/null || echo "Collections in a PostgreSQL are not tested: install one (apt install postgresql)."
	@$(MAKE) --no-print-directory test-web

# The same from nothing, as `.ci/cargo.toml` says.
ci ci-build ci-test: export CARGO := cargo --config $(CURDIR)/.ci/cargo.toml
ci:
	@$(MAKE) --no-print-directory ci-build
	@$(MAKE) --no-print-directory ci-test

ci-build:
	cargo fmt --check
	@$(MAKE) --no-print-directory -j2 web-or-say build-all

# After `ci-build`.
ci-test:
	INSTA_UPDATE=no $(CARGO) test
	@$(MAKE) --no-print-directory test-web

# All that there is at once, so that both cores have something to do to the end. Benches are only compiled: `make bench` runs them.
# Not `--all-targets`, which compiles crates without tests once more, as if they had some.
build-all:
	$(CARGO) test --no-run --tests --benches

# Every check as in `test`, each law ten times longer, and whole what `test` only takes a part of.
prove: lint
	@$(MAKE) --no-print-directory web-or-say
	OK_PROVE=1 PROPTEST_CASES=2560 INSTA_UPDATE=no cargo test
	cargo clippy --bins --tests --benches --features pdf -- -D warnings
	INSTA_UPDATE=no cargo test --features pdf --test main -- documents pdf house
	tests/mutants/try
	@OK_PROVE=1 $(MAKE) --no-print-directory test-web

# The workspace: its client against the API's document, types, eslint, vitest; and in a real browser, where there is one.
test-web:
	@if test ! -e $(DIST); then echo "The workspace is not tested: it is not built."; \
	else $(MAKE) --no-print-directory -j2 --output-sync=line test-browser check-stale check-types check-lint check-test; fi

# The parts of `npm run check`, one after the other beside the browser, which leaves a core idle a third of the time.
check-%:
	cd $(APP) && npm run --silent $*

CHROMIUM ?= /usr/bin/chromium
test-browser:
	@if test -x $(CHROMIUM); then $(MAKE) --no-print-directory web && $(CARGO) build --quiet --bin ok && cd $(APP) && CHROMIUM=$(CHROMIUM) npm run --silent browser; \
	else echo "The workspace is not tested in a browser: install Chromium (apt install chromium), or set CHROMIUM to its path."; fi

lint:
	cargo fmt --check
	cargo clippy --bins --tests --benches -- -D warnings

# For production: target/release/ok, which has the workspace in it as it was when src/http/web.rs was compiled.
release:
	@$(MAKE) --no-print-directory web-or-say
	@test ! $(DIST) -nt target/release/ok || touch src/http/web.rs
	cargo build --release --bin ok

# Figures of docs/guides/performance.md; needs a quiet machine.
bench:
	cargo bench

# Writes docs/reference, what is made of the schema and, with Node, the workspace's client anew.
reference:
	OK_UPDATE_REFERENCE=1 UPDATE_REFERENCE=1 cargo test --test main reference
	@test ! -d $(APP)/node_modules || (cd $(APP) && npm run --silent api)

# Licences, sources and bans of all dependencies; needs cargo-deny.
deny:
	cargo deny --config .deny.toml check licenses sources bans

clean-demo:
	rm -rf $(DEMO)
