//! What an answer may name. Every answer of an operation passes through here before it leaves the gate: an actor or a
//! team that the reader may not see is left out of lists, becomes `null` in a field that may be empty, and `hidden`
//! elsewhere.
//!
//! Always true: where an answer contains actors is derived from its declared type, so a new field of the type
//! [`ActorId`] is veiled automatically. A field of another type that may name an actor must be declared:
//! `#[schemars(extend("x-names" = "reference"))]` for an id, `"text"` for a sentence of ours, `"json"` for any JSON,
//! `"values"` if each text in it may be an id, and `"record"` for a record of the collection that the field
//! `collection` names; a record that the reader may not see is hidden, too. What people wrote themselves is shown as
//! they wrote it; within a sentence of ours it stands between marks ([`quoted`]).

use std::collections::BTreeMap;

use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::declare::json::{choices, is_null, is_only_null};
use crate::reader::Reader;
use store::event::EventKind;
use types::actor::KillScope;
use types::id::ActorId;
use types::known::Known;
use types::quoted;

/// Replaces an actor or a team that the reader may not see.
pub const HIDDEN: &str = "hidden";
/// The declaration of a field that may name somebody.
const NAMES: &str = "x-names";
/// Deeper answers there are none.
const DEEPEST: usize = 24;
/// What a field of free JSON is called that holds an actor or a team.
const FIELDS: [&str; 12] =
    ["actor", "author", "for", "holder", "id", "lead", "owner", "subject", "successor", "target", "team", "to"];

/// Where a value may name actors.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Veil {
    #[default]
    Nothing,
    /// An id that may be an actor's.
    Id,
    /// The same, where it may be empty.
    Maybe,
    /// A sentence.
    Text,
    /// Whatever it is.
    Json,
    /// A record, of the collection beside it.
    Record,
    /// Whatever it is, with ids anywhere: a filter names people by fields of a company's own.
    Values,
    List(Box<Veil>),
    /// A map by names.
    Map(Box<Veil>),
    Fields(BTreeMap<String, Veil>),
    /// By its field `type`.
    Tagged(BTreeMap<String, Veil>),
}

type Schema = fn(&mut SchemaGenerator) -> schemars::Schema;

/// The veil of an operation's answer. Each is worked out once.
pub(crate) fn of_answer(operation: &'static str, schema: Schema) -> &'static Veil {
    kept(("answer", operation), || inline(schema))
}

/// The veil of an operation's input, where others are shown it.
pub(crate) fn of_input(operation: &'static str, schema: impl FnOnce() -> Value) -> &'static Veil {
    kept(("input", operation), schema)
}

/// The veil of an event.
pub fn of_event() -> &'static Veil {
    kept(("event", ""), || json!({ "oneOf": EventKind::all().map(of_kind).collect::<Vec<_>>() }))
}

/// The schema of one type of event, told apart by its `type`.
fn of_kind(kind: EventKind) -> Value {
    let mut schema = inline(kind.schema);
    if let Some(fields) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        fields.insert("type".into(), json!({ "const": kind.name }));
    }
    schema
}

fn kept(what: (&'static str, &'static str), schema: impl FnOnce() -> Value) -> &'static Veil {
    static KNOWN: Known<(&str, &str), Veil> = Known::new();
    KNOWN.get(what, || within(&schema(), 0))
}

fn inline(schema: Schema) -> Value {
    let settings = SchemaSettings::draft2020_12().for_serialize().with(|settings| settings.inline_subschemas = true);
    schema(&mut settings.into_generator()).to_value()
}

/// The veil of a type.
fn within(schema: &Value, depth: usize) -> Veil {
    if depth > DEEPEST {
        return Veil::Nothing;
    }
    if let Some(declared) = declared(schema) {
        return declared;
    }
    let variants = choices(schema);
    if let Some(tagged) = tagged(&variants, depth) {
        return tagged;
    }
    let items = schema.get("items").map(|items| list(within(items, depth + 1), Veil::List));
    let values = schema.get("additionalProperties").map(|values| list(within(values, depth + 1), Veil::Map));
    let whole = variants.into_iter().chain(all_of(schema)).map(|choice| within(choice, depth + 1));
    let veil = whole.chain(items).chain(values).fold(fields(schema, depth), Veil::or);
    if veil == Veil::Id && is_null(schema) { Veil::Maybe } else { veil }
}

/// What a type says of itself, or is known for.
fn declared(schema: &Value) -> Option<Veil> {
    let is_nullable = || is_null(schema) && !is_only_null(schema);
    let id = || if is_nullable() { Veil::Maybe } else { Veil::Id };
    let veil = match schema.get(NAMES).and_then(Value::as_str)? {
        "reference" => id(),
        "text" => Veil::Text,
        "record" => Veil::Record,
        "values" => Veil::Values,
        _ => Veil::Json,
    };
    let is_list = schema.get("type").is_some_and(|kind| kind == "array");
    Some(if is_list { Veil::List(Box::new(veil)) } else { veil })
}

/// One of several, told apart by the constant in their field `type`.
fn tagged(variants: &[&Value], depth: usize) -> Option<Veil> {
    let tag = |variant: &&Value| Some(variant.pointer("/properties/type/const")?.as_str()?.to_owned());
    let of = |variant: &&Value| Some((tag(variant)?, within(variant, depth + 1)));
    let by_tag: Option<BTreeMap<String, Veil>> = variants.iter().map(of).collect();
    by_tag.filter(|by_tag| !by_tag.is_empty()).map(Veil::Tagged)
}

fn fields(schema: &Value, depth: usize) -> Veil {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let veiled = properties.map(|(name, field)| (name.clone(), within(field, depth + 1)));
    let fields: BTreeMap<String, Veil> = veiled.filter(|(_, veil)| *veil != Veil::Nothing).collect();
    if fields.is_empty() { Veil::Nothing } else { Veil::Fields(fields) }
}

fn all_of(schema: &Value) -> impl Iterator<Item = &Value> {
    schema.get("allOf").and_then(Value::as_array).into_iter().flatten()
}

fn list(veil: Veil, wrapped: fn(Box<Veil>) -> Veil) -> Veil {
    if veil == Veil::Nothing { veil } else { wrapped(Box::new(veil)) }
}

impl Veil {
    pub fn is_needed(&self) -> bool {
        *self != Veil::Nothing
    }

    /// Whether a record may stand in it.
    fn names_records(&self) -> bool {
        match self {
            Veil::Record => true,
            Veil::List(each) | Veil::Map(each) => each.names_records(),
            Veil::Fields(fields) | Veil::Tagged(fields) => fields.values().any(Veil::names_records),
            Veil::Nothing | Veil::Id | Veil::Maybe | Veil::Text | Veil::Json | Veil::Values => false,
        }
    }

    /// Hides the texts where records may stand, of what has not the form that it should have; they are added to `hidden`.
    pub fn hide_links(&self, value: &mut Value, hidden: &mut Vec<String>) {
        let (Veil::Fields(fields), Value::Object(values)) = (self, value) else { return };
        let is_link = fields.values().any(|veil| *veil == Veil::Record);
        for (name, value) in values {
            let beside = is_link && LINK.contains(&name.as_str());
            if beside || fields.get(name).is_some_and(Veil::names_records) {
                hide_texts(value, hidden);
            }
        }
    }

    /// What either could be.
    fn or(self, other: Veil) -> Veil {
        match (self, other) {
            (Veil::Nothing, veil) | (veil, Veil::Nothing) => veil,
            (Veil::Fields(mut fields), Veil::Fields(more)) => {
                for (name, veil) in more {
                    let before = fields.remove(&name).unwrap_or_default();
                    fields.insert(name, before.or(veil));
                }
                Veil::Fields(fields)
            }
            (one, _) => one,
        }
    }

    /// Removes from a text that somebody wrote every actor that the reader does not see, whether or not the actor
    /// exists: a difference would reveal which do.
    pub fn apply_to_written(&self, value: &mut Value, read: &Reader<'_>) {
        let scope = |text: &str| text.parse::<KillScope>().is_ok_and(|scope| scope == KillScope::Global);
        let is_unseen =
            |text: &str| named(text).is_some_and(|id| !scope(text) && (read.card(&id).is_none() || !read.may_see(&id)));
        match (self, value) {
            (Veil::Id | Veil::Maybe, Value::String(text)) if is_unseen(text) => *text = HIDDEN.to_owned(),
            (Veil::List(each), Value::Array(items)) => {
                items.iter_mut().for_each(|item| each.apply_to_written(item, read));
            }
            (Veil::Map(each), Value::Object(values)) => {
                values.values_mut().for_each(|value| each.apply_to_written(value, read));
            }
            (Veil::Fields(fields), Value::Object(values)) => {
                links(fields, values, read);
                for (name, veil) in fields {
                    values.get_mut(name).into_iter().for_each(|value| veil.apply_to_written(value, read));
                }
            }
            (veil, value) => veil.apply(value, read),
        }
    }

    /// Takes out of a value whom the reader may not see.
    pub fn apply(&self, value: &mut Value, read: &Reader<'_>) {
        match (self, value) {
            (Veil::Id, Value::String(text)) if read.hides(text) => *text = HIDDEN.to_owned(),
            (Veil::Maybe, value) if value.as_str().is_some_and(|text| read.hides(text)) => *value = Value::Null,
            (Veil::Text, Value::String(sentence)) => *sentence = text(sentence, read),
            (Veil::Json, value) => json(value, false, read),
            (Veil::Values, value) => json(value, true, read),
            (Veil::List(each), Value::Array(items)) => {
                if matches!(**each, Veil::Id | Veil::Maybe) {
                    items.retain(|item| !item.as_str().is_some_and(|text| read.hides(text)));
                }
                items.iter_mut().for_each(|item| each.apply(item, read));
            }
            (Veil::Map(each), Value::Object(values)) => values.values_mut().for_each(|value| each.apply(value, read)),
            (Veil::Fields(fields), Value::Object(values)) => under(fields, values, read),
            // A list of what may come alone, too.
            (Veil::Fields(_), Value::Array(items)) => items.iter_mut().for_each(|item| self.apply(item, read)),
            (Veil::Tagged(variants), value) => {
                let tag = value.get("type").and_then(Value::as_str);
                if let Some(veil) = tag.and_then(|tag| variants.get(tag)) {
                    veil.apply(value, read);
                }
            }
            _ => {}
        }
    }
}

/// What stands beside a record.
const LINK: [&str; 2] = ["collection", "note"];

/// Hides all texts of a value; they are added to `hidden`.
pub fn hide_texts(value: &mut Value, hidden: &mut Vec<String>) {
    match value {
        Value::String(text) => hidden.push(std::mem::replace(text, HIDDEN.to_owned())),
        Value::Array(items) => items.iter_mut().for_each(|item| hide_texts(item, hidden)),
        Value::Object(values) => values.values_mut().for_each(|value| hide_texts(value, hidden)),
        _ => {}
    }
}

/// Whose id is hidden, of them nothing else is told that says who they are.
const TELLS: [&str; 2] = ["definition", "name"];

fn under(fields: &BTreeMap<String, Veil>, values: &mut Map<String, Value>, read: &Reader<'_>) {
    let is_somebody = matches!(fields.get("id"), Some(Veil::Id));
    if is_somebody && values.get("id").and_then(Value::as_str).is_some_and(|id| read.hides(id)) {
        for (_, value) in values.iter_mut().filter(|(name, _)| TELLS.contains(&name.as_str())) {
            *value = Value::String(HIDDEN.to_owned());
        }
    }
    links(fields, values, read);
    for (name, veil) in fields {
        if let Some(value) = values.get_mut(name) {
            veil.apply(value, read);
        }
    }
}

/// Takes out a record that the reader may not see, with what is noted of it.
fn links(fields: &BTreeMap<String, Veil>, values: &mut Map<String, Value>, read: &Reader<'_>) {
    for (name, _) in fields.iter().filter(|(_, veil)| **veil == Veil::Record) {
        let text = |name: &str| values.get(name).and_then(Value::as_str).map(str::to_owned);
        let (Some(collection), Some(thing)) = (text("collection"), text(name)) else { continue };
        // Where it cannot be told, it is hidden.
        let (of, shown) = read.shown_link((&collection, &thing)).unwrap_or((HIDDEN, HIDDEN));
        if shown != thing {
            values.insert("collection".into(), of.into());
            values.insert(name.clone(), shown.into());
            if let Some(Value::String(note)) = values.get_mut("note").filter(|note| **note != "") {
                *note = HIDDEN.to_owned();
            }
        }
    }
}

/// Free JSON: what fields are called tells which of them name somebody.
fn json(value: &mut Value, is_named: bool, read: &Reader<'_>) {
    match value {
        Value::String(text) if is_named && read.hides(text) => *text = HIDDEN.to_owned(),
        Value::Array(items) => items.iter_mut().for_each(|item| json(item, is_named, read)),
        Value::Object(values) => {
            for (name, value) in values {
                json(value, is_named || FIELDS.contains(&name.as_str()), read);
            }
        }
        _ => {}
    }
}

/// Returns a sentence in which actors that the reader may not see are replaced; what people wrote stays as it is.
pub(crate) fn text(sentence: &str, read: &Reader<'_>) -> String {
    quoted::with_ours(sentence, |ours| words(ours, read))
}

fn words(sentence: &str, read: &Reader<'_>) -> String {
    let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-' | ':');
    let mut shown = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some(begin) = rest.find(is_part) {
        let (between, word) = rest.split_at(begin);
        let (word, after) = word.split_at(word.find(|c| !is_part(c)).unwrap_or(word.len()));
        // A full stop or a colon may belong to the sentence.
        let bare = word.trim_end_matches(['.', ':', '-']);
        shown.push_str(between);
        match [word, bare].into_iter().find(|name| read.hides(name)) {
            Some(name) => {
                shown.push_str(HIDDEN);
                shown.push_str(word.get(name.len()..).unwrap_or_default());
            }
            None => shown.push_str(word),
        }
        rest = after;
    }
    shown + rest
}

/// The actor or team that a text names: by its id, or by its kill switch.
pub(crate) fn named(text: &str) -> Option<ActorId> {
    text.strip_prefix("actor:").unwrap_or(text).parse().ok()
}
