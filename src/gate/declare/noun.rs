//! What policies, questions and tests of policies know of the nouns that operations can be about: each is declared once, with
//! its [`Resource`](crate::declare::resource::Resource), beside its operations. Everything here walks over those declarations.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use crate::decide::card::Card;
use crate::declare::fact::{FactSpec, in_row};
use policy::brain::{self, Collections};
use policy::testing::{Cast, Row, Sample};
use types::delegation::Terms;
use types::id::ActorId;
use types::target::{Fact, Target, Thing};

/// The Cedar types of what is no [`Thing`]: the company itself, and its directory.
pub const COMPANY: &str = "Company";
const ACTOR: &str = "Actor";
const TEAM: &str = "Team";
/// The id of a thing that is only to be made.
pub const NEW: &str = "new";
/// The noun of what stands in collections.
pub const RECORD: &str = "Record";

/// A noun.
#[derive(Clone, Copy)]
pub struct Noun {
    /// Its Cedar type in the namespace `Ok`.
    pub name: &'static str,
    /// A sentence for the schema.
    pub doc: &'static str,
    /// The operation that must be allowed for a thing to exist as far as the caller can tell; none where that is no secret.
    pub sight: Option<&'static str>,
    /// The fact that holds a thing's owner, for nouns where a token with limited scopes reaches only what belongs to
    /// its holder.
    pub own: Option<&'static str>,
    pub facts: &'static [FactSpec],
    pub staged: Staged,
}

/// How a thing comes into the small company of a policy test.
#[derive(Clone, Copy)]
pub enum Staged {
    /// It is the company, or in its directory.
    Directory,
    /// It is there because of what else is: a kill switch, or a delegation.
    Made(fn(&str, &dyn Directory) -> Option<Thing>),
    /// It is a row of this list; `facts` that are worked out from the directory are added to it. A comparison of policies asks
    /// about the samples.
    Rows { list: &'static str, complete: fn(Thing, &dyn Directory) -> Thing, samples: fn(&Cast<'_>) -> Vec<Sample> },
    /// It is a row of this list, with fields besides `facts` that only the company knows.
    Open { list: &'static str, read: fn(Thing, &Row, &dyn Directory) -> Result<Thing, String> },
}

/// The company that a thing is in, as far as its facts depend on it.
pub trait Directory {
    fn card(&self, id: &ActorId) -> Option<&Card>;
    /// The teams that somebody is in, nearest first.
    fn teams(&self, card: &Card) -> &[ActorId];
    /// The delegations that can be acted under.
    fn terms(&self, id: &str) -> Option<&Terms>;
    /// Whether a kill switch stops an actor, or its team.
    fn is_stopped(&self, id: &ActorId) -> bool;
    /// What the company's own data is made of.
    fn collections(&self) -> &Collections;
}

impl Noun {
    pub const fn is_company(&self) -> bool {
        matches!(self.name.as_bytes(), b"Company")
    }

    /// Whether a target is one of these.
    pub fn has(&self, target: &Target) -> bool {
        let name = name_of(target);
        self.name == name || (self.name == RECORD && brain::collection_of(name).is_some())
    }

    /// Whether the schema's first part declares it: the company and its directory.
    pub(crate) const fn is_core(&self) -> bool {
        matches!(self.staged, Staged::Directory)
    }

    /// Returns a target of this kind for a thing that does not exist. What is absent is decided like what is hidden, so
    /// that both answers take the same time. `id`: the id that the call gave.
    pub(crate) fn absent(&self, id: Option<&str>) -> Target {
        match self.name {
            COMPANY => Target::Company,
            ACTOR | TEAM => Target::Actor(id.and_then(|id| id.parse().ok()).unwrap_or_else(ActorId::system)),
            name => {
                let facts = self.facts.iter().filter_map(|spec| Some((spec.name, spec.blank()?)));
                Target::Thing(
                    facts.fold(Thing::new(name, id.unwrap_or("absent")), |thing, (name, fact)| thing.with(name, fact)),
                )
            }
        }
    }

    /// Its entity type in Cedar's schema language.
    pub(crate) fn schema(&self) -> String {
        let fields: Vec<String> = self
            .facts
            .iter()
            .map(|spec| format!("{}{}: {},", spec.name, if spec.optional { "?" } else { "" }, spec.cedar_type()))
            .collect();
        let width = fields.iter().map(String::len).max().unwrap_or_default();
        let mut text = format!("  // {}\n  entity {} = {{\n", self.doc, self.name);
        for (spec, field) in self.facts.iter().zip(fields) {
            let line = if spec.doc.is_empty() { field } else { format!("{field:width$} // {}", spec.doc) };
            // Writing to a text cannot fail.
            let _ = writeln!(text, "    {line}");
        }
        text + "  };\n\n"
    }

    /// The list of a test file that holds such things.
    pub const fn list(&self) -> Option<&'static str> {
        match self.staged {
            Staged::Rows { list, .. } | Staged::Open { list, .. } => Some(list),
            Staged::Directory | Staged::Made(_) => None,
        }
    }

    /// What the company that a comparison of policies makes up has of it.
    pub(crate) fn samples(&self, cast: &Cast<'_>) -> Vec<Sample> {
        match self.staged {
            Staged::Rows { samples, .. } => samples(cast),
            Staged::Directory | Staged::Made(_) | Staged::Open { .. } => Vec::new(),
        }
    }

    /// Reads a thing from a row of a test file, as far as the row states it and no company is needed.
    pub(crate) fn read(&self, row: &Row) -> Result<Thing, String> {
        let stated = || self.facts.iter().filter(|spec| !spec.derived);
        let is_open = matches!(self.staged, Staged::Open { .. });
        let unknown = row.fields.keys().find(|field| stated().all(|spec| spec.name != *field));
        if let Some(unknown) = unknown.filter(|_| !is_open) {
            let names: Vec<&str> = ["id"].into_iter().chain(stated().map(|spec| spec.name)).collect();
            return Err(format!("there is no field `{unknown}`; there are {}", names.join(", ")));
        }
        stated().try_fold(Thing::new(self.name, &row.id), |thing, spec| {
            let fact = spec.of_row(row.fields.get(spec.name))?;
            Ok(fact.into_iter().fold(thing, |thing, fact| thing.with(spec.name, fact)))
        })
    }

    /// The thing of an id in the company of a test, or what is wrong with its row.
    pub fn stage(&self, id: &str, rows: &[Row], directory: &dyn Directory) -> Option<Result<Thing, String>> {
        if let Staged::Made(make) = self.staged {
            return make(id, directory).map(Ok);
        }
        let row = rows.iter().find(|row| Some(row.list.as_str()) == self.list() && row.id == id)?;
        Some(self.read(row).and_then(|thing| match self.staged {
            Staged::Rows { complete, .. } => Ok(complete(thing, directory)),
            Staged::Open { read, .. } => read(thing, row, directory),
            Staged::Directory | Staged::Made(_) => Ok(thing),
        }))
    }

    /// Returns the row of a test file for a thing, with everything about it that no directory states.
    pub fn row(&self, thing: &Thing) -> Option<Row> {
        let own = |name: &str| self.facts.iter().find(|spec| spec.name == name);
        let field = |(name, fact): (&str, &Fact)| {
            let said = own(name).map_or_else(|| Some(in_row(fact)), |spec| spec.said(fact));
            Some((name.to_owned(), said?))
        };
        let fields = thing.facts().filter_map(field).collect();
        self.list().map(|list| Row { list: list.to_owned(), id: thing.id.clone(), fields })
    }

    /// Whether a thing is as this declares it.
    pub(crate) fn fits(&self, thing: &Thing) -> bool {
        self.facts.iter().all(|spec| spec.fits(thing.fact(spec.name)))
    }
}

/// The name of what a target is one of.
fn name_of(target: &Target) -> &str {
    match target {
        Target::Company => COMPANY,
        Target::Actor(id) if id.is_team() => TEAM,
        Target::Actor(_) => ACTOR,
        Target::Thing(thing) => thing.kind.as_ref(),
    }
}

/// Every noun, by its name.
#[derive(Clone, Default)]
pub struct Nouns(Arc<BTreeMap<&'static str, &'static Noun>>);

impl Nouns {
    pub fn of(nouns: impl Iterator<Item = &'static Noun>) -> Nouns {
        Nouns(Arc::new(nouns.map(|noun| (noun.name, noun)).collect()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &'static Noun> {
        self.0.values().copied()
    }

    /// The noun of this name; the records of all collections are one.
    pub fn named(&self, name: &str) -> Option<&'static Noun> {
        let name = brain::collection_of(name).map_or(name, |_| RECORD);
        self.0.get(name).copied()
    }

    pub fn kind_of(&self, target: &Target) -> Option<&'static Noun> {
        self.named(name_of(target))
    }

    /// What its kind declares of a thing.
    pub(crate) fn facts(&self, thing: &Thing) -> &'static [FactSpec] {
        self.named(&thing.kind).map_or(&[], |noun| noun.facts)
    }

    /// A thing with what is worked out from the directory.
    pub(crate) fn complete(&self, thing: Thing, company: &dyn Directory) -> Thing {
        match self.named(&thing.kind).map(|noun| noun.staged) {
            Some(Staged::Rows { complete, .. }) => complete(thing, company),
            _ => thing,
        }
    }

    /// The operation that must be allowed for the target to exist as far as the caller can tell. What is only to be made hides
    /// nothing.
    pub fn sight(&self, target: &Target) -> Option<&'static str> {
        self.kind_of(target)?.sight.filter(|_| !matches!(target, Target::Thing(thing) if thing.id == NEW))
    }
}
