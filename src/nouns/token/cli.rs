//! `ok token`: API tokens. A token's value is printed once, alone on stdout, when it is issued.

use std::io::{IsTerminal as _, Read as _};

use zeroize::Zeroizing;

use super::column::{Columns, columns};
use super::command::{Commands, Run, group, own};
use super::event::unnamed;
use super::exit::{Exit, Failure};
use super::operation::{Answer, change, query};
use super::{Context, show};
use crate::nouns::token::{
    Holder, Issue, IssuedToken, List, ListedToken, Narrow, OneToken, Revoke, RevokeAll, Revoked, Which,
};
use crate::types::id::{ActorId, BadId, Kind};
use crate::types::token::{self, is_value};

pub const COMMANDS: Commands = &[&group(
    "token",
    "Issue, list, narrow and revoke API tokens",
    &[
        &change::<Issue>()
            .command("issue")
            .help("Issue a token; its value is printed only once")
            .example("ok token issue --for ci --ttl 7d --scope read")
            .print(issued),
        &query::<List>()
            .command("list")
            .help("List tokens, newest first, without their values")
            .table("no tokens", COLUMNS),
        &own::<Find>("find"),
        &own::<Revocation>("revoke"),
        &change::<Narrow>()
            .command("scope")
            .help("Narrow a token to some scopes; they can never be widened")
            .fields(COLUMNS),
    ],
)];

const COLUMNS: Columns<ListedToken> = columns!(ListedToken; id, actor, issuer, label, access, status, expires_at);

fn issued(answer: &IssuedToken) -> Result<(), Failure> {
    let IssuedToken { id, token, actor, access, expires_at, .. } = answer;
    show::text(token)?;
    show::note(&format!("{id} for {actor}, {access}, valid until {}; it is shown this once", show::said(expires_at)));
    Ok(())
}

/// Find a token by its value, also one that has ended: from stdin, of which only the SHA-256 is asked for
///
/// Example: `ok token find < leaked.txt`
#[derive(clap::Args)]
struct Find {}

impl Run for Find {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut text = Zeroizing::new(String::new());
        if std::io::stdin().is_terminal() {
            show::note("Paste the value, then Enter and Ctrl-D.");
        }
        let read = std::io::stdin().take(MOST).read_to_string(&mut text);
        read.map_err(|error| Failure::new(format!("stdin cannot be read: {error}")))?;
        let Some((_, hash)) = token::parse(text.trim()) else {
            let message =
                "stdin: must be the value of a token (ok_ or ok_ag_ and 49 letters and digits), whole and nothing else";
            return Err(Failure::Usage(message.into()));
        };
        let which = Which { sha256: Some(hash.to_string()), ..Which::default() };
        let found = query::<List>().ask(context, &which).await?;
        if found.rows().next().is_none() {
            return Err(Failure::new("no token that you may see has this value"));
        }
        found.table(context, "no tokens", COLUMNS)
    }
}

/// More than a token has.
const MOST: u64 = 1_000;

/// Revoke one token, or all tokens of an actor
#[derive(clap::Args)]
struct Revocation {
    /// A token's id (tok_…) or an actor's id
    #[arg(value_name = "TOKEN OR ACTOR")]
    id: String,
    /// Revoke the tokens that the actor issued for others, instead of the actor's own
    #[arg(long)]
    issued: bool,
}

/// So many ids are printed; `--format json` has all.
const SHOWN: usize = 10;

/// Tells of what was made with what was revoked, and goes on.
fn going_on(answer: &Answer<Revoked>) {
    let Ok(Revoked { mut requests, approved, changes, runs, unnamed_before, .. }) = answer.read() else { return };
    requests.retain(|id| !approved.contains(id));
    let reject = "`ok approve <id> --reject` ends one";
    for (what, ids, ends) in [
        ("Requests that were made or decided with what was revoked wait on", requests, reject),
        ("Approved requests are carried out when their requester repeats the call", approved, reject),
        (
            "Changes that were proposed or reviewed with it are still open",
            changes,
            "`ok changes reject <id>` ends one, another review by the same person replaces the first",
        ),
        ("Runs that were begun with it go on", runs, "`ok run cancel <id>` ends one"),
    ] {
        let more = if ids.len() > SHOWN { format!(" and {} more", ids.len() - SHOWN) } else { String::new() };
        if !ids.is_empty() {
            let named = ids.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(", ");
            show::note(&format!("{what}: {named}{more}. {ends}."));
        }
    }
    if let Some(before) = unnamed_before {
        show::note(&unnamed(before));
    }
}

impl Run for Revocation {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        if is_value(&self.id) {
            let message = "this is a token's value, which is not repeated here: `ok token list` shows the ids (tok_…) to revoke by";
            return Err(Failure::Usage(message.into()));
        }
        if self.id.starts_with(Kind::Token.prefix()) {
            if self.issued {
                return Err(Failure::Usage("--issued: names an actor's tokens, and this is one token".into()));
            }
            let answer = change::<Revoke>().ask(context, &OneToken { id: self.id }).await?;
            going_on(&answer);
            return answer.fields(context, columns!(Revoked; revoked));
        }
        let actor: ActorId = self.id.parse().map_err(|bad: BadId| Failure::new(format!("actor: {bad}")))?;
        let answer = change::<RevokeAll>().ask(context, &Holder { actor: actor.clone(), issued: self.issued }).await?;
        if let Ok(Revoked { issued: Some(left), .. }) = answer.read() {
            let what = "for others are still live, and they may have kept copies";
            show::note(&format!("{left} tokens that {actor} issued {what}: `ok token revoke {actor} --issued`."));
        }
        going_on(&answer);
        answer.fields(context, columns!(Revoked; revoked))
    }
}
