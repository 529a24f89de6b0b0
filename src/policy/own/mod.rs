//! Questions about the company's own types, asked by other programs in JSON.
//!
//! Always true: input is read by the types of the company's own schema; input that does not fit them is reported and
//! never decided; nothing in the product's own namespace `Ok` can be asked about here; about its entities, only what
//! the asker says is known. The cost of a question is bounded by its own length.

mod ask;
mod catalog;
mod completed;
mod fit;
mod invent;
mod json;
mod read;
mod reader;
mod said;
mod wrong;

pub use ask::{Evaluator, applies, gathered};
pub use catalog::{Catalog, action, actions, asked_as, entity_type, is_unknown, name};
pub use completed::{Completion, Named, described, describes};
pub use invent::Inventor;
pub use json::Properties;
pub use read::{Circumstances, Parts, Thing, circumstances, thing};
pub use said::{Described, Said};
pub use wrong::Wrong;

/// The product's own namespace.
const PRODUCT: &str = "Ok::";
