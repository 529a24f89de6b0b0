//! Cancels a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::shown::{ShownRun, shown};
use super::{RUN, find, open, why};
use crate::actor::reason;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::approvals::events::ApprovalStale;
use store::content::events::ContentKept;
use store::runs::Run;
use store::runs::events::RunCancelled;
use types::id::Id;
use types::quoted::quoted;
use types::refusal::Stop;
use types::run::{RunStatus, Wait};
use types::scope::Reach;

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Cancellation {
    /// The run.
    #[arg(value_name = "RUN")]
    pub id: String,
    /// Why; at most 1000 characters.
    #[schemars(length(max = 1000), extend("x-erasable" = true))]
    #[serde(default)]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub reason: String,
}

/// Cancel a run.
pub enum Cancel {}

impl Change for Cancel {
    const SPEC: Spec = Spec {
        name: "run.cancel",
        doc: "Cancel a run and its parts. Completed steps are not undone.",
        scope: Reach::Full,
        route: post("/runs/{id}/cancel").stops(),
        about: &[&RUN],
        events: &[RunCancelled::KIND, ApprovalStale::KIND, ContentKept::KIND],
    };
    const SAYS: &'static str = "cancels {id}";
    type Input = Cancellation;
    type Output = ShownRun;

    fn target(input: &Cancellation, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(read.run_target(&find(&input.id, read)?))
    }

    fn run(permit: Permit<Self>, input: Cancellation, draft: &mut Draft<'_>) -> Result<ShownRun, Stop> {
        let said = Some(input.reason).filter(|why| !why.is_empty());
        said.as_deref().map_or(Ok(()), reason)?;
        let why = said.map(|why| quoted(&why));
        let run = open(&input.id, draft.read())?;
        cancel_with_parts(&run, None, draft)?;
        if let Some(why) = &why {
            why::keep_of_run(&Id::stored(&run.id), why.clone(), draft)?;
        }
        let ended_at = Some(permit.now());
        let cancelled = shown(Run { status: RunStatus::Cancelled, wait: None, ended_at, ..run }, draft.read())?;
        Ok(ShownRun { reason: why, ..cancelled })
    }
}

/// Ends the approval requests of a run that has ended: they need no approval any more.
pub fn end_requests(run: &Run, draft: &mut Draft<'_>) -> Result<(), Stop> {
    for step in draft.read().waiting_steps(run)? {
        if let Some(Wait::Approval { approval: id }) = step.wait {
            let (requester, reason) = (run.agent.clone(), format!("{} has ended", run.id));
            draft.record(ApprovalStale { id, requester, reason })?;
        }
    }
    Ok(())
}

/// Cancels a run and its child runs, unless it has ended. It is cancelled before its children, so that it does not continue
/// because one has ended. `reason` is the server's own: what somebody says is kept apart ([`why`]).
pub fn cancel_with_parts(run: &Run, reason: Option<&str>, draft: &mut Draft<'_>) -> Result<(), Stop> {
    if run.status.is_over() {
        return Ok(());
    }
    let (id, task) = (Id::stored(&run.id), Id::stored(&run.task));
    let (agent, asker) = (run.agent.clone(), run.asker.clone());
    draft.record(RunCancelled { id, task, agent, asker, reason: reason.map(str::to_owned) })?;
    end_requests(run, draft)?;
    for part in draft.read().open_parts(&run.id)? {
        cancel_with_parts(&part, Some("the run that it is a part of was cancelled"), draft)?;
    }
    Ok(())
}
