//! Types of break-glass grants.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;

named! {
    /// What a reviewer says of a grant and its uses.
    BreakGlassVerdict, "verdict", {
        /// It had to be done at once.
        Justified = "justified",
        /// It was not justified: the operation could have waited for approval.
        Unjustified = "unjustified",
    }
}
