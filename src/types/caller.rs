//! Who is calling, as far as the gate has made sure of it.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::actor::named;
use super::id::{ActorId, Id};
use super::run::RunFacts;
use super::scope::Scopes;
use super::token::TokenHash;

named! {
    /// How a request reached us. Policies see it as `context.channel`.
    Channel, "channel", {
        Http = "http",
        /// The command line, by itself on the state file or over the server's admin socket.
        Cli = "cli",
        /// The server's own clock.
        Tick = "tick",
        /// A run: an agent at work.
        Run = "run",
    }
}

/// What a caller shows.
#[derive(Clone, Debug)]
pub enum Credential {
    /// No token at all.
    Nothing,
    /// The value of an `Authorization` header, or of the stream's `token` parameter as `Bearer <token>`.
    Header(String),
    /// The holder of the state file, acting as somebody.
    Holder(ActorId),
    /// The server itself.
    Server,
    /// An agent, at the next step of a run.
    Run(ActorId, Arc<RunFacts>),
}

/// A request's origin, before admission.
#[derive(Clone, Debug)]
pub struct Presented {
    pub credential: Credential,
    pub channel: Channel,
    /// The peer's address, where there is one.
    pub address: Option<IpAddr>,
    /// The delegation to act under.
    pub under: Option<String>,
}

/// An admitted caller.
#[derive(Clone, Debug)]
pub struct Caller {
    pub who: Who,
    pub channel: Channel,
    /// The token that the call was made with; for an approved call, the token of its request; for a step, the token of
    /// its run. None for the holder of the state file, visitors and the server itself.
    pub token: Option<Id>,
    /// Who issued the caller's token, where that is not its holder: they could be calling.
    pub issuer: Option<ActorId>,
    /// The delegation that the caller acts under.
    pub under: Option<Id>,
    /// The break-glass grant that lets this call go on without the approvals that it needs.
    pub break_glass: Option<Id>,
    /// The run that the call is a step of, as it stands.
    pub run: Option<Arc<RunFacts>>,
}

#[derive(Clone, Debug)]
pub enum Who {
    /// Nobody in particular: only open operations.
    Visitor,
    /// An actor by token: the token is looked at again when a change is made.
    Token {
        actor: ActorId,
        hash: TokenHash,
        scopes: Scopes,
    },
    /// An actor on the word of whoever holds the state file.
    Holder(ActorId),
    Server,
}

impl Caller {
    pub fn new(who: Who, channel: Channel) -> Caller {
        Caller { who, channel, token: None, issuer: None, under: None, break_glass: None, run: None }
    }

    /// The id that goes into the log.
    pub fn actor(&self) -> ActorId {
        match &self.who {
            Who::Token { actor, .. } | Who::Holder(actor) => actor.clone(),
            Who::Visitor | Who::Server => ActorId::system(),
        }
    }
}
