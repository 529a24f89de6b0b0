//! Lists and shows requests for approval.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::APPROVAL;
use super::decide::may_decide;
use super::shown::{ShownApproval, now_is, shown, shown_in};
use super::{OneApproval, find};
use crate::company::COMPANY;
use crate::policy::question::operation;
use crate::token::SeenTokens;
use gate::{Permit, Query, Reader, Spec, Target, get};
use store::approvals::{self, Approval, Decided};
use types::approval::ApprovalStatus;
use types::id::ActorId;
use types::page::{Page, PageQuery};
use types::refusal::Stop;
use types::scope::Reach;

/// Which approvals. All of what is given must fit.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only in this state.
    #[arg(long, value_name = "STATE")]
    pub status: Option<ApprovalStatus>,
    /// Only those that the caller may decide.
    #[serde(default)]
    #[arg(long, help = "Only those that you may decide")]
    pub mine: bool,
    /// Only those that the caller asked for.
    #[serde(default)]
    #[arg(long, conflicts_with = "mine", help = "Only those that you asked for")]
    pub asked: bool,
    /// Only those that this actor asked for.
    #[arg(long, value_name = "ID")]
    pub actor: Option<ActorId>,
    /// Only those of calls of this operation.
    #[arg(long, value_name = "OPERATION")]
    pub operation: Option<String>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// List approvals.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "approval.list",
        doc: "List the approvals that the caller may see, newest first.",
        scope: Reach::READ,
        route: get("/approvals").listed(),
        about: &[&COMPANY],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ShownApproval>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(permit: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ShownApproval>, Stop> {
        let me = permit.actor();
        let status = input.status.map(ApprovalStatus::name).unwrap_or_default();
        let whose = match (input.mine, input.asked) {
            (false, false) => String::new(),
            (mine, asked) => format!("{mine} {asked} {me}"),
        };
        let operation = input.operation.as_deref().map(|name| operation("operation", name)).transpose()?;
        let operation = operation.map(|entry| entry.spec.name);
        let by = input.actor.as_ref().map(ActorId::as_str).unwrap_or_default();
        let what = format!("approval.list {status} {whose} {by} {}", operation.unwrap_or_default());
        // An approver whose token was revoked may decide again.
        let decided_by_another = |one: &Decided| one.by != me || read.is_revoked(one.token_id.as_deref());
        // If approvals were suspended by a kill switch and are complete since its release, any approver has to approve again.
        let waits_for_anybody = |approval: &Approval| {
            let is_met = |kind: &String| read.is_met(approval, kind);
            now_is(approval, read.now()) == ApprovalStatus::Pending && approval.kinds.iter().all(is_met)
        };
        let wanted = |approval: &Approval| {
            let target = read.approval_target(approval);
            let mine = target.names("approvers", &me);
            input.status.is_none_or(|status| status == now_is(approval, read.now()))
                && (!input.asked || approval.actor == me)
                && input.actor.as_ref().is_none_or(|actor| approval.actor == *actor)
                && operation.is_none_or(|operation| approval.operation == operation)
                && (!input.mine
                    || (mine && (approval.decisions.iter().all(decided_by_another) || waits_for_anybody(approval))))
                && read.may("approval.read", &target)
                && (!input.mine || may_decide(approval, &target, read))
        };
        let page = read.list(&approvals::LIST, &input.page, what, wanted)?;
        let mut tokens = SeenTokens::of(read);
        let rows = page.rows.into_iter().map(|approval| shown_in(&mut tokens, approval, read));
        let rows = rows.collect::<Result<_, _>>()?;
        Ok(Page { rows, next: page.next })
    }

    fn next(output: &Page<ShownApproval>) -> Option<String> {
        output.next.clone()
    }
}

/// Show one approval.
pub enum Show {}

impl Query for Show {
    const SPEC: Spec = Spec {
        name: "approval.read",
        doc: "Show one approval: what was asked, who may decide, what was decided.",
        scope: Reach::READ,
        route: get("/approvals/{id}"),
        about: &[&APPROVAL],
        events: &[],
    };
    type Input = OneApproval;
    type Output = ShownApproval;

    fn target(input: &OneApproval, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.approval_target(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneApproval, read: &Reader<'_>) -> Result<ShownApproval, Stop> {
        Ok(shown(find(&input.id, read)?, read)?)
    }
}
