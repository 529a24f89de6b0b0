//! Answers that one thread remembers while it asks recorded questions again.

use std::sync::Arc;

use policy::diff::Outcome;

/// As many as it remembers.
pub(super) const MOST: usize = 1 << 16;

#[allow(clippy::disallowed_types, reason = "it is only ever looked up, so its order reaches nothing")]
pub(super) type Remembered = std::collections::HashMap<Box<[u8]>, Arc<Outcome>>;
