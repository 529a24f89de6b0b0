//! Lists and shows delegations.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::DELEGATION;
use super::shown::{ShownDelegation, shown};
use super::{OneDelegation, find};
use crate::company::COMPANY;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::delegations::{self, Delegation};
use types::page::{Page, PageQuery};
use types::refusal::Stop;
use types::scope::Reach;

/// Which delegations.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only those that the caller gave or got.
    #[serde(default)]
    #[arg(long, help = "Only those that you gave or got")]
    pub mine: bool,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List delegations.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "delegation.list",
        doc: "List the delegations that the caller may see, newest first.",
        scope: Reach::READ,
        route: get("/delegations").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ShownDelegation>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(permit: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ShownDelegation>, Stop> {
        let what = "delegation.list".to_owned();
        let seen = |row: &Delegation| read.may("delegation.read", &read.delegation_target(row));
        let page = match input.mine {
            true => read.list_of(&delegations::LIST, permit.actor().as_str(), &input.page, what, seen)?,
            false => read.list(&delegations::LIST, &input.page, what, seen)?,
        };
        Ok(Page { rows: page.rows.into_iter().map(|row| shown(row, read.now())).collect(), next: page.next })
    }

    fn next(output: &Page<ShownDelegation>) -> Option<String> {
        output.next.clone()
    }
}

/// Show one delegation.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "delegation.read",
        doc: "Show one delegation: its scope, who granted it, and what is left of its budget.",
        scope: Reach::READ,
        route: get("/delegations/{id}"),
        about: &[&DELEGATION],
        events: &[],
    };
    type Input = OneDelegation;
    type Output = ShownDelegation;

    fn target(input: &OneDelegation, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.delegation_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneDelegation, read: &Reader<'_>) -> Result<ShownDelegation, Stop> {
        Ok(shown(find(&input.id, read)?, read.now()))
    }
}
