//! The default policies, as they are built in: a test has validated them against the product's schema, so that no start of the
//! program does it again. It is half of what a command costs.
//!
//! Always true: only that very schema with those very files passes, byte for byte; `tests/reference.rs` writes their digest
//! once they have passed, and fails as long as it is another's.

use sha2::{Digest, Sha256};

use crate::policy::Bundle;

/// The digest of schema and policies that have passed.
const PASSED: &str = include_str!("validated.txt");

/// Whether this has been validated when the program was built.
pub(super) fn has_passed(schema: &str, bundle: &Bundle) -> bool {
    PASSED.trim_end() == digest(schema, bundle)
}

/// The digest of a schema and a bundle.
pub(super) fn digest(schema: &str, bundle: &Bundle) -> String {
    let mut both = Sha256::new();
    both.update(Sha256::digest(schema));
    both.update(bundle.hash().to_string());
    hex::encode(both.finalize())
}
