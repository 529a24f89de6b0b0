//! Issues a token. Its value is shown once.

use std::borrow::Cow;
use std::str::FromStr as _;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::access;
use crate::actor::resource::ACTOR;
use gate::{Change, Draft, Permit, Reader, Spec, Target, post};
use store::actors::Status;
use store::tokens::events::TokenIssued;
use types::actor::ActorKind;
use types::id::{ActorId, Id, Kind};
use types::refusal::{Refusal, Stop};
use types::scope::{self, Reach, Scope, Scopes};
use types::time::{DAY, SECOND, Time};
use types::token::TokenKind;

/// A token to be issued.
#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct NewToken {
    /// What it is for, at most 100 characters.
    #[schemars(length(max = 100))]
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
    /// The scopes that limit it, at least one; if omitted, it may do whatever its holder may.
    #[schemars(length(min = 1))]
    #[arg(long = "scope", value_parser = scope::names(), help = "Limit it to a scope; may be repeated")]
    pub scopes: Option<Vec<String>>,
    /// The holder; the caller unless given.
    #[arg(long, value_name = "ID", help = "The holder [default: the acting actor]")]
    pub r#for: Option<ActorId>,
}

/// A token that was just issued.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct IssuedToken {
    pub id: Id,
    /// The token itself, shown only once.
    pub token: String,
    pub kind: Cow<'static, str>,
    pub actor: ActorId,
    pub label: String,
    pub scopes: Scopes,
    /// `full access`, `limited to <scopes>`, or, of an outside agent, `the gateway for outside agents alone (not served yet)`.
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

pub fn span(ttl: &str) -> Result<i64, String> {
    let wrong = || format!("ttl: `{ttl}` is not a time span from 1m to 366d, such as 12h or 7d");
    let span = jiff::Span::from_str(ttl).map_err(|_| wrong())?;
    let length = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours()).map_err(|_| wrong())?;
    let ms = i64::try_from(length.as_millis()).map_err(|_| wrong())?;
    if (60 * SECOND..=366 * DAY).contains(&ms) { Ok(ms) } else { Err(wrong()) }
}

pub(super) fn scopes(names: &[String]) -> Result<Scopes, String> {
    names.iter().map(|name| Scope::from_str(name)).collect::<Result<_, _>>().map_err(|what| format!("scopes: {what}"))
}

/// Parses a token's scopes. An empty list is refused: it looks like none and would mean all.
fn limits(names: Option<&[String]>) -> Result<Scopes, String> {
    match names {
        Some([]) => Err("scopes: name at least one, or leave it out for all that its holder may do".into()),
        names => scopes(names.unwrap_or_default()),
    }
}

/// Records a new token; the caller has validated everything.
pub fn issue(
    draft: &mut Draft<'_>,
    holder: ActorId,
    label: String,
    scopes: Scopes,
    valid_ms: i64,
) -> Result<IssuedToken, Stop> {
    draft.read().room_for_token(&holder)?;
    // An outside agent's token reaches only the gateway.
    let kind = draft.read().card(&holder).map(|card| card.actor.kind);
    let kind = if kind == Some(ActorKind::OutsideAgent) { TokenKind::Agent } else { TokenKind::Api };
    let (id, plain) = (draft.new_id(Kind::Token), draft.new_token(kind));
    let expires_at = draft.now().plus_ms(valid_ms);
    // Whoever could have kept the caller's token could keep this one, too.
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
    let (token, access) = (plain.reveal().to_owned(), access(&holder, &scopes, draft.read()));
    Ok(IssuedToken { id, token, kind: "api".into(), actor: holder, label, scopes, access, expires_at })
}

/// Issue an API token. The secret is shown once.
pub enum Issue {}

impl Change for Issue {
    const SPEC: Spec = Spec {
        name: "token.issue",
        doc: "Issue an API token. Its value is shown only once.",
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
            return Err(Refusal::field("for", "teams have no tokens").into());
        }
        read.actor(&holder)?;
        Ok(Target::Actor(holder))
    }

    fn run(permit: Permit<Self>, input: NewToken, draft: &mut Draft<'_>) -> Result<IssuedToken, Stop> {
        let holder = input.r#for.clone().unwrap_or_else(|| permit.actor());
        if draft.read().actor(&holder)?.actor.status != Status::Active {
            return Err(Refusal::conflict(format!("{holder} has left")).into());
        }
        let (valid, scopes) = (validity(&input), limits(input.scopes.as_deref()));
        let long = (input.label.chars().count() > 100).then(|| "label: must have at most 100 characters".to_owned());
        let problems: Vec<String> =
            [valid.as_ref().err().cloned(), scopes.as_ref().err().cloned(), long].into_iter().flatten().collect();
        let (Ok(valid), Ok(scopes), true) = (valid, scopes, problems.is_empty()) else {
            return Err(Refusal::invalid(problems).into());
        };
        issue(draft, holder, input.label, scopes, valid)
    }
}
