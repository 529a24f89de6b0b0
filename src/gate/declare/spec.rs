//! The declaration of one operation: its route, its Cedar action, the tokens that reach it, its target, and the events
//! that it records.

use crate::declare::resource::Resource;
use crate::declare::route::{Answer, Auth, Body, Route, Surface};
use store::event::EventKind;
use types::scope::Reach;
use types::target::Target;

/// The declaration of one operation.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// `noun.verb`: also the Cedar action and the OpenAPI operationId.
    pub name: &'static str,
    /// One or two sentences for the reference.
    pub doc: &'static str,
    /// Which scoped tokens reach it.
    pub scope: Reach,
    pub route: Route,
    /// What it can be about.
    pub about: &'static [&'static Resource],
    /// The event kinds that it may record.
    pub events: &'static [EventKind],
}

impl Spec {
    /// Whether agents may be offered it as a tool: what is answered once, as a stream or as a text is for people and programs,
    /// and so is what takes the place of a file.
    pub fn is_tool(&self) -> bool {
        let Route { surface, auth, body, answer, .. } = self.route;
        let is_served = matches!(surface, Surface::Api | Surface::Root);
        let is_usual = is_served && body == Body::Usual && matches!(answer, Answer::Json | Answer::Partial);
        auth == Auth::Run || (is_usual && auth != Auth::Visitor)
    }

    /// Returns the operation's target for a thing that does not exist. `id` is the id that the call gave, if known.
    pub fn absent(&self, id: Option<&str>) -> Target {
        self.about.iter().find(|noun| !noun.is_company()).map_or(Target::Company, |noun| noun.absent(id))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    Query,
    /// A query whose answer may be recorded.
    Decide,
    Change,
}
