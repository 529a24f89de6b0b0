//! The decision engine: Cedar's evaluator behind an index of our own, and the three answers on top.
//!
//! Always true: a snapshot never changes; the index only leaves out policies whose scope is false, so decision, reasons and
//! errors are those of plain Cedar; an answer is computed on the caller's stack, and Cedar refuses to evaluate (which is
//! then a fault, and a denial) when little of it is left: give threads that decide at least 2 MiB.

mod alike;
mod approvals;
mod behalf;
mod branch;
pub mod built_in;
mod changed;
mod compare;
mod compiled;
mod could;
mod decide;
mod difference;
mod evaluate;
mod explain;
mod form;
pub mod fragment;
mod goal;
mod history;
mod impossible;
mod index;
mod input;
mod load;
mod looks;
mod made_up;
mod met;
mod mutant;
mod names;
mod near;
mod opened;
mod parts;
mod rows;
mod ruling;
mod schema;
mod shadow;
mod shape;
mod snapshot;
mod strangers;
mod vocabulary;

pub(crate) use approvals::ATTRIBUTE as APPROVALS;
pub use behalf::{For, Giver};
pub use compare::OpenToCallers;
pub use decide::{PlainAnswer, Question, Reached, Unknown};
pub use difference::{Difference, Standing};
pub use evaluate::Supposed;
pub use explain::{Alterable, ExplainedPolicy, Explanation, Eyes, Observed, Scalar, ShownPart, State, Want};
pub use fragment::as_json;
pub use goal::{Goal, Requirement, Requirements};
pub use impossible::Words;
pub use load::validated;
pub use looks::{Looks, Named};
pub(crate) use made_up::Constants;
pub use mutant::Mutant;
pub use names::is_own;
pub(crate) use names::name_of;
pub use parts::{Part, PartKind, Seen};
pub use ruling::{Answered, Because, Effect, PolicyMeta, Ruling};
pub use snapshot::{Counts, Snapshot};
