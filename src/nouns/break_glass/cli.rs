//! `ok policy break-glass` and `ok break-glass`: open, list, end and review grants.

use super::column::{Columns, columns};
use super::command::{Commands, group};
use super::operation::{Operation, change, query};
use crate::nouns::break_glass::ShownGrant;
use crate::nouns::break_glass::end::End;
use crate::nouns::break_glass::list::List;
use crate::nouns::break_glass::open::{NewGrant, Open};
use crate::nouns::break_glass::review::{NewReview, Review};
use crate::types::break_glass::BreakGlassVerdict;
use crate::types::operations::Operations;

pub const COMMANDS: Commands = &[&group(
    "break-glass",
    "Grants to proceed without approval\n\n`ok policy break-glass` opens one.",
    &[
        &query::<List>()
            .command("list")
            .help("List grants, newest first")
            .table("no grants", columns!(ShownGrant; id, holder, scope, active, uses, expires_at, reason)),
        &change::<End>().command("end").help("End a grant at once").fields(FIELDS),
        &change::<Review>()
            .command("review")
            .help("Review a grant: whether it was justified")
            .given::<Reviewed>()
            .fields(FIELDS),
    ],
)];

pub(super) const OPEN: Operation<NewGrant, ShownGrant, BreakGlass> = change::<Open>()
    .command("break-glass")
    .help(
        "Proceed without approval for a short time\n\n\
         The approvers you bypass are notified, every use is recorded, and somebody else must review the grant before you get another.",
    )
    .example("ok policy break-glass actor.offboard --reason \"key stolen\" --minutes 10")
    .anywhere()
    .given()
    .fields(columns!(ShownGrant; id, holder, scope, reason, expires_at));

const FIELDS: Columns<ShownGrant> = columns!(ShownGrant; id, holder, scope, reason, expires_at, active, uses, review);

#[derive(clap::Args)]
pub(super) struct BreakGlass {
    /// Operations, such as actor.offboard, actor.* or change; several with commas
    #[arg(value_name = "SCOPE", value_delimiter = ',', required = true)]
    scope: Vec<String>,
    /// Why it cannot wait
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// How long, 1 to 240 [default: 30]
    #[arg(long, value_name = "MINUTES")]
    minutes: Option<u32>,
}

impl From<BreakGlass> for NewGrant {
    fn from(BreakGlass { scope, reason, minutes }: BreakGlass) -> NewGrant {
        NewGrant { scope: Operations(scope.into_iter().collect()), reason, minutes }
    }
}

#[derive(clap::Args)]
struct Reviewed {
    /// The grant
    #[arg(value_name = "GRANT")]
    id: String,
    /// It was not justified: the operation could have waited for approval
    #[arg(long)]
    unjustified: bool,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    note: String,
}

impl From<Reviewed> for NewReview {
    fn from(Reviewed { id, unjustified, note }: Reviewed) -> NewReview {
        let verdict = if unjustified { BreakGlassVerdict::Unjustified } else { BreakGlassVerdict::Justified };
        NewReview { id, verdict, note }
    }
}
