//! The narrow waist. Everything that the product does is an operation, and `Gate::perform` is the only way to one: it
//! admits the caller, asks the policy, runs the operation in the log's transaction, and answers only what is durable.

pub mod admit;
pub mod approve;
pub mod decide;
pub mod declare;
pub mod explain;
pub mod past;
pub mod perform;
pub mod reader;
pub mod state;
pub mod write;

pub use admit::rate::Rest;
pub use approve::redeem::Redeemed;
pub use decide::card::Card;
pub use declare::fact::FactSpec;
pub use declare::noun::{Directory, NEW, Noun, Staged};
pub use declare::operation::{Change, Decide, Entry, Query};
pub use declare::resource::Resource;
pub use declare::route::{External, Impact, Lane, Method, Precondition, Route, delete, get, patch, post, put};
pub use declare::spec::{Effect, Spec};
pub use declare::target::{Target, Thing};
pub use explain::counterfactual::Alteration;
pub use explain::inquiry::Inquiry;
pub use log::head::Head;
pub use perform::{Gate, Request};
pub use reader::things::Brief;
pub use reader::{Could, EntitiesThen, HypotheticalCall, Prospects, Reader, delegation_thing};
pub use write::draft::Draft;
pub use write::permit::Permit;
pub use write::reply::{Reply, also};
