//! API tokens: issued once, listed without their secret, narrowed, revoked.

mod resource;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::str::FromStr as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::gate::{Change, Draft, Entry, Permit, Query, Reader, Spec, Target, delete, get, patch, post};
use crate::operations::actor::{ACTOR, TEAM};
use crate::operations::company::COMPANY;
use crate::store::actors::Status;
use crate::store::tokens::events::{TokenIssued, TokenNarrowed, TokenRevoked};
use crate::store::tokens::{self, Token};
use crate::types::actor::ActorKind;
use crate::types::id::{ActorId, Id, Kind};
use crate::types::page::{Page, PageQuery};
use crate::types::refusal::{Refusal, Stop};
use crate::types::scope::{self, Reach, Scope, Scopes, listed};
use crate::types::time::{DAY, SECOND, Time};
use crate::types::token::TokenKind;

pub use resource::TOKEN;
use resource::target_of;

pub const ALL: &[Entry] = &[
    Entry::query::<List>(),
    Entry::change::<Issue>(),
    Entry::change::<RevokeAll>(),
    Entry::change::<Revoke>(),
    Entry::change::<Narrow>(),
];

/// Which tokens.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only this actor's.
    #[arg(long, value_name = "ID")]
    pub actor: Option<ActorId>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// What kind of token a listing shows.
#[derive(Serialize, JsonSchema)]
pub struct ListedKind {
    pub r#type: &'static str,
}

#[derive(Clone, Copy, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenStatus {
    Active,
    Expired,
    Revoked,
}

/// A token as it is listed: never its value.
#[derive(Serialize, JsonSchema)]
pub struct ListedToken {
    pub id: String,
    pub actor: ActorId,
    /// Who issued it, where that was another than its holder.
    pub issuer: Option<ActorId>,
    pub kind: ListedKind,
    pub label: String,
    pub scopes: Scopes,
    /// `full access`, or `limited to <scopes>`.
    pub access: String,
    pub status: TokenStatus,
    pub created_at: Time,
    pub expires_at: Time,
}

fn access(scopes: &Scopes) -> String {
    if scopes.is_empty() { "full access".into() } else { format!("limited to {}", listed(scopes)) }
}

fn row(token: Token, now: Time) -> ListedToken {
    let status = match token.ended {
        _ if now >= token.expires_at => TokenStatus::Expired,
        true => TokenStatus::Revoked,
        false => TokenStatus::Active,
    };
    ListedToken {
        kind: ListedKind { r#type: "api" },
        access: access(&token.scopes),
        status,
        id: token.id,
        actor: token.holder,
        issuer: token.issuer,
        label: token.label,
        scopes: token.scopes,
        created_at: token.created_at,
        expires_at: token.expires_at,
    }
}

/// List tokens.
pub enum List {}

impl Query for List {
    const SPEC: Spec = Spec {
        name: "token.list",
        doc: "List the tokens that the caller may see, newest first.",
        scope: Reach::READ,
        route: get("/tokens").listed(),
        about: &[&COMPANY, &TOKEN],
        events: &[],
    };
    type Input = Which;
    type Output = Page<ListedToken>;

    fn target(_: &Which, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Which, read: &Reader<'_>) -> Result<Page<ListedToken>, Stop> {
        let what = "token.list".to_owned();
        let seen = |token: &Token| read.may("token.list", &target_of(token));
        let page = match &input.actor {
            Some(of) => read.list_of(&tokens::LIST, of, &input.page, what, |token| seen(token) && read.knows(of))?,
            None => read.list(&tokens::LIST, &input.page, what, seen)?,
        };
        Ok(Page { rows: page.rows.into_iter().map(|token| row(token, read.now())).collect(), next: page.next })
    }

    fn next(output: &Page<ListedToken>) -> Option<String> {
        output.next.clone()
    }
}

/// A token to be issued.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewToken {
    /// What it is for, at most 100 characters.
    #[serde(default)]
    #[schemars(extend("x-erasable" = true))]
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    pub label: String,
    /// Days that it is valid: 1, 7, 30 or 90; 30 unless given.
    #[arg(skip)]
    pub days: Option<u32>,
    /// How long it is valid, instead of `days`: `12h`, `7d`; one minute to 366 days.
    #[arg(long, value_name = "SPAN", help = "How long it is valid, such as 12h or 7d [default: 30d]")]
    pub ttl: Option<String>,
    /// What it is limited to; nothing for all that its holder may do.
    #[serde(default)]
    #[arg(long = "scope", value_parser = scope::names(), help = "Limit it to a scope; may be given several times")]
    pub scopes: Vec<String>,
    /// Who will hold it; the caller unless given.
    #[arg(long, value_name = "ID", help = "Who will hold it [default: the acting actor]")]
    pub r#for: Option<ActorId>,
}

/// A token that was just issued.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct IssuedToken {
    pub id: Id,
    /// The token itself. It is shown this once.
    pub token: String,
    pub kind: Cow<'static, str>,
    pub actor: ActorId,
    pub label: String,
    pub scopes: Scopes,
    /// `full access`, or `limited to <scopes>`.
    pub access: String,
    pub expires_at: Time,
}

fn validity(input: &NewToken) -> Result<i64, String> {
    let days = match (input.days, &input.ttl) {
        (Some(_), Some(_)) => return Err("ttl: give either days or ttl".into()),
        (None, None) => 30,
        (Some(days @ (1 | 7 | 30 | 90)), None) => days,
        (Some(_), None) => return Err("days: must be 1, 7, 30 or 90".into()),
        (None, Some(ttl)) => return span(ttl),
    };
    Ok(i64::from(days) * DAY)
}

pub(super) fn span(ttl: &str) -> Result<i64, String> {
    let wrong = || format!("ttl: `{ttl}` is not a time span from 1m to 366d, such as 12h or 7d");
    let span = jiff::Span::from_str(ttl).map_err(|_| wrong())?;
    let length = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    let ms = i64::try_from(length.as_millis()).map_err(|_| wrong())?;
    if (60 * SECOND..=366 * DAY).contains(&ms) { Ok(ms) } else { Err(wrong()) }
}

fn scopes(names: &[String]) -> Result<Scopes, String> {
    names.iter().map(|name| Scope::from_str(name)).collect::<Result<_, _>>().map_err(|what| format!("scopes: {what}"))
}

/// Records a new token; the caller has checked everything.
pub(super) fn issue(
    draft: &mut Draft<'_>,
    holder: ActorId,
    label: String,
    scopes: Scopes,
    valid_ms: i64,
) -> Result<IssuedToken, Stop> {
    draft.read().room_for_token(&holder)?;
    // What runs elsewhere reaches the gateway alone.
    let kind = draft.read().card(&holder).map(|card| card.actor.kind);
    let kind = if kind == Some(ActorKind::OutsideAgent) { TokenKind::Agent } else { TokenKind::Api };
    let (id, plain) = (draft.new_id(Kind::Token), draft.new_token(kind));
    let expires_at = draft.now().plus_ms(valid_ms);
    // Whoever could have kept the caller's token could keep this one too.
    let caller = draft.read().caller();
    let another = || Some(caller.actor()).filter(|actor| *actor != ActorId::system());
    let issuer = caller.issuer.clone().or_else(another).filter(|issuer| *issuer != holder);
    draft.record(TokenIssued {
        id: id.clone(),
        holder: holder.clone(),
        hash: plain.hash().to_string(),
        label: label.clone(),
        scopes: scopes.clone(),
        issuer,
        expires_at,
    })?;
    let (token, access) = (plain.reveal().to_owned(), access(&scopes));
    Ok(IssuedToken { id, token, kind: "api".into(), actor: holder, label, scopes, access, expires_at })
}

/// Issue an API token. The secret is shown once.
pub enum Issue {}

impl Change for Issue {
    const SPEC: Spec = Spec {
        name: "token.issue",
        doc: "Issue an API token. Its value is shown this once.",
        scope: Reach::Full,
        route: post("/tokens").created().secret("token"),
        about: &[&ACTOR],
        events: &[TokenIssued::KIND],
    };
    const SAYS: &'static str = "issues a token[ for {for}][ limited to {scopes}][ for {days} days][ for {ttl}]";
    type Input = NewToken;
    type Output = IssuedToken;

    fn target(input: &NewToken, read: &Reader<'_>) -> Result<Target, Stop> {
        let holder = input.r#for.clone().unwrap_or_else(|| read.caller().actor());
        if holder.is_team() {
            return Err(Refusal::field("for", "teams hold no tokens").into());
        }
        read.actor(&holder)?;
        Ok(Target::Actor(holder))
    }

    fn run(permit: Permit<Self>, input: NewToken, draft: &mut Draft<'_>) -> Result<IssuedToken, Stop> {
        let holder = input.r#for.clone().unwrap_or_else(|| permit.actor());
        if draft.read().actor(&holder)?.actor.status != Status::Active {
            return Err(Refusal::conflict(format!("{holder} has left")).into());
        }
        let (valid, scopes) = (validity(&input), scopes(&input.scopes));
        let long = (input.label.chars().count() > 100).then(|| "label: must have at most 100 characters".to_owned());
        let problems: Vec<String> =
            [valid.as_ref().err().cloned(), scopes.as_ref().err().cloned(), long].into_iter().flatten().collect();
        let (Ok(valid), Ok(scopes), true) = (valid, scopes, problems.is_empty()) else {
            return Err(Refusal::invalid(problems).into());
        };
        issue(draft, holder, input.label, scopes, valid)
    }
}

/// How many tokens were revoked.
#[derive(Serialize, JsonSchema)]
pub struct Revoked {
    pub revoked: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Holder {
    pub actor: ActorId,
}

/// Revoke all tokens of an actor.
pub enum RevokeAll {}

impl Change for RevokeAll {
    const SPEC: Spec = Spec {
        name: "token.revoke_all",
        doc: "Revoke all tokens of an actor.",
        scope: Reach::Full,
        route: delete("/tokens/{actor}").stops(),
        about: &[&ACTOR, &TEAM],
        events: &[TokenRevoked::KIND],
    };
    const SAYS: &'static str = "revokes all tokens of {actor}";
    type Input = Holder;
    type Output = Revoked;

    fn target(input: &Holder, read: &Reader<'_>) -> Result<Target, Stop> {
        read.actor(&input.actor)?;
        Ok(Target::Actor(input.actor.clone()))
    }

    fn run(_: Permit<Self>, input: Holder, draft: &mut Draft<'_>) -> Result<Revoked, Stop> {
        let live = draft.read().live_tokens_of(&input.actor)?;
        for id in &live {
            draft.record(TokenRevoked { id: Id::stored(id), holder: input.actor.clone() })?;
        }
        Ok(Revoked { revoked: live.len() as u64 })
    }
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct OneToken {
    pub id: String,
}

fn find(id: &str, read: &Reader<'_>) -> Result<Token, Stop> {
    Ok(read.token(id)?.ok_or_else(Refusal::not_found)?)
}

/// Revoke one token.
pub enum Revoke {}

impl Change for Revoke {
    const SPEC: Spec = Spec {
        name: "token.revoke",
        doc: "Revoke one token. Revoking it again changes nothing.",
        scope: Reach::Full,
        route: delete("/tokens/id/{id}").stops(),
        about: &[&TOKEN],
        events: &[TokenRevoked::KIND],
    };
    const SAYS: &'static str = "revokes the token {id}";
    type Input = OneToken;
    type Output = Revoked;

    fn target(input: &OneToken, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(target_of(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: OneToken, draft: &mut Draft<'_>) -> Result<Revoked, Stop> {
        let token = find(&input.id, draft.read())?;
        if token.ended {
            return Ok(Revoked { revoked: 0 });
        }
        draft.record(TokenRevoked { id: Id::stored(&token.id), holder: token.holder })?;
        Ok(Revoked { revoked: 1 })
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Narrower {
    /// The token's id.
    #[arg(value_name = "TOKEN")]
    pub id: String,
    /// The scopes that remain: some of those that it has, or any if it has none yet.
    #[arg(value_delimiter = ',', required = true, value_parser = scope::names())]
    pub scopes: Vec<String>,
}

/// Narrow a token's scopes.
pub enum Narrow {}

impl Change for Narrow {
    const SPEC: Spec = Spec {
        name: "token.narrow",
        doc: "Narrow the scopes of a token. They can never be widened.",
        scope: Reach::Full,
        route: patch("/tokens/id/{id}").stops(),
        about: &[&TOKEN],
        events: &[TokenNarrowed::KIND],
    };
    const SAYS: &'static str = "limits the token {id} to {scopes}";
    type Input = Narrower;
    type Output = ListedToken;

    fn target(input: &Narrower, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(target_of(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: Narrower, draft: &mut Draft<'_>) -> Result<ListedToken, Stop> {
        let token = find(&input.id, draft.read())?;
        let wanted = scopes(&input.scopes).map_err(|problem| Refusal::invalid(vec![problem]))?;
        if !token.is_live(draft.now()) {
            return Err(Refusal::conflict("the token has ended").into());
        }
        if wanted.is_empty() {
            return Err(Refusal::field("scopes", "name at least one: read, changes, policy").into());
        }
        let added: BTreeSet<Scope> = wanted.difference(&token.scopes).copied().collect();
        if !token.scopes.is_empty() && !added.is_empty() {
            let problem = format!("scopes can be narrowed, never widened: the token has no {}", listed(&added));
            return Err(Refusal::field("scopes", problem).into());
        }
        let (id, holder) = (Id::stored(&token.id), token.holder.clone());
        if wanted != token.scopes {
            draft.record(TokenNarrowed { id, holder, scopes: wanted.clone() })?;
        }
        Ok(row(Token { scopes: wanted, ..token }, draft.now()))
    }
}
