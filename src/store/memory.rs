//! What the directory in memory must read again after an event.

use types::id::{ActorId, Id};

/// The parts of the directory in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    Nothing,
    Actors,
    Tokens,
    Kills,
    Policy,
    Company,
    Trial,
    Delegations,
    BreakGlass,
    Webhooks,
    Entities,
}

impl Memory {
    /// Whether decisions read it, beside the policies: then its history is kept.
    pub const fn is_directory(self) -> bool {
        match self {
            Memory::Actors | Memory::Kills | Memory::Delegations | Memory::BreakGlass => true,
            // What a token was limited to, and the settings, are kept with each question; a trial decides nothing.
            Memory::Nothing | Memory::Tokens | Memory::Policy | Memory::Company | Memory::Trial => false,
            Memory::Webhooks | Memory::Entities => false,
        }
    }
}

/// What one event has touched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Touched {
    Nothing,
    Actor(ActorId),
    Token(Id),
    Kills,
    Policy,
    /// The company's settings.
    Company,
    /// A candidate is tried, or no longer.
    Trial,
    /// These delegations.
    Delegations(Vec<String>),
    /// Break-glass grants.
    BreakGlass,
    /// Webhook subscriptions.
    Webhooks,
    /// Entities that are kept for decisions.
    Entities,
}

impl Touched {
    pub const fn memory(&self) -> Memory {
        match self {
            Touched::Nothing => Memory::Nothing,
            Touched::Actor(_) => Memory::Actors,
            Touched::Token(_) => Memory::Tokens,
            Touched::Kills => Memory::Kills,
            Touched::Policy => Memory::Policy,
            Touched::Company => Memory::Company,
            Touched::Trial => Memory::Trial,
            Touched::Delegations(_) => Memory::Delegations,
            Touched::BreakGlass => Memory::BreakGlass,
            Touched::Webhooks => Memory::Webhooks,
            Touched::Entities => Memory::Entities,
        }
    }
}
