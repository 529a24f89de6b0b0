//! `ok delegate` and `ok delegation`: letting others act on one's behalf.

use super::column::{Columns, columns};
use super::command::{Commands, group};
use super::operation::{change, query};
use crate::operations::delegation::budget::{Reserve, Reserved, Settle, Settled};
use crate::operations::delegation::grant::Grant;
use crate::operations::delegation::list::{List, Show};
use crate::operations::delegation::revoke::{Revoke, RevokedDelegations};
use crate::operations::delegation::shown::ShownDelegation;

pub const COMMANDS: Commands = &[
    &change::<Grant>()
        .command("delegate")
        .help(
            "Let somebody act on your behalf, as far as both of you may\n\n\
             They do so with `ok --delegation DELEGATION`. Given under a delegation, it is handed on.",
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
                .help("Take a delegation back, or give it back; what was handed on ends with it")
                .fields(columns!(RevokedDelegations; revoked)),
            &change::<Reserve>()
                .command("reserve")
                .help("Set a part of a budget aside, before it is spent")
                .fields(columns!(Reserved; id, left_cents)),
            &change::<Settle>()
                .command("settle")
                .help("Say what it came to")
                .fields(columns!(Settled; id, status, reserved_cents, cents, over_cents, left_cents)),
        ],
    ),
];

const COLUMNS: Columns<ShownDelegation> =
    columns!(ShownDelegation; id, status, from, to, authority, scope, left_cents, expires_at);

const FIELDS: Columns<ShownDelegation> = columns!(
    ShownDelegation;
    id, status, from, to, on_behalf_of, authority, scope, tools, budget_cents, left_cents, parent, expires_at
);
