//! How much is tried. `make test` holds every promise, and tries a little of what has no end; `make prove` (`OK_PROVE`) goes
//! through all of it, and tries each law ten times longer (`PROPTEST_CASES`).

use proptest::prelude::ProptestConfig;

/// Whether everything is gone through.
pub fn proves() -> bool {
    std::env::var_os("OK_PROVE").is_some()
}

/// Everything, or one of so many.
pub fn some_of<T>(all: Vec<T>, of: usize) -> Vec<T> {
    let step = if proves() { 1 } else { of };
    all.into_iter().step_by(step).collect()
}

/// A law that takes so long that few cases of it are tried, unless more are asked for.
pub fn law(cases: u32) -> ProptestConfig {
    const USUAL: u32 = 256;
    let usual = ProptestConfig { failure_persistence: None, max_shrink_iters: 200, ..ProptestConfig::default() };
    ProptestConfig { cases: (cases * usual.cases).div_ceil(USUAL), ..usual }
}
