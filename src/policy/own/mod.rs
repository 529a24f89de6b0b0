//! Questions about the company's own types, asked by other programs in JSON.
//!
//! Always true: what is asked about is read by the types of the company's own schema, and what does not fit them is told
//! and never decided; nothing of the namespace `Ok`, the product's own, can be asked about here; the asker's word for its
//! entities is all that is known of them. One question costs no more than its own words.

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

pub use ask::{Asker, applies, gathered};
pub use catalog::{Catalog, action, actions, asked_as, entity_type, is_unknown, name};
pub use completed::{Completion, Named, described, describes};
pub use invent::Inventor;
pub use json::Properties;
pub use read::{Circumstances, Parts, Thing, circumstances, thing};
pub use said::{Described, Said};
pub use wrong::Wrong;

/// The product's own namespace.
const PRODUCT: &str = "Ok::";
