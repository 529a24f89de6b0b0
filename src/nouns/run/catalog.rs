//! Lists the models that agents may use.

use schemars::JsonSchema;
use serde::Serialize;

use crate::Nothing;
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use types::models::{Capability, Price};
use types::refusal::Stop;
use types::scope::Reach;

/// A model that agents may ask for.
#[derive(Serialize, JsonSchema)]
pub struct ShownModel {
    pub id: String,
    /// Who provides it.
    pub provider: String,
    /// The context window: tokens read and written together.
    pub context: u32,
    pub capabilities: Vec<Capability>,
    /// Cents for a million tokens that it reads.
    pub price_in: u32,
    /// Cents for a million tokens that it writes.
    pub price_out: u32,
    /// Whether it can be asked: its provider's key is there, if it needs one.
    pub available: bool,
    /// The model classes, such as `large`, that it is the default for; `default`: if no class is requested.
    pub default_for: Vec<String>,
}

/// List models.
pub enum Read {}

impl Query for Read {
    const SPEC: Spec = Spec {
        name: "model.read",
        doc: "List the models that agents may use: provider, context size, capabilities, prices.",
        scope: Reach::READ,
        route: get("/llm/models").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Nothing;
    type Output = Vec<ShownModel>;

    fn target(_: &Nothing, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, _: Nothing, read: &Reader<'_>) -> Result<Vec<ShownModel>, Stop> {
        let catalog = read.models();
        let shown = catalog.models.iter().map(|(id, model)| {
            let Price { input, output } = model.price;
            ShownModel {
                id: id.clone(),
                provider: model.provider.clone(),
                context: model.context,
                capabilities: model.capabilities.clone(),
                price_in: input,
                price_out: output,
                available: catalog.is_available(model),
                default_for: catalog.default_for(id),
            }
        });
        Ok(shown.collect())
    }
}
