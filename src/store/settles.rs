//! What an event says about other things: that something is over, how a request for approval stands, how the current
//! step of a run stands. The gate draws the consequences in the transaction that records the event.
//!
//! Always true: an event settles exactly what its declaration says; nothing else lists the types of events that do.

use std::fmt::Display;

use rusqlite::Connection;

use types::id::Id;

/// What an event settles, as its declaration says.
pub enum Settles<E: 'static> {
    Nothing,
    /// Some things are over.
    Ends(fn(&E, &Connection) -> rusqlite::Result<Vec<End>>),
    /// How a request for approval stands.
    Request(fn(&E) -> (&Id, Standing)),
    /// How the current step of this run stands.
    Step(fn(&E) -> &Id),
    /// The current step of this run was not taken: a budget holds the run. Such a call does not count as done.
    Held(fn(&E) -> &Id),
}

/// Something that is over, and why nobody need be asked about it any more.
#[derive(Clone, Debug)]
pub struct End {
    pub over: Over,
    /// Said to whoever has requested something about it.
    pub because: String,
}

#[derive(Clone, Debug)]
pub enum Over {
    /// Whatever is asked about this thing.
    Thing(String),
    /// One operation on this thing.
    Operation { on: String, operation: &'static str },
    /// Whatever is asked for under this delegation.
    Delegation(String),
    /// This one request for approval.
    Request(String),
}

impl Over {
    /// Of several reasons why a request is stale, the one with the highest rank is told.
    pub fn rank(&self) -> u8 {
        match self {
            Over::Thing(_) => 0,
            Over::Operation { .. } => 1,
            Over::Delegation(_) => 2,
            Over::Request(_) => 3,
        }
    }
}

impl End {
    /// Nothing can be asked about this thing any more, because it `why`.
    pub fn thing(id: &impl Display, why: &str) -> Vec<End> {
        vec![End { over: Over::Thing(id.to_string()), because: format!("{id} {why}") }]
    }

    /// Whether this operation on this thing is over.
    pub fn is_of(&self, thing: &str, of: &str) -> bool {
        matches!(&self.over, Over::Operation { on, operation } if on == thing && *operation == of)
    }

    /// The thing about which nothing can be asked any more.
    pub fn over_thing(&self) -> Option<&str> {
        if let Over::Thing(id) = &self.over { Some(id) } else { None }
    }
}

/// What an event makes of a request for approval.
#[derive(Clone, Debug)]
pub enum Standing {
    /// Nothing yet: more have to agree.
    Open,
    /// It was carried out; how the requester's step stands is said by what was done.
    CarriedOut,
    /// It will not be carried out, for this reason.
    Refused(String),
    /// The requester makes the call again.
    Again,
}
