//! Admission: who is calling. What a token may reach is decided here; what its holder may do, by policy.

use std::sync::Arc;

use crate::admit::chain;
use crate::admit::limiter::Limiter;
use crate::decide::world::World;
use crate::declare::route::Auth;
use crate::declare::spec::Spec;
use store::actors::Status;
use types::caller::{Caller, Credential, Presented, Who};
use types::id::{ActorId, Id};
use types::refusal::{Code, Refusal};
use types::time::Time;
use types::token::{self, TokenHash, TokenKind};

/// Admits a caller to an operation, or says 401, 403 or 429.
pub(crate) fn admit(
    world: &World,
    limiter: &Limiter,
    presented: &Presented,
    spec: &Spec,
    now: Time,
) -> Result<Caller, Refusal> {
    let who = match &presented.credential {
        _ if spec.route.is_open() => Who::Visitor,
        Credential::Nothing => return Err(unauthorized("missing bearer token")),
        Credential::Header(header) => match bearer(world, header, now) {
            Ok(who) => who,
            Err(refusal) => return Err(failed(limiter, presented, refusal, now)),
        },
        Credential::Holder(actor) => Who::Holder(holder(world, actor)?),
        Credential::Server if spec.route.auth == Auth::Server => Who::Server,
        Credential::Run(agent, _) if spec.is_tool() => Who::Holder(holder(world, agent)?),
        Credential::Run(..) => return Err(unauthorized("agents are not offered this operation")),
        Credential::Server => return Err(unauthorized("the server itself does not do this")),
    };
    // Nobody in particular acts in nobody's name.
    let under = presented.under.as_deref().filter(|_| !matches!(who, Who::Visitor | Who::Server)).map(Id::stored);
    let run = match &presented.credential {
        Credential::Run(_, facts) => Some(Arc::clone(facts)),
        _ => None,
    };
    // A step is taken with the token and under the delegation that its run was begun with.
    let under = under.or_else(|| run.as_ref()?.under.clone());
    let (token, issuer) = shown(world, &who);
    let token = token.or_else(|| run.as_ref()?.token_id.clone());
    let caller = Caller { token, issuer, under, run, ..Caller::new(who, presented.channel) };
    // Whoever is known is told where the refusal stands; strangers learn nothing of the log.
    let held = reaches(&caller, spec).and_then(|()| chain::holds(world, &caller, now));
    held.map_err(|refusal| Refusal { stands: Some(Box::new(world.stands())), ..refusal })?;
    Ok(caller)
}

/// Checks a caller again: between admission and the writer's turn, its token or its delegation may have ended or been
/// narrowed.
pub(crate) fn still(world: &World, caller: Caller, spec: &Spec, now: Time) -> Result<Caller, Refusal> {
    let who = match caller.who {
        Who::Token { hash, .. } => live(world, &hash, now).ok_or_else(|| unauthorized("invalid token"))?,
        Who::Holder(actor) => Who::Holder(holder(world, &actor)?),
        who @ (Who::Visitor | Who::Server) => who,
    };
    let caller = Caller { who, ..caller };
    reaches(&caller, spec)?;
    chain::holds(world, &caller, now)?;
    Ok(caller)
}

fn unauthorized(message: &str) -> Refusal {
    Refusal::new(Code::Unauthorized, message)
}

fn failed(limiter: &Limiter, presented: &Presented, refusal: Refusal, now: Time) -> Refusal {
    match presented.address.map(|address| limiter.failed(address, now)) {
        Some(Err(seconds)) if refusal.code == Code::Unauthorized => Refusal {
            retry_after: Some(seconds),
            ..Refusal::new(Code::RateLimited, "too many failed authentications from this address")
        },
        _ => refusal,
    }
}

fn bearer(world: &World, header: &str, now: Time) -> Result<Who, Refusal> {
    let (scheme, text) = header.split_once(' ').unwrap_or((header, ""));
    if !scheme.eq_ignore_ascii_case("bearer") || text.is_empty() {
        return Err(unauthorized("not a bearer token"));
    }
    let invalid = || unauthorized("invalid token");
    let (kind, hash) = token::parse(text.trim()).ok_or_else(invalid)?;
    let known = live(world, &hash, now).ok_or_else(invalid)?;
    match kind {
        TokenKind::Api => Ok(known),
        TokenKind::Agent => {
            let message = "an outside agent's token reaches only the gateway for outside agents, which this version does not serve yet";
            Err(Refusal { stands: Some(Box::new(world.stands())), ..Refusal::new(Code::AgentTokenScope, message) })
        }
        // Operators' tokens live in a place of their own: here none of them is known.
        TokenKind::Operator => Err(invalid()),
    }
}

fn live(world: &World, hash: &TokenHash, now: Time) -> Option<Who> {
    let token = world.tokens.get(hash)?;
    let holder = world.card(&token.holder)?;
    let active = holder.actor.status == Status::Active;
    (token.is_live(now) && active).then(|| Who::Token {
        actor: token.holder.clone(),
        hash: *hash,
        scopes: token.scopes.clone(),
    })
}

/// The token that was shown, and who could have kept it.
fn shown(world: &World, who: &Who) -> (Option<Id>, Option<ActorId>) {
    let Who::Token { hash, .. } = who else { return (None, None) };
    world.tokens.get(hash).map_or((None, None), |token| (Some(token.id()), token.issuer.clone()))
}

/// Whoever holds the state file acts as anybody who may act; teams do not act.
fn holder(world: &World, actor: &ActorId) -> Result<ActorId, Refusal> {
    let unknown = || Refusal::new(Code::Unauthorized, format!("unknown actor {actor}"));
    let card = world.card(actor).ok_or_else(unknown)?;
    if actor.is_team() || card.actor.status != Status::Active { Err(unknown()) } else { Ok(actor.clone()) }
}

fn reaches(caller: &Caller, spec: &Spec) -> Result<(), Refusal> {
    match &caller.who {
        Who::Token { scopes, .. } if !spec.scope.admits(scopes) => {
            let route = format!("{} {}", spec.route.method.name(), spec.route.path);
            Err(Refusal::new(Code::TokenScope, format!("this token's scopes do not reach {route}")))
        }
        _ => Ok(()),
    }
}
