//! The nouns that operations can be about. Each is declared once, beside its operations: its Cedar type, what of a thing
//! policies may look at, which read must be allowed before anything else is asked, how a thing is found, and what of it an
//! approval is bound to. Everything here walks over those declarations.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::sync::Arc;

use serde_json::{Value, json};

use super::operation::Entry;
use super::reader::Reader;
use super::world::Card;
use crate::policy::testing::Row;
use crate::types::delegation::Terms;
use crate::types::id::ActorId;
use crate::types::refusal::{Fault, Stop};
use crate::types::target::{Fact, Target, Thing};

/// The Cedar types of what is no [`Thing`]: the company itself, and its directory.
pub const COMPANY: &str = "Company";
const ACTOR: &str = "Actor";
const TEAM: &str = "Team";

/// A noun.
pub struct Resource {
    /// Its Cedar type in the namespace `Ok`.
    pub name: &'static str,
    /// A sentence for the schema.
    pub doc: &'static str,
    /// The operation that must be allowed for a thing to exist as far as the caller can tell; none where that is no secret.
    pub sight: Option<&'static str>,
    /// The fact that says whose a thing is, where a token that is limited to some scopes reaches its holder's own alone.
    pub own: Option<&'static str>,
    pub facts: &'static [FactSpec],
    pub staged: Staged,
    /// The thing of this id, as of the reader's time.
    pub find: fn(&str, &Reader<'_>) -> Result<Option<Target>, Stop>,
    /// How a thing stands that a call is about: what an approval is bound to.
    pub state: fn(&Target, &Reader<'_>) -> Result<Value, Fault>,
}

impl PartialEq for Resource {
    fn eq(&self, other: &Resource) -> bool {
        self.name == other.name
    }
}

impl fmt::Debug for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// How a thing comes into the small company of a policy test.
#[derive(Clone, Copy)]
pub enum Staged {
    /// It is the company, or in its directory.
    Directory,
    /// It is there because of what else is: a kill switch, or a delegation.
    Made(fn(&str, &dyn Directory) -> Option<Thing>),
    /// It is a row of this list; `facts` that are worked out from the directory are added to it.
    Rows { list: &'static str, complete: fn(Thing, &dyn Directory) -> Thing },
}

/// The company that a thing is in, as far as its facts depend on it.
pub trait Directory {
    fn card(&self, id: &ActorId) -> Option<&Card>;
    /// The delegations that can be acted under.
    fn terms(&self, id: &str) -> Option<&Terms>;
    /// Whether a kill switch stops an actor, or its team.
    fn is_stopped(&self, id: &ActorId) -> bool;
}

/// What of a thing policies may look at.
#[derive(Clone, Copy)]
pub struct FactSpec {
    pub name: &'static str,
    doc: &'static str,
    form: Form,
    /// Whether a thing may lack it.
    optional: bool,
    /// It is worked out from the directory: no row of a test says it.
    derived: bool,
    words: Option<Words>,
    /// How much of those whom it names a policy can look at.
    pub(super) far: Far,
}

/// What a text can be.
#[derive(Clone, Copy)]
struct Words {
    /// What it is unless a row says another.
    usual: &'static str,
    all: fn() -> Vec<&'static str>,
}

#[derive(Clone, Copy)]
enum Form {
    Actor,
    Team,
    Actors,
    Text,
    Flag,
    Number,
}

/// How far somebody is from the two ends of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Far {
    /// One of the ends: everything about them, and about those whom they hang on.
    End,
    /// Everything about them.
    Link,
    /// Only that they are who they are.
    Beyond,
}

impl FactSpec {
    const fn new(name: &'static str, doc: &'static str, form: Form, far: Far) -> FactSpec {
        FactSpec { name, doc, form, optional: false, derived: false, words: None, far }
    }

    /// A person or an agent: a policy can look at them, and at whom they hang on.
    pub const fn actor(name: &'static str, doc: &'static str) -> FactSpec {
        FactSpec::new(name, doc, Form::Actor, Far::End)
    }

    pub const fn team(name: &'static str, doc: &'static str) -> FactSpec {
        FactSpec::new(name, doc, Form::Team, Far::End)
    }

    /// People and agents: a policy can look whether somebody is among them.
    pub const fn actors(name: &'static str, doc: &'static str) -> FactSpec {
        FactSpec::new(name, doc, Form::Actors, Far::Beyond)
    }

    pub const fn text(name: &'static str, doc: &'static str) -> FactSpec {
        FactSpec::new(name, doc, Form::Text, Far::End)
    }

    pub const fn flag(name: &'static str, doc: &'static str) -> FactSpec {
        FactSpec::new(name, doc, Form::Flag, Far::End)
    }

    pub const fn number(name: &'static str, doc: &'static str) -> FactSpec {
        FactSpec::new(name, doc, Form::Number, Far::End)
    }

    /// A thing may lack it.
    pub const fn optional(self) -> FactSpec {
        FactSpec { optional: true, ..self }
    }

    /// A policy can look at those whom it names, not at whom they hang on.
    pub const fn linked(self) -> FactSpec {
        FactSpec { far: Far::Link, ..self }
    }

    /// It is worked out from the directory.
    pub const fn derived(self) -> FactSpec {
        FactSpec { derived: true, ..self }
    }

    /// A text that is one of some: the first of these unless a row says another.
    pub const fn one_of(self, usual: &'static str, all: fn() -> Vec<&'static str>) -> FactSpec {
        FactSpec { words: Some(Words { usual, all }), ..self }
    }

    pub(super) const fn is_optional(&self) -> bool {
        self.optional
    }

    /// What a thing has for it that is not there.
    fn blank(&self) -> Option<Fact> {
        (!self.optional).then(|| match self.form {
            Form::Actor | Form::Team => Fact::Actor(ActorId::system()),
            Form::Actors => Fact::Actors(Vec::new()),
            Form::Text => Fact::Text(String::new()),
            Form::Flag => Fact::Flag(false),
            Form::Number => Fact::Number(0),
        })
    }

    const fn cedar_type(&self) -> &'static str {
        match self.form {
            Form::Actor => "Actor",
            Form::Team => "Team",
            Form::Actors => "Set<Actor>",
            Form::Text => "String",
            Form::Flag => "Bool",
            Form::Number => "Long",
        }
    }

    /// What a row says of it, or what is so unless it does.
    fn of_row(&self, value: Option<&Value>) -> Result<Option<Fact>, String> {
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return match (self.form, self.words) {
                (Form::Text, Some(words)) => Ok(Some(Fact::Text(words.usual.to_owned()))),
                (Form::Actor | Form::Team | Form::Text, _) if !self.optional => Err(format!("lacks `{}`", self.name)),
                _ => Ok(self.blank()),
            };
        };
        let wrong = |what: &str| format!("`{}` must be {what}", self.name);
        let actor = |value: &Value| value.as_str().and_then(|id| id.parse::<ActorId>().ok());
        Ok(Some(match self.form {
            Form::Actor | Form::Team => Fact::Actor(actor(value).ok_or_else(|| wrong("an actor's id"))?),
            Form::Actors => {
                let ids = value.as_array().and_then(|ids| ids.iter().map(actor).collect());
                Fact::Actors(ids.ok_or_else(|| wrong("a list of actors' ids"))?)
            }
            Form::Flag => Fact::Flag(value.as_bool().ok_or_else(|| wrong("true or false"))?),
            Form::Number => Fact::Number(
                value.as_u64().and_then(|n| u32::try_from(n).ok()).ok_or_else(|| wrong("a whole number"))?.into(),
            ),
            Form::Text => {
                let text = value.as_str().ok_or_else(|| wrong("a text"))?;
                let all = self.words.map(|words| (words.all)()).filter(|all| !all.contains(&text));
                all.map_or(Ok(()), |all| Err(wrong(&format!("one of {}", all.join(", ")))))?;
                Fact::Text(text.to_owned())
            }
        }))
    }

    /// The fact as a row says it; nothing where it says what is so anyway.
    fn said(&self, fact: &Fact) -> Option<Value> {
        let usual = self.words.is_some_and(|words| *fact == Fact::Text(words.usual.to_owned()));
        let blank = !matches!(self.form, Form::Actor | Form::Team | Form::Text) && self.blank().as_ref() == Some(fact);
        (!self.derived && !usual && !blank).then(|| match fact {
            Fact::Actor(id) => json!(id),
            Fact::Actors(ids) => json!(ids),
            Fact::Text(text) => json!(text),
            Fact::Flag(flag) => json!(flag),
            Fact::Number(number) => json!(number),
        })
    }

    /// Whether a fact is what this declares.
    fn fits(&self, fact: Option<&Fact>) -> bool {
        match (self.form, fact) {
            (_, None) => self.optional,
            (Form::Actor | Form::Team, Some(Fact::Actor(_)))
            | (Form::Actors, Some(Fact::Actors(_)))
            | (Form::Text, Some(Fact::Text(_)))
            | (Form::Flag, Some(Fact::Flag(_)))
            | (Form::Number, Some(Fact::Number(_))) => true,
            (_, Some(_)) => false,
        }
    }
}

impl Resource {
    pub const fn is_company(&self) -> bool {
        matches!(self.name.as_bytes(), b"Company")
    }

    /// Whether a target is one of these.
    pub fn has(&self, target: &Target) -> bool {
        self.name == name_of(target)
    }

    /// Whether the schema's first part declares it: the company and its directory.
    pub(super) const fn is_core(&self) -> bool {
        matches!(self.staged, Staged::Directory)
    }

    /// A thing of this kind where there is none: what is absent is asked about as what is hidden, so that an answer takes as
    /// much to either.
    pub(super) fn absent(&self) -> Target {
        match self.name {
            COMPANY => Target::Company,
            ACTOR | TEAM => Target::Actor(ActorId::system()),
            name => {
                let facts = self.facts.iter().filter_map(|spec| Some((spec.name, spec.blank()?)));
                Target::Thing(facts.fold(Thing::new(name, "absent"), |thing, (name, fact)| thing.with(name, fact)))
            }
        }
    }

    /// Its entity type in Cedar's schema language.
    pub(super) fn schema(&self) -> String {
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
    pub(super) const fn list(&self) -> Option<&'static str> {
        match self.staged {
            Staged::Rows { list, .. } => Some(list),
            Staged::Directory | Staged::Made(_) => None,
        }
    }

    /// What a row of a test file is, as far as it says it; what is worked out is not in it yet.
    pub(super) fn read(&self, row: &Row) -> Result<Thing, String> {
        let told = || self.facts.iter().filter(|spec| !spec.derived);
        if let Some(unknown) = row.fields.keys().find(|field| told().all(|spec| spec.name != *field)) {
            let names: Vec<&str> = ["id"].into_iter().chain(told().map(|spec| spec.name)).collect();
            return Err(format!("there is no field `{unknown}`; there are {}", names.join(", ")));
        }
        told().try_fold(Thing::new(self.name, &row.id), |thing, spec| {
            let fact = spec.of_row(row.fields.get(spec.name))?;
            Ok(fact.into_iter().fold(thing, |thing, fact| thing.with(spec.name, fact)))
        })
    }

    /// The thing of an id in the company of a test.
    pub(super) fn stage(&self, id: &str, rows: &[Row], directory: &dyn Directory) -> Option<Thing> {
        match self.staged {
            Staged::Directory => None,
            Staged::Made(make) => make(id, directory),
            Staged::Rows { list, complete } => {
                let row = rows.iter().find(|row| row.list == list && row.id == id)?;
                Some(complete(self.read(row).ok()?, directory))
            }
        }
    }

    /// The row of a test file that says of a thing what no directory does.
    pub fn row(&self, thing: &Thing) -> Option<Row> {
        let told = |spec: &FactSpec| Some((spec.name.to_owned(), spec.said(thing.fact(spec.name)?)?));
        let fields = self.facts.iter().filter_map(told).collect();
        self.list().map(|list| Row { list: list.to_owned(), id: thing.id.clone(), fields })
    }

    /// Whether a thing is as this declares it.
    pub(super) fn fits(&self, thing: &Thing) -> bool {
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

/// What an operation is about, where there is none.
pub(super) fn absent(about: &[&'static Resource]) -> Target {
    about.iter().find(|noun| !noun.is_company()).map_or(Target::Company, |noun| noun.absent())
}

/// Every noun, by its name.
#[derive(Clone, Default)]
pub struct Resources(Arc<BTreeMap<&'static str, &'static Resource>>);

impl Resources {
    /// Those that operations are about.
    pub fn of(entries: &[Entry]) -> Resources {
        Resources(Arc::new(entries.iter().flat_map(|entry| entry.spec.about).map(|noun| (noun.name, *noun)).collect()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &'static Resource> {
        self.0.values().copied()
    }

    pub fn named(&self, name: &str) -> Option<&'static Resource> {
        self.0.get(name).copied()
    }

    pub fn kind_of(&self, target: &Target) -> Option<&'static Resource> {
        self.named(name_of(target))
    }

    /// What its kind declares of a thing.
    pub(super) fn facts(&self, thing: &Thing) -> &'static [FactSpec] {
        self.named(&thing.kind).map_or(&[], |noun| noun.facts)
    }

    /// A thing with what is worked out from the directory.
    pub(super) fn complete(&self, thing: Thing, company: &dyn Directory) -> Thing {
        match self.named(&thing.kind).map(|noun| noun.staged) {
            Some(Staged::Rows { complete, .. }) => complete(thing, company),
            _ => thing,
        }
    }

    /// The operation that must be allowed for the target to exist as far as the caller can tell.
    pub(super) fn sight(&self, target: &Target) -> Option<&'static str> {
        self.kind_of(target)?.sight
    }
}
