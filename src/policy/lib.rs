//! Cedar as the product uses it: bundles, closed entities, and the engine that gives the three answers.
//!
//! Usable without a server: this room reads files when asked to and nothing else; no clock, no network, no state.
//! The law of the room: whatever is not understood is denied. `docs/concepts/decisions.md` tells the rules in prose.

pub mod ancestry;
pub mod approvals;
mod base;
pub mod blueprints;
pub mod brain;
pub mod bundle;
pub mod check;
pub mod codes;
pub mod diff;
pub mod engine;
pub mod entities;
pub mod exempt;
pub mod expansion;
pub mod finding;
pub mod folder;
pub mod kinds;
pub mod lexer;
pub mod limits;
pub mod own;
pub mod plan;
pub mod record;
pub mod stack;
pub mod testing;
pub mod views;
pub mod yaml;

pub use bundle::{Bundle, Hash};
pub use engine::{Alterable, ExplainedPolicy, Explanation, Eyes, Observed, Scalar, ShownPart, State, Want};
pub use engine::{
    Answered, Because, Counts, Effect, PlainAnswer, PolicyMeta, Question, Ruling, Snapshot, Supposed, is_own,
};
pub use engine::{For, Giver};
pub use entities::{Closed, Slice};
pub use finding::{Finding, Severity};
pub use folder::{Folder, FolderError};
pub use record::{Facts, Record};
