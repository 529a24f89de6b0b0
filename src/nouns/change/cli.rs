//! `ok changes`: proposals, from draft to promotion.

use super::column::columns;
use super::command::{Commands, Run, group, own};
use super::exit::{Exit, Failure};
use super::operation::{change, query};
use super::policy::compared;
use super::{Context, show};
use crate::nouns::change::OneChange;
use crate::nouns::change::canary::Canary;
use crate::nouns::change::evals::Evals;
use crate::nouns::change::list::{Comparing, Diff, List};
use crate::nouns::change::promote::Promote;
use crate::nouns::change::reject::Reject;
use crate::nouns::change::review::{Review, Said};
use crate::nouns::change::shown::{ShownChange, ShownReview};
use crate::types::change::{EvalCase, RejectedBy, ReviewVerdict};
use crate::types::impact::Shifted;

pub const COMMANDS: Commands = &[&group(
    "changes",
    "Review, test and promote changes",
    &[
        &query::<List>().command("list").help("List changes, newest first").table(
            "no changes",
            columns!(ShownChange; id, target, target_id, state, author, reason, base_version, created_at),
        ),
        &own::<Show>("show"),
        &change::<Review>()
            .command("review")
            .help("Approve somebody else's change, or request changes")
            .given::<Reviewed>()
            .print(shown),
        &change::<Evals>().command("evals").help("Run a change's tests").print(shown).ends(tested),
        &change::<Canary>()
            .command("canary")
            .help("Start a canary on a share of the traffic; no answer is affected")
            .print(shown),
        &change::<Promote>().command("promote").help("Promote a change: bring it into force").print(shown),
        &change::<Reject>().command("reject").help("Reject a change, or withdraw your own").print(shown),
    ],
)];

/// Show a change, and what it would change
#[derive(clap::Args)]
struct Show {
    #[command(flatten)]
    of: OneChange,
    /// Do not compare the answers to generated questions, which takes longest
    #[arg(long)]
    no_answers: bool,
}

impl Run for Show {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let input = Comparing { id: self.of.id, semantic: self.no_answers.then_some(false) };
        let answer = query::<Diff>().ask(context, &input).await?;
        context.show(&answer.value, || {
            let found = answer.read()?;
            shown(&found.change)?;
            show::text(&compared::text(&found))
        })
    }
}

#[derive(clap::Args)]
struct Reviewed {
    /// The change's id
    #[arg(value_name = "CHANGE")]
    id: String,
    #[command(flatten)]
    verdict: Verdict,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Verdict {
    /// Approve the change as it is
    #[arg(long)]
    approve: bool,
    /// Request changes; --note says which
    #[arg(long)]
    request_changes: bool,
}

impl From<Reviewed> for Said {
    fn from(Reviewed { id, verdict, note }: Reviewed) -> Said {
        let verdict = if verdict.approve { ReviewVerdict::Approve } else { ReviewVerdict::RequestChanges };
        Said { id, verdict, note }
    }
}

fn shown(change: &ShownChange) -> Result<(), Failure> {
    let fields = columns!(
        ShownChange; id, target, target_id, state, author, on_behalf_of, token_revoked_at, reason, base_version, version, hash
    );
    show::one(fields, change)?;
    show::rows(columns!(ShownReview; by, verdict, counts, note, at, token_revoked_at), &change.reviews)?;
    show::rows(columns!(RejectedBy; by, reason, at), change.rejection.as_slice())?;
    change.rejected_before.iter().for_each(|before| show::note(&before.to_string()));
    show::rows(columns!(EvalCase; case, status, problems), &change.evals.last)?;
    let samples = change.canary.as_ref().map(|canary| canary.samples.as_slice()).unwrap_or_default();
    show::rows(columns!(Shifted; operation, actor, target, before, after), samples)
}

fn tested(change: &ShownChange) -> Exit {
    if change.evals.passed { Exit::Done } else { Exit::Untested }
}
