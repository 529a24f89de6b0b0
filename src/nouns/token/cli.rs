//! `ok token`: commands for API tokens. A token's value is printed once, alone on stdout, when it is issued.

use std::collections::BTreeSet;
use std::io::{IsTerminal as _, Read as _};

use serde::Serialize;
use zeroize::Zeroizing;

use super::client::Session;
use super::column::{Columns, columns};
use super::command::{Commands, Run, group, own};
use super::event::unnamed;
use super::exit::{Exit, Failure};
use super::foreseen::decision;
use super::operation::{Answer, change, query};
use super::{Context, show};
use crate::gate::Query as _;
use crate::nouns::token::{
    GoingOn, Holder, Issue, IssuedToken, List, ListedToken, Made, Narrow, OneToken, Revoke, RevokeAll, Revoked, Show,
    ShownToken, TokenToRevoke, Which,
};
use crate::types::id::{ActorId, BadId, Kind};
use crate::types::impact::Decision;
use crate::types::token;

pub const COMMANDS: Commands = &[&group(
    "token",
    "Issue, list, show, find, narrow and revoke API tokens",
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
        &query::<Show>()
            .command("show")
            .help("Show a token, and what outlives it: what was begun with it goes on when it is revoked")
            .example("ok token show tok_01M7…")
            .print(shown),
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

fn shown(answer: &ShownToken) -> Result<(), Failure> {
    let ShownToken { token, going_on, made } = answer;
    show::one(COLUMNS, token)?;
    let mut left = Vec::new();
    for Group { kind, ids, way, .. } in groups(going_on, Some(made)) {
        left.extend(ids.into_iter().map(|id| Outliving { goes_on: kind, id, to_end_it: way.replace('`', "") }));
    }
    if !left.is_empty() {
        show::rows(columns!(Outliving<'_>; goes_on, id, to_end_it), &left)?;
    }
    lacking(going_on, Some(made));
    show::note(&format!("What else was changed with it is in the log: `ok log --token {} --since 0`.", token.id));
    Ok(())
}

/// Something started with a token that outlives it.
#[derive(Serialize)]
struct Outliving<'a> {
    goes_on: &'static str,
    id: &'a str,
    to_end_it: String,
}

/// Things of one kind that outlive a token, and how to end one.
struct Group<'a> {
    kind: &'static str,
    sentence: &'static str,
    ids: Vec<&'a String>,
    way: &'static str,
}

fn groups<'a>(going_on: &'a GoingOn, made: Option<&'a Made>) -> Vec<Group<'a>> {
    const REJECT: &str = "`ok approve <id> --reject`, by one of its approvers, or `ok token revoke <token> --requests`, all made with it";
    let GoingOn { requests, approved, changes, runs, unnamed_before: _ } = going_on;
    let group = |(kind, sentence, way), ids: Vec<&'a String>| Group { kind, sentence, ids, way };
    let mut groups = vec![
        group(
            ("request", "Requests that were made or decided with it wait on", REJECT),
            requests.iter().filter(|id| !approved.contains(id)).collect(),
        ),
        group(
            ("approved request", "Approved requests are carried out when their requester repeats the call", REJECT),
            approved.iter().collect(),
        ),
        group(
            (
                "change",
                "Changes that were proposed or reviewed with it are still open",
                "`ok changes reject <id>`; a review is replaced by another of the same person",
            ),
            changes.iter().collect(),
        ),
        group(("run", "Runs that were begun with it go on", "`ok run cancel <id>`"), runs.iter().collect()),
    ];
    if let Some(Made { tokens, delegations, webhooks, break_glass, looked_at_since: _ }) = made {
        groups.extend([
            group(
                ("token", "Tokens that were issued with it are live", "`ok token revoke <id>`"),
                tokens.iter().collect(),
            ),
            group(
                ("delegation", "Delegations that were granted with it hold", "`ok delegation revoke <id>`"),
                delegations.iter().collect(),
            ),
            group(
                ("subscription", "Subscriptions that were created with it send", "`ok subscription remove <id>`"),
                webhooks.iter().collect(),
            ),
            group(
                ("break-glass grant", "Break-glass grants that were opened with it hold", "`ok break-glass end <id>`"),
                break_glass.iter().collect(),
            ),
        ]);
    }
    groups
}

/// Notes what such a list may lack.
fn lacking(going_on: &GoingOn, made: Option<&Made>) {
    if let Some(since) = made.and_then(|made| made.looked_at_since) {
        show::note(&format!(
            "What was issued, delegated, subscribed or opened with it before {} is not listed: `ok log --token` has it.",
            show::said(&since)
        ));
    }
    going_on.unnamed_before.into_iter().for_each(|before| show::note(&unnamed(before)));
}

/// Find a token, even one that has ended, by its value on stdin: alone, or in a header, a link or a log (at most 16 MiB). Only its
/// SHA-256 is looked up
///
/// Example: `ok token find < leaked.txt`
#[derive(clap::Args)]
struct Find {}

impl Run for Find {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        let mut text = Zeroizing::new(Vec::new());
        if std::io::stdin().is_terminal() {
            show::note("Paste the value, then Enter and Ctrl-D.");
        }
        let read = std::io::stdin().take(MOST + 1).read_to_end(&mut text);
        if read.map_err(|error| Failure::new(format!("stdin cannot be read: {error}")))? as u64 > MOST {
            return Err(Failure::Usage(format!("stdin: must have at most {MOST} bytes")));
        }
        let found: BTreeSet<String> = token::found(&text).map(|hash| hash.to_string()).collect();
        let hash = match (found.first(), found.len()) {
            (Some(hash), 1) => hash.clone(),
            (Some(_), many) => {
                let message = format!("stdin: holds the values of {many} tokens; give one at a time");
                return Err(Failure::Usage(message));
            }
            (None, _) => {
                let message = "stdin: holds no value of a token, whole: ok_ or ok_ag_ and 49 letters and digits";
                return Err(Failure::Usage(message.into()));
            }
        };
        let which = Which { sha256: Some(hash), ..Which::default() };
        let found = query::<List>().ask(context, &which).await?;
        if found.rows().next().is_none() {
            return Err(Failure::new("no token that you may see has this value"));
        }
        found.table(context, "no tokens", COLUMNS)
    }
}

/// The maximum bytes read from stdin.
const MOST: u64 = 16 << 20;

/// Revoke one token, or all tokens of an actor
#[derive(clap::Args)]
struct Revocation {
    /// A token's id (tok_…) or an actor's id
    #[arg(value_name = "TOKEN OR ACTOR", value_parser = token::id)]
    id: String,
    /// Revoke the tokens that the actor issued for others, instead of the actor's own
    #[arg(long)]
    issued: bool,
    /// Also end the open requests for approval that were made with what is revoked
    #[arg(long)]
    requests: bool,
}

const FIELDS: Columns<Revoked> = columns!(Revoked; revoked, ended);

/// The maximum number of ids printed; `--format json` has all.
const SHOWN: usize = 10;

/// Reports what was started with a revoked token and continues.
fn revoked(answer: &Answer<Revoked>, shown: Option<&ShownToken>, context: &Context) -> Result<Exit, Failure> {
    let Revoked { revoked, going_on, .. } = answer.read()?;
    let made = shown.map(|shown| &shown.made);
    if let (0, Some(ended)) = (revoked, shown.map(|shown| &shown.token)) {
        let at = ended.revoked_at.map(|at| format!("was revoked {}", show::said(&at)));
        show::note(&format!("{} {}.", ended.id, at.unwrap_or_else(|| "has expired".into())));
    }
    for Group { sentence, ids, way, .. } in groups(&going_on, made) {
        let more = if ids.len() > SHOWN { format!(" and {} more", ids.len() - SHOWN) } else { String::new() };
        if !ids.is_empty() {
            let named = ids.iter().take(SHOWN).map(|id| id.as_str()).collect::<Vec<_>>().join(", ");
            show::note(&format!("{sentence}: {named}{more}. To end one: {way}."));
        }
    }
    lacking(&going_on, made);
    if made.is_none() && revoked > 0 {
        show::note(
            "Tokens, delegations, subscriptions and break-glass grants that were made with it go on: `ok token show <id>` lists them to whoever may read it, `ok token list --actor` the ids.",
        );
    }
    answer.fields(context, FIELDS)
}

/// Returns a token, if the caller may read it.
async fn readable(id: String, context: &Context) -> Result<Option<ShownToken>, Failure> {
    let mut session = Session::open(context).await?;
    let shown = match decision(&mut session, context, Show::SPEC.name, &id).await? {
        Some(Decision::Allow) => query::<Show>().within(&mut session, context, &OneToken { id }).await?.ok(),
        _ => None,
    };
    session.close().await;
    Ok(shown.and_then(|shown| shown.read().ok()))
}

impl Run for Revocation {
    async fn run(self, context: &Context) -> Result<Exit, Failure> {
        if self.id.starts_with(Kind::Token.prefix()) {
            if self.issued {
                return Err(Failure::Usage("--issued: names an actor's tokens, and this is one token".into()));
            }
            let which = TokenToRevoke { id: self.id, requests: self.requests };
            let answer = change::<Revoke>().ask(context, &which).await?;
            return revoked(&answer, readable(which.id, context).await?.as_ref(), context);
        }
        let actor: ActorId = self.id.parse().map_err(|bad: BadId| Failure::new(format!("actor: {bad}")))?;
        let which = Holder { actor: actor.clone(), issued: self.issued, requests: self.requests };
        let answer = change::<RevokeAll>().ask(context, &which).await?;
        if let Ok(Revoked { issued: Some(left), .. }) = answer.read() {
            let what = "for others are still live, and they may have kept copies";
            show::note(&format!("{left} tokens that {actor} issued {what}: `ok token revoke {actor} --issued`."));
        }
        revoked(&answer, None, context)
    }
}
