//! `ok delegate` and `ok delegation`: grant, list and revoke delegations.

use super::column::{Columns, columns};
use super::command::{Commands, group};
use super::exit::Failure;
use super::operation::{change, query};
use super::show;
use crate::nouns::delegation::budget::{Reserve, Reserved, Settle, Settled};
use crate::nouns::delegation::grant::Grant;
use crate::nouns::delegation::list::{List, Show};
use crate::nouns::delegation::revoke::{Revoke, RevokedDelegations};
use crate::nouns::delegation::shown::ShownDelegation;

pub const COMMANDS: Commands = &[
    &change::<Grant>()
        .command("delegate")
        .help(
            "Grant a delegation: let somebody act on your behalf, within the rights of both\n\n\
             They act with `ok --delegation DELEGATION`. Granted under a delegation, it passes that one on.",
        )
        .example("ok delegate --to scout --scope query,policy.propose --authority propose --ttl 7d")
        .fields(FIELDS),
    &group(
        "delegation",
        "List, show and revoke delegations, and keep their budgets",
        &[
            &query::<List>().command("list").help("List delegations, newest first").table("no delegations", COLUMNS),
            &query::<Show>().command("show").help("Show one delegation").fields(FIELDS),
            &change::<Revoke>()
                .command("revoke")
                .help("Revoke a delegation, granted or held; delegations passed on from it end with it")
                .print(revoked),
            &change::<Reserve>()
                .command("reserve")
                .help("Reserve a part of a budget before it is spent")
                .fields(columns!(Reserved; id, left_cents)),
            &change::<Settle>()
                .command("settle")
                .help("Settle a reservation: record what was spent")
                .fields(columns!(Settled; id, status, reserved_cents, cents, over_cents, left_cents)),
        ],
    ),
];

fn revoked(ended: &RevokedDelegations) -> Result<(), Failure> {
    match ended.revoked.is_empty() {
        true => show::text("it had ended before; nothing was revoked"),
        false => show::one(columns!(RevokedDelegations; revoked), ended),
    }
}

const COLUMNS: Columns<ShownDelegation> =
    columns!(ShownDelegation; id, status, from, to, authority, scope, left_cents, expires_at);

const FIELDS: Columns<ShownDelegation> = columns!(
    ShownDelegation;
    id, status, from, to, on_behalf_of, authority, scope, tools, budget_cents, left_cents, parent, expires_at
);
