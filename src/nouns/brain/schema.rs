//! Schema changes of a collection: proposed, reviewed, applied by stewards in one transaction. The policies that look at
//! records must still fit, and so must the records.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::PROPOSAL;
use super::misfits::fits;
use super::plan::{Plan, could_be, foreseen, of_proposal, rows_known, still_fit};
use crate::company::COMPANY;
use gate::{Change, Draft, Permit, Query, Reader, Spec, Target, get, post};
use store::brain::events::{SchemaApplied, SchemaProposed, SchemaRejected};
use store::brain::{self, Proposal};
use store::policies::events::PolicyApplied;
use types::brain::{Operation, ProposalStatus};
use types::id::{ActorId, Id, Kind};
use types::page::{Page, PageQuery};
use types::problems::Problems;
use types::refusal::{Refusal, Stop};
use types::scope::Reach;
use types::time::Time;
use types::view::View;
use types::visible::is_blank;

/// The maximum number of open proposals per person.
pub const MOST_OPEN: usize = 20;

/// A change of a collection on its way.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ShownProposal {
    pub id: String,
    pub collection: String,
    pub ops: Vec<Operation>,
    pub reason: String,
    pub proposer: ActorId,
    pub status: ProposalStatus,
    /// What it would do; none once it is decided.
    pub impact: Option<Impact>,
    pub created_at: Time,
}

/// What a proposal would do.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Impact {
    /// How many records there are, for whoever may read all of them.
    pub rows: Option<i64>,
    /// The views of the collection that the caller may see.
    pub views: Vec<String>,
    /// Why it could not be applied now, as far as the caller may know the records and the policies.
    #[schemars(extend("x-names" = "text"))]
    pub problems: Vec<String>,
}

fn shown(proposal: Proposal, impact: Option<Impact>) -> ShownProposal {
    let Proposal { id, collection, ops, reason, proposer, status, created_at, .. } = proposal;
    ShownProposal { id, collection, ops, reason, proposer, status, impact, created_at }
}

fn impact(proposal: &Proposal, read: &Reader<'_>) -> Result<Option<Impact>, Stop> {
    if proposal.status != ProposalStatus::Proposed {
        return Ok(None);
    }
    let rows = rows_known(&proposal.collection, read)?;
    let problems = match plan(proposal, true, read) {
        Ok(_) => Vec::new(),
        Err(Stop::Refused(refusal)) if refusal.problems.is_empty() => vec![refusal.message],
        Err(Stop::Refused(refusal)) => refusal.problems,
        Err(stop) => return Err(stop),
    };
    let seen = |view: &&Arc<View>| read.may("view.read", &read.view_target(view));
    let views = read.views_after("").filter(|view| view.spec.query.collection == proposal.collection).filter(seen);
    let views = views.map(|view| view.name().to_owned()).collect();
    Ok(Some(Impact { rows, views, problems }))
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct NewProposal {
    /// The collection; its name, if it is to be created.
    pub collection: String,
    /// What is to change, step by step; 1 to 50.
    #[schemars(length(min = 1, max = 50))]
    pub ops: Vec<Operation>,
    /// Why; 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    pub reason: String,
}

/// Propose a schema change.
pub enum Propose {}

impl Change for Propose {
    const SPEC: Spec = Spec {
        name: "schema.propose",
        doc: "Propose to create, change or retire a collection. Nothing changes yet.",
        scope: Reach::Full,
        route: post("/schema/proposals").created().slow(),
        about: &[&COMPANY],
        events: &[SchemaProposed::KIND],
    };
    const SAYS: &'static str = "proposes to change the collection {collection}";
    type Input = NewProposal;
    type Output = ShownProposal;

    fn target(_: &NewProposal, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    /// Validates the proposal here, where that delays nobody else's changes.
    fn prepare(input: &NewProposal, read: &Reader<'_>) -> Result<(), Stop> {
        could_be(&input.collection, &input.ops, read)
    }

    fn run(permit: Permit<Self>, input: NewProposal, draft: &mut Draft<'_>) -> Result<ShownProposal, Stop> {
        let NewProposal { collection, ops, reason } = input;
        proposed(permit.actor(), collection, ops, reason, draft)
    }
}

/// Records a proposal that can be applied now.
pub fn proposed(
    proposer: ActorId,
    collection: String,
    ops: Vec<Operation>,
    reason: String,
    draft: &mut Draft<'_>,
) -> Result<ShownProposal, Stop> {
    let mut problems = Problems::default();
    let says = !is_blank(&reason) && reason.trim().chars().count() <= 1_000;
    problems.check(says, "reason: must have 1 to 1000 characters");
    if !problems.0.is_empty() {
        return Err(Refusal::invalid(problems.0).into());
    }
    if draft.read().open_proposals_of(&proposer)? >= MOST_OPEN {
        let message = format!("{proposer} has {MOST_OPEN} open proposals, the most there may be");
        return Err(Refusal::conflict(message).into());
    }
    could_be(&collection, &ops, draft.read())?;
    let base = draft.read().collection_version(&collection)?;
    let id = draft.new_id(Kind::Proposal);
    let proposal = Proposal {
        id: id.to_string(),
        collection: collection.clone(),
        ops: ops.clone(),
        base,
        reason: reason.clone(),
        proposer: proposer.clone(),
        status: ProposalStatus::Proposed,
        created_at: draft.now(),
    };
    draft.record(SchemaProposed { id, collection, ops, base, reason, proposer })?;
    Ok(shown(proposal, None))
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct WhichProposals {
    /// Only with this status.
    #[arg(long)]
    pub status: Option<ProposalStatus>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List proposals.
pub enum Proposals {}

impl Query for Proposals {
    const SPEC: Spec = Spec {
        name: "schema.list",
        doc: "List the schema proposals that the caller may see, newest first.",
        scope: Reach::READ,
        route: get("/schema/proposals").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = WhichProposals;
    type Output = Page<ShownProposal>;

    fn target(_: &WhichProposals, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: WhichProposals, read: &Reader<'_>) -> Result<Page<ShownProposal>, Stop> {
        let WhichProposals { status, page } = input;
        let what = format!("schema.list {}", status.map(ProposalStatus::name).unwrap_or_default());
        let fits = |proposal: &Proposal| status.is_none_or(|status| proposal.status == status);
        let seen = |proposal: &Proposal| fits(proposal) && read.may("schema.read", &read.proposal_target(proposal));
        let page = read.list(&brain::PROPOSALS, &page, what, seen)?;
        Ok(Page { rows: page.rows.into_iter().map(|proposal| shown(proposal, None)).collect(), next: page.next })
    }

    fn next(output: &Page<ShownProposal>) -> Option<String> {
        output.next.clone()
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneProposal {
    /// The proposal.
    #[arg(value_name = "PROPOSAL")]
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Proposal, Stop> {
    Ok(read.proposal(id)?.ok_or_else(Refusal::not_found)?)
}

fn open(id: &str, read: &Reader<'_>) -> Result<Proposal, Stop> {
    let proposal = find(id, read)?;
    if proposal.status == ProposalStatus::Proposed {
        return Ok(proposal);
    }
    Err(Refusal::conflict(format!("{id} is {} already", proposal.status)).into())
}

/// Show a proposal.
pub enum ShowProposal {}

impl Query for ShowProposal {
    const SPEC: Spec = Spec {
        name: "schema.read",
        doc: "Show a schema proposal and its impact.",
        scope: Reach::READ,
        route: get("/schema/proposals/{id}").slow(),
        about: &[&PROPOSAL],
        events: &[],
    };
    type Input = OneProposal;
    type Output = ShownProposal;

    fn target(input: &OneProposal, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.proposal_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneProposal, read: &Reader<'_>) -> Result<ShownProposal, Stop> {
        let proposal = find(&input.id, read)?;
        let impact = impact(&proposal, read)?;
        Ok(shown(proposal, impact))
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Applying {
    /// The proposal.
    #[arg(value_name = "PROPOSAL")]
    pub id: String,
    /// Show the effect without applying it.
    #[serde(default)]
    #[arg(long)]
    pub dry_run: bool,
}

/// What came of applying.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Applied {
    pub id: String,
    pub collection: String,
    /// How many records it has, for whoever may read all of them.
    pub rows: Option<i64>,
    /// Whether it is so now.
    pub applied: bool,
}

/// Apply a proposal.
pub enum Apply {}

impl Change for Apply {
    const SPEC: Spec = Spec {
        name: "schema.apply",
        doc: "Apply a schema proposal to a collection and all its records, in one transaction. Refused if a policy in \
              force would no longer fit.",
        scope: Reach::Full,
        route: post("/schema/proposals/{id}/apply").slow(),
        about: &[&PROPOSAL],
        events: &[SchemaApplied::KIND, PolicyApplied::KIND],
    };
    const SAYS: &'static str = "applies {id}";
    type Input = Applying;
    type Output = Applied;

    fn target(input: &Applying, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.proposal_target(&find(&input.id, read)?))
    }

    fn prepare(input: &Applying, read: &Reader<'_>) -> Result<(), Stop> {
        // As a dry run: callers who have to wait for approval must not learn what they may not read.
        let plan = plan(&open(&input.id, read)?, true, read)?;
        Ok(read.make_trial_ready(&plan.bundle)?)
    }

    fn run(_: Permit<Self>, input: Applying, draft: &mut Draft<'_>) -> Result<Applied, Stop> {
        let proposal = open(&input.id, draft.read())?;
        let plan = plan(&proposal, input.dry_run || draft.is_rehearsal(), draft.read())?;
        let filled = plan.filled(draft.read().collection(&proposal.collection).as_deref());
        let Plan { definition, renamed, merged, bundle } = plan;
        let rows = rows_known(&proposal.collection, draft.read())?;
        if !input.dry_run {
            let in_force = draft.read().applied()?;
            draft.record(SchemaApplied {
                id: Id::stored(&proposal.id),
                collection: proposal.collection.clone(),
                proposer: proposal.proposer.clone(),
                version: proposal.base + 1,
                renamed,
                merged,
                filled,
                definition,
            })?;
            draft.record(PolicyApplied {
                version: in_force.version + 1,
                hash: bundle.hash().to_string(),
                source: in_force.source,
                change: None,
                proposal: Some(Id::stored(&proposal.id)),
                files: bundle.files,
            })?;
        }
        Ok(Applied { id: proposal.id, collection: proposal.collection, rows, applied: !input.dry_run })
    }
}

/// Plans a proposal, if records, policies and views fit it.
fn plan(proposal: &Proposal, dry_run: bool, read: &Reader<'_>) -> Result<Plan, Stop> {
    let plan = if dry_run { foreseen(proposal, read)? } else { of_proposal(proposal, read)? };
    still_fit(&plan, dry_run, read)?;
    fits(&plan, &proposal.collection, read)?;
    Ok(plan)
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Rejection {
    /// The proposal.
    #[arg(value_name = "PROPOSAL")]
    pub id: String,
    /// Why; 1 to 1000 characters.
    #[schemars(length(min = 1, max = 1000))]
    #[schemars(extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT")]
    pub reason: String,
}

/// Reject a proposal.
pub enum Reject {}

impl Change for Reject {
    const SPEC: Spec = Spec {
        name: "schema.reject",
        doc: "Reject a schema proposal, or withdraw one's own.",
        scope: Reach::Full,
        route: post("/schema/proposals/{id}/reject"),
        about: &[&PROPOSAL],
        events: &[SchemaRejected::KIND],
    };
    const SAYS: &'static str = "rejects {id}";
    type Input = Rejection;
    type Output = ShownProposal;

    fn target(input: &Rejection, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.proposal_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Rejection, draft: &mut Draft<'_>) -> Result<ShownProposal, Stop> {
        let proposal = open(&input.id, draft.read())?;
        if is_blank(&input.reason) || input.reason.chars().count() > 1_000 {
            return Err(Refusal::field("reason", "must have 1 to 1000 characters").into());
        }
        let (id, collection, proposer) =
            (Id::stored(&proposal.id), proposal.collection.clone(), proposal.proposer.clone());
        draft.record(SchemaRejected { id, collection, proposer, reason: input.reason })?;
        Ok(shown(Proposal { status: ProposalStatus::Rejected, ..proposal }, None))
    }
}
