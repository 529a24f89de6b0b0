//! Installs a blueprint, whole and in one transaction, or not at all. In an existing company its policies become a proposal
//! like any other; a company that is created from a blueprint begins with its policies.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::plan::{Plan, plan};
use super::source::{ChosenBlueprint, Source};
use crate::actor::joining::Known;
use crate::change::{Proposal, has_room, propose};
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::actors::events::{ActorAdded, ActorHired};
use store::blueprints::events::BlueprintInstalled;
use store::changes::events::ChangeProposed;
use store::company::events::CompanyUpdated;
use store::policies::events::PolicyApplied;
use types::id::{ActorId, Id};
use types::refusal::Stop;
use types::scope::Reach;

/// What installing came to.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Installed {
    pub blueprint: String,
    /// What was made: teams, agents, settings, policy files.
    pub created: Vec<String>,
    /// What already existed or was already proposed, left unchanged.
    pub skipped: Vec<String>,
    /// What is still missing, above all people.
    pub needs: Vec<String>,
    /// The change that proposes its policies; they are not in force until it is promoted.
    pub change: Option<String>,
}

/// Install a blueprint.
pub enum Install {}

impl Change for Install {
    const SPEC: Spec = Spec {
        name: "blueprint.install",
        doc: "Install a blueprint: its teams, agents and settings at once, its policies as a proposal. Existing \
              objects are left unchanged.",
        scope: Reach::Full,
        route: post("/blueprints").created().compiles().large(),
        about: &[&COMPANY],
        events: &[
            ActorAdded::KIND,
            ActorHired::KIND,
            CompanyUpdated::KIND,
            ChangeProposed::KIND,
            BlueprintInstalled::KIND,
        ],
    };
    const SAYS: &'static str = "installs the blueprint[ {id}]";
    type Input = ChosenBlueprint;
    type Output = Installed;

    fn target(_: &ChosenBlueprint, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    /// Compiles the blueprint's policies.
    fn prepare(input: &ChosenBlueprint, read: &Reader<'_>) -> Result<(), Stop> {
        let plan = plan(&Source::of(input)?, &input.values, &read.caller().actor(), Known::of(read))?;
        plan.bundle.map_or(Ok(()), |(bundle, _)| has_room(&bundle, read))
    }

    fn run(permit: Permit<Self>, input: ChosenBlueprint, draft: &mut Draft<'_>) -> Result<Installed, Stop> {
        let (source, author) = (Source::of(&input)?, permit.actor());
        let mut plan = plan(&source, &input.values, &author, Known::of(draft.read()))?;
        let change = match plan.bundle.take() {
            None => None,
            Some((bundle, files)) => {
                if draft.read().open_change(&author, &bundle)?.is_some() {
                    plan.skipped.extend(files)
                } else {
                    plan.created.extend(files)
                }
                let reason = format!("the blueprint {}", source.blueprint.metadata.name);
                let proposal = Proposal { bundle, reason, ..Proposal::default() };
                Some(propose(&proposal, author, draft)?.id)
            }
        };
        record(&source, plan, change, draft)
    }
}

/// Records the events of a plan.
fn record(source: &Source, plan: Plan, change: Option<String>, draft: &mut Draft<'_>) -> Result<Installed, Stop> {
    let Plan { events, created, skipped, needs, .. } = plan;
    events.into_iter().try_for_each(|event| draft.record(event))?;
    let blueprint = source.blueprint.metadata.name.clone();
    draft.record(BlueprintInstalled {
        blueprint: blueprint.clone(),
        hash: source.hash(),
        created: created.clone(),
        skipped: skipped.clone(),
        needs: needs.clone(),
        change: change.as_deref().map(Id::stored),
    })?;
    Ok(Installed { blueprint, created, skipped, needs, change })
}

/// Installs a blueprint into a company being created, with its policies in force at once.
pub fn began(
    asked: &ChosenBlueprint,
    admin: &ActorId,
    known: Known<'_>,
    draft: &mut Draft<'_>,
) -> Result<Installed, Stop> {
    let source = Source::of(asked)?;
    let mut plan = plan(&source, &asked.values, admin, known)?;
    if let Some((bundle, files)) = plan.bundle.take() {
        plan.created.extend(files);
        let version = draft.read().applied()?.version + 1;
        let hash = bundle.hash().to_string();
        let from = format!("blueprint {}", source.blueprint.metadata.name);
        let applied = PolicyApplied { version, hash, source: from, change: None, proposal: None, files: bundle.files };
        plan.events.push(applied.into());
    }
    record(&source, plan, None, draft)
}
