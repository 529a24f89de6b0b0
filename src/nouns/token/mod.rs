//! API tokens: issued, listed without their secret, narrowed, revoked.

mod begun;
mod ending;
mod issue;
mod issued;
mod resource;

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Not;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::resource::{ACTOR, TEAM};
use crate::company::COMPANY;
use gate::{Change, Draft, Entry, Permit, Query, Reader, Spec, Target, delete, get, patch};
use store::tokens::events::TokenNarrowed;
use store::tokens::{self, Token};
use types::actor::ActorKind;
use types::id::{ActorId, Id};
use types::page::{Page, PageQuery};
use types::refusal::{Refusal, Stop};
use types::scope::{self, Reach, Scope, Scopes, listed};
use types::time::Time;
use types::token::{self, TokenHash};

pub use begun::{GoingOn, Made, Show, ShownToken};
use ending::{ENDING, revoke, revoke_again};
pub use ending::{doubt, end_all};
use issue::scopes;
pub use issue::{Issue, IssuedToken, NewToken};
pub(super) use issue::{issue, span};
pub use issued::end_issued;
use resource::target_of;
pub use resource::{SeenTokens, TOKEN};

pub const ALL: &[Entry] = &[
    Entry::query::<List>(),
    Entry::query::<Show>(),
    Entry::change::<Issue>(),
    Entry::change::<RevokeAll>(),
    Entry::change::<Revoke>(),
    Entry::change::<Narrow>(),
];

/// Which tokens.
#[derive(Default, Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Which {
    /// Only this actor's.
    #[arg(long, value_name = "ID")]
    pub actor: Option<ActorId>,
    /// Only the one whose value has this SHA-256: 64 hexadecimal digits.
    #[arg(skip)]
    #[schemars(extend("pattern" = "^[0-9a-f]{64}$"))]
    pub sha256: Option<String>,
    #[serde(flatten)]
    #[arg(skip)]
    pub page: PageQuery,
}

/// What kind of token a listing shows.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ListedKind {
    pub r#type: Cow<'static, str>,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TokenStatus {
    Active,
    Expired,
    Revoked,
}

/// A token as it is listed: never its value.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct ListedToken {
    pub id: String,
    pub actor: ActorId,
    /// Who issued it, if not its holder.
    pub issuer: Option<ActorId>,
    pub kind: ListedKind,
    pub label: String,
    pub scopes: Scopes,
    /// `full access`, `limited to <scopes>`, or, of an outside agent, `the gateway for outside agents alone (not served yet)`.
    pub access: String,
    pub status: TokenStatus,
    pub created_at: Time,
    pub expires_at: Time,
    /// When it was revoked, if it was, even if it would have expired since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<Time>,
}

fn access(holder: &ActorId, scopes: &Scopes, read: &Reader<'_>) -> String {
    let is_outside = read.card(holder).is_some_and(|card| card.actor.kind == ActorKind::OutsideAgent);
    match scopes.is_empty() {
        // An outside agent's token reaches no route of the workspace.
        true if is_outside => "the gateway for outside agents alone (not served yet)".into(),
        true => "full access".into(),
        false => format!("limited to {}", listed(scopes)),
    }
}

fn row(token: Token, read: &Reader<'_>) -> ListedToken {
    let now = read.now();
    let status = match token.revoked_at {
        Some(_) => TokenStatus::Revoked,
        None if token.is_live(now) => TokenStatus::Active,
        None => TokenStatus::Expired,
    };
    ListedToken {
        kind: ListedKind { r#type: "api".into() },
        access: access(&token.holder, &token.scopes, read),
        status,
        id: token.id,
        actor: token.holder,
        issuer: token.issuer,
        label: token.label,
        scopes: token.scopes,
        created_at: token.created_at,
        expires_at: token.expires_at,
        revoked_at: token.revoked_at,
    }
}

fn hash(hex: &str) -> Result<TokenHash, Refusal> {
    let mut hash = [0; 32];
    let wrong = |_| Refusal::bad_request("sha256: must be 64 hexadecimal digits");
    hex::decode_to_slice(hex, &mut hash).map_err(wrong)?;
    Ok(TokenHash(hash))
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
        if let Some(sha256) = &input.sha256 {
            let is_asked_for = |token: &Token| input.actor.as_ref().is_none_or(|of| *of == token.holder);
            let found = read.token_by_hash(&hash(sha256)?)?.filter(|token| is_asked_for(token) && seen(token));
            return Ok(Page { rows: found.into_iter().map(|token| row(token, read)).collect(), next: None });
        }
        let page = match &input.actor {
            Some(of) => {
                read.list_of(&tokens::LIST, of.as_str(), &input.page, what, |token| seen(token) && read.knows(of))?
            }
            None => read.list(&tokens::LIST, &input.page, what, seen)?,
        };
        Ok(Page { rows: page.rows.into_iter().map(|token| row(token, read)).collect(), next: page.next })
    }

    fn next(output: &Page<ListedToken>) -> Option<String> {
        output.next.clone()
    }
}

/// How many tokens were revoked.
#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Revoked {
    pub revoked: u64,
    /// How many open requests for approval were ended with them, including those that the caller cannot see.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub ended: u64,
    /// How many live tokens the actor issued for others and may have copied; counted up to 1000.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub issued: Option<u64>,
    #[serde(flatten)]
    pub going_on: GoingOn,
}

const fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Holder {
    pub actor: ActorId,
    /// Revoke the tokens that the actor issued for others, instead of the actor's own: at most 1000 at once.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub issued: bool,
    /// Also end the open requests for approval that were made with them: at most 1000 at once.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub requests: bool,
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct TokenToRevoke {
    /// The token's id.
    pub id: String,
    /// Also end the open requests for approval that were made with it: at most 1000 at once.
    #[serde(default, skip_serializing_if = "Not::not")]
    pub requests: bool,
}

/// The maximum number of tokens issued for others that are revoked or counted at once.
pub const MOST_ISSUED: usize = 1_000;

/// Revoke all tokens of an actor.
pub enum RevokeAll {}

impl Change for RevokeAll {
    const SPEC: Spec = Spec {
        name: "token.revoke_all",
        doc: "Revoke all tokens of an actor; with `issued`, those that the actor issued for others.",
        scope: Reach::Full,
        route: delete("/tokens/{actor}").stops(),
        about: &[&ACTOR, &TEAM],
        events: ENDING,
    };
    const SAYS: &'static str =
        "revokes all tokens {issued?issued by|of} {actor}{requests? and ends what was requested with them|}";
    type Input = Holder;
    type Output = Revoked;

    fn target(input: &Holder, read: &Reader<'_>) -> Result<Target, Stop> {
        read.actor(&input.actor)?;
        Ok(Target::Actor(input.actor.clone()))
    }

    fn run(_: Permit<Self>, input: Holder, draft: &mut Draft<'_>) -> Result<Revoked, Stop> {
        let issued = draft.read().live_tokens_by(&input.actor, MOST_ISSUED)?;
        if input.issued {
            return revoke(&issued, input.requests, draft);
        }
        let left = Some(issued.len() as u64).filter(|left| *left > 0);
        let own = draft.read().live_tokens_of(&input.actor)?;
        Ok(Revoked { issued: left, ..revoke(&own, input.requests, draft)? })
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct OneToken {
    /// The token's id.
    #[arg(value_name = "TOKEN", value_parser = token::id)]
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
        events: ENDING,
    };
    const SAYS: &'static str = "revokes the token {id}{requests? and ends what was requested with it|}";
    type Input = TokenToRevoke;
    type Output = Revoked;

    fn target(input: &TokenToRevoke, read: &Reader<'_>) -> Result<Target, Stop> {
        Ok(target_of(&find(&input.id, read)?))
    }

    fn run(_: Permit<Self>, input: TokenToRevoke, draft: &mut Draft<'_>) -> Result<Revoked, Stop> {
        let token = find(&input.id, draft.read())?;
        let (has_ended, token) = (token.ended, [(token.id, token.holder)]);
        let revoke = if has_ended { revoke_again } else { revoke };
        revoke(&token, input.requests, draft)
    }
}

#[derive(Serialize, Deserialize, JsonSchema, clap::Args)]
pub struct Narrower {
    /// The token's id.
    #[arg(value_name = "TOKEN", value_parser = token::id)]
    pub id: String,
    /// The scopes that remain: a subset of its scopes, or any if it has none yet.
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
        Ok(row(Token { scopes: wanted, ..token }, draft.read()))
    }
}
