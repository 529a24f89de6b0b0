//! Product operations: one folder per noun, one small type per operation. `OPERATIONS` is the only list; router, OpenAPI
//! document, Cedar schema, scope table, references and tests walk it.

pub mod actor;
pub mod approval;
pub mod audit;
pub mod authzen;
pub mod blueprint;
pub mod brain;
pub mod break_glass;
pub mod change;
pub mod company;
pub mod context;
pub mod definition;
pub mod delegation;
pub mod directory;
pub mod entity;
pub mod event;
pub mod health;
pub mod inbox;
pub mod kill;
pub mod knowledge;
pub mod policy;
pub mod run;
mod scope;
pub mod task;
pub mod tick;
pub mod token;
pub mod view;
pub mod webhook;

use gate::Entry;

const NOUNS: &[&[Entry]] = &[
    authzen::ALL,
    entity::ALL,
    actor::ALL,
    approval::ALL,
    audit::ALL,
    blueprint::ALL,
    brain::ALL,
    break_glass::ALL,
    change::ALL,
    company::ALL,
    context::ALL,
    definition::ALL,
    delegation::ALL,
    directory::ALL,
    event::ALL,
    health::ALL,
    actor::hire::ALL,
    inbox::ALL,
    kill::ALL,
    knowledge::ALL,
    actor::offboard::ALL,
    policy::ALL,
    run::ALL,
    actor::standing::ALL,
    task::ALL,
    tick::ALL,
    token::ALL,
    view::ALL,
    webhook::ALL,
];

/// Every operation.
pub static OPERATIONS: std::sync::LazyLock<Vec<Entry>> =
    std::sync::LazyLock::new(|| NOUNS.iter().flat_map(|entries| entries.iter().copied()).collect());

/// Input without any field.
#[derive(Debug, serde::Serialize, serde::Deserialize, schemars::JsonSchema, clap::Args)]
pub struct Nothing {}

/// Deserializes an optional field that is never `null`: null would mean «none» to some and «unchanged» to others, and policies
/// do not see it.
fn given<'de, D: serde::Deserializer<'de>, T: serde::Deserialize<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    T::deserialize(deserializer).map(Some)
}
