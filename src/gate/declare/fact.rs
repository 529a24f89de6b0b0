//! The facts of a thing that policies may look at: each fact's name, its Cedar type, and how a row of a policy test
//! states it.

use serde_json::{Value, json};

use crate::declare::target::Fact;
use types::decimal::shown_decimal;
use types::id::ActorId;

/// What of a thing policies may look at.
#[derive(Clone, Copy)]
pub struct FactSpec {
    pub name: &'static str,
    pub(crate) doc: &'static str,
    form: Form,
    /// Whether a thing may lack it.
    pub(crate) optional: bool,
    /// It is worked out from the directory: no row of a test says it.
    pub(crate) derived: bool,
    words: Option<Words>,
    /// How much of those whom it names a policy can look at.
    pub(crate) far: Far,
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

    /// Lets policies look at the actors that the fact names, but not at what those refer to.
    pub const fn linked(self) -> FactSpec {
        FactSpec { far: Far::Link, ..self }
    }

    /// It is worked out from the directory.
    pub const fn derived(self) -> FactSpec {
        FactSpec { derived: true, ..self }
    }

    /// Makes the fact one of a fixed set of texts. `usual` applies unless a row states another.
    pub const fn one_of(self, usual: &'static str, all: fn() -> Vec<&'static str>) -> FactSpec {
        FactSpec { words: Some(Words { usual, all }), ..self }
    }

    /// The texts that it can be, where there are no others.
    pub(crate) fn words(&self) -> Vec<&'static str> {
        self.words.map(|words| (words.all)()).unwrap_or_default()
    }

    /// Describes how a row of a test file states the fact: which values it takes, and the default. None if no row can
    /// state it.
    pub fn in_rows(&self) -> Option<String> {
        let holds = match (self.form, self.words) {
            (Form::Text, Some(words)) => {
                format!("one of `{}`; default `{}`", (words.all)().join("`, `"), words.usual)
            }
            (Form::Text, None) => "a text".to_owned(),
            (Form::Actor, _) => "an actor".to_owned(),
            (Form::Team, _) => "a team".to_owned(),
            (Form::Actors, _) => "a list of actors; default empty".to_owned(),
            (Form::Flag, _) => "`true` or `false`; default `false`".to_owned(),
            (Form::Number, _) => "a number; default 0".to_owned(),
        };
        let needed = matches!((self.form, self.words), (Form::Actor | Form::Team | Form::Text, None)) && !self.optional;
        let doc = if self.doc.is_empty() || self.words.is_some() { String::new() } else { format!(": {}", self.doc) };
        (!self.derived).then(|| format!("{holds}{}{doc}", if needed { ", required" } else { "" }))
    }

    pub(crate) const fn is_optional(&self) -> bool {
        self.optional
    }

    /// What a thing has for it that is not there.
    pub(crate) fn blank(&self) -> Option<Fact> {
        (!self.optional).then(|| match self.form {
            Form::Actor | Form::Team => Fact::Actor(ActorId::system()),
            Form::Actors => Fact::Actors(Vec::new()),
            Form::Text => Fact::Text(String::new()),
            Form::Flag => Fact::Flag(false),
            Form::Number => Fact::Number(0),
        })
    }

    pub(crate) const fn cedar_type(&self) -> &'static str {
        match self.form {
            Form::Actor => "Actor",
            Form::Team => "Team",
            Form::Actors => "Set<Actor>",
            Form::Text => "String",
            Form::Flag => "Bool",
            Form::Number => "Long",
        }
    }

    /// Returns the fact from a row's value, or the default if the row states none.
    pub(crate) fn of_row(&self, value: Option<&Value>) -> Result<Option<Fact>, String> {
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

    /// Returns the fact as a row states it. None if it is derived or equals the default.
    pub(crate) fn said(&self, fact: &Fact) -> Option<Value> {
        let usual = self.words.is_some_and(|words| *fact == Fact::Text(words.usual.to_owned()));
        let blank = !matches!(self.form, Form::Actor | Form::Team | Form::Text) && self.blank().as_ref() == Some(fact);
        (!self.derived && !usual && !blank).then(|| in_row(fact))
    }

    /// Whether a fact is what this declares.
    pub(crate) fn fits(&self, fact: Option<&Fact>) -> bool {
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

/// A fact as a row says it.
pub(crate) fn in_row(fact: &Fact) -> Value {
    match fact {
        Fact::Actor(id) => json!(id),
        Fact::Actors(ids) => json!(ids),
        Fact::Text(text) => json!(text),
        Fact::Flag(flag) => json!(flag),
        Fact::Number(number) => json!(number),
        Fact::Texts(texts) => json!(texts),
        Fact::Decimal(number) => json!(shown_decimal(*number, 1)),
        Fact::Time(at) => json!(at),
    }
}
