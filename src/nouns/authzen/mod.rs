//! Decisions for other programs, by the OpenID AuthZEN Authorization API 1.0. They are about the types and actions of the
//! company's own schema, and are made by the same policies and the same engine as everything else.

mod batch;
mod candidates;
mod kept;
mod metadata;
mod pages;
mod recorded;
mod search;
mod words;

pub use self::kept::{EntitySource, completed};
use self::recorded::{Decision, Judge};
pub(crate) use self::words::all;
use self::words::bad;
pub use self::words::{Evaluation, said};
use crate::company::COMPANY;
use gate::declare::operation::Decide;
use gate::{Entry, Permit, Reader, Spec, Target, post};
use store::decisions::events::AccessDecided;
use store::event::Event;
use types::refusal::Stop;
use types::scope::Reach;

pub const ALL: &[Entry] = &[
    Entry::decide::<Evaluate>(),
    Entry::decide::<batch::Evaluations>(),
    Entry::query::<search::Subjects>(),
    Entry::query::<search::Resources>(),
    Entry::query::<search::Actions>(),
    Entry::query::<metadata::Metadata>(),
];

/// Evaluate one decision.
pub enum Evaluate {}

impl Decide for Evaluate {
    const SPEC: Spec = Spec {
        name: "access.evaluate",
        doc: "Evaluate one AuthZEN access request about the company's own types.",
        scope: Reach::Full,
        route: post("/access/v1/evaluation").standard(),
        about: &[&COMPANY],
        events: &[AccessDecided::KIND],
    };
    type Input = Evaluation;
    type Output = Decision;

    fn target(_: &Evaluation, _: &Reader<'_>) -> Result<Target, Stop> {
        Ok(Target::Company)
    }

    fn run(_: Permit<Self>, input: Evaluation, read: &Reader<'_>) -> Result<(Decision, Vec<Event>), Stop> {
        let serving = read.serving();
        let mut judge = Judge::new(read, &serving);
        let decision = judge
            .decide(&*completed(&input, EntitySource::Now(read), &serving)?, &Evaluation::default())
            .map_err(|wrong| bad(&wrong))?;
        Ok((decision, judge.events))
    }
}
