//! An operation's input as policies, the log and approvers see it, typed from its declaration: the type of
//! `context.input`, which parts the log keeps, and which parts can be erased.
//!
//! Always true: what has no Cedar type (free JSON, maps, unions, decimals) is left out and reported with the reason, or
//! only its presence is visible; the contents of a field that is declared erasable never reach a permanent record.

use serde_json::{Map, Value};

use crate::declare::json::{choices, is_marked, is_null, is_only_null, names, properties, types};
use crate::declare::operation::Entry;
use crate::declare::route::Method;
use crate::declare::spec::Effect;
use types::known::Known;

/// A field that is declared erasable: `#[schemars(extend("x-erasable" = true))]`. It is personal, and what it says limits
/// nothing that the operation does.
const ERASABLE: &str = "x-erasable";
/// A field that names what the operation makes: `#[schemars(extend("x-new" = true))]`. The next call has another.
const NEW: &str = "x-new";
/// A field that becomes another field of what the call is about: `#[schemars(extend("x-sets" = "owner"))]`. Of PATCH and PUT
/// every field becomes the one of its name.
const SETS: &str = "x-sets";
/// A flag that empties another field of it: `#[schemars(extend("x-empties" = "team"))]`.
const EMPTIES: &str = "x-empties";
/// A field of which policies see only whether it is given: `#[schemars(extend("x-presence" = true))]`. What it holds has no Cedar
/// type.
const PRESENCE: &str = "x-presence";
/// Texts that may be longer are given by their length.
const LONG: u64 = 1_024;
/// The most bytes of an input that are kept with the question: a larger one cannot be asked again.
const KEPT: usize = 16 << 10;

/// What an operation is given.
#[derive(Debug)]
pub struct Arguments {
    pub fields: Vec<Field>,
    /// What policies do not see, and why.
    pub left_out: Vec<(String, &'static str)>,
    /// What of that can be erased all the same.
    apart: Vec<String>,
    /// Which fields become which of what the call is about.
    pub sets: Vec<Sets>,
}

/// A field of the input that becomes a field of what the call is about.
#[derive(Debug)]
pub struct Sets {
    pub name: String,
    pub field: String,
    /// `true` empties it.
    empties: bool,
    /// What it is where it is not given and all is replaced.
    default: Value,
}

impl Sets {
    /// Returns the value that the field gets from these arguments. None if it stays as it is.
    pub fn value(&self, args: &Value, replaces: bool) -> Option<Value> {
        match args.get(&self.name) {
            Some(given) if self.empties => (given == true).then_some(Value::Null),
            Some(given) => Some(given.clone()),
            None => replaces.then(|| self.default.clone()),
        }
    }
}

#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub shape: Shape,
    /// The only texts that it can be, or hold; nothing where it can be any.
    pub choices: Vec<String>,
    pub is_required: bool,
    pub is_erasable: bool,
    pub is_new: bool,
}

/// A type that Cedar knows.
#[derive(Debug)]
pub enum Shape {
    Bool,
    Long,
    Text,
    /// A text, by its length alone.
    Length,
    Set(Box<Shape>),
    Record(Vec<Field>),
    /// Anything: only whether it is given is seen, as an empty record.
    Presence,
}

impl Entry {
    /// What it is given. Worked out once for each operation.
    pub fn arguments(&self) -> &'static Arguments {
        static KNOWN: Known<&str, Arguments> = Known::new();
        KNOWN.get(self.spec.name, || Arguments::of(self))
    }
}

impl Arguments {
    fn of(entry: &Entry) -> Arguments {
        let mut arguments = Arguments { fields: Vec::new(), left_out: Vec::new(), apart: Vec::new(), sets: Vec::new() };
        let schema = entry.input_schema().to_value();
        let required = names(&schema, "required");
        for (name, field) in properties(&schema) {
            arguments.sets.extend(set_by(entry, name, field));
            let shape = if is_marked(field, PRESENCE) { Ok(Shape::Presence) } else { shape(field) };
            if is_marked(field, ERASABLE) && shape.is_err() {
                arguments.apart.push(name.clone());
            }
            match shape {
                _ if entry.spec.route.is_standard() => {
                    arguments.left_out.push((name.clone(), "it is another program's"))
                }
                Err(why) => arguments.left_out.push((name.clone(), why)),
                Ok(shape) => arguments.fields.push(Field {
                    name: name.clone(),
                    shape,
                    choices: texts_of(field),
                    // Whether a row may be seen is asked with the read's own question, and without an input.
                    is_required: entry.effect == Effect::Change && required.contains(&name.as_str()) && !is_null(field),
                    is_erasable: is_marked(field, ERASABLE),
                    is_new: is_marked(field, NEW),
                }),
            }
        }
        arguments
    }

    /// `{ id: String, role?: String }`; none where policies see nothing of it.
    pub fn cedar_type(&self) -> Option<String> {
        (!self.fields.is_empty()).then(|| record(&self.fields))
    }

    /// Returns the part of an input that the log keeps in order to ask the same question again: all that policies see
    /// and that can be kept. None if there is nothing to keep, or too much. For a presence field, absence is kept too;
    /// a record without it is older.
    pub fn kept(&self, input: &Value) -> Option<Value> {
        let given = |field: &Field| input.get(&field.name).or(field.is_presence().then_some(&Value::Null));
        let fields = self.fields.iter().filter(|field| field.is_kept());
        let kept: Map<String, Value> =
            fields.filter_map(|field| Some((field.name.clone(), seen(&field.shape, given(field)?)))).collect();
        let kept = Value::Object(kept);
        (!self.fields.is_empty() && kept.to_string().len() <= KEPT).then_some(kept)
    }

    /// The fields of an input that policies see; the others may be large.
    pub fn only(&self, mut input: Value) -> Value {
        if let Some(given) = input.as_object_mut() {
            given.retain(|name, value| {
                let field = self.fields.iter().find(|field| field.name == *name);
                if field.is_some_and(Field::is_presence) {
                    *value = seen(&Shape::Presence, value);
                }
                field.is_some()
            });
        }
        input
    }

    /// Checks an input that may omit fields. The error names the first field that policies do not see, or whose value
    /// has another type.
    pub fn check(&self, input: &Value) -> Result<(), String> {
        let given = input.as_object().ok_or("must be an object")?;
        for (name, value) in given.iter().filter(|(_, value)| !value.is_null()) {
            // Policies do not see it; what the operation is about may hang on it.
            if self.left_out.iter().any(|(out, _)| out == name) {
                continue;
            }
            let known = self.fields.iter().find(|field| field.name == *name);
            let known = known.ok_or_else(|| format!("{name}: there is no such field"))?;
            known.shape.check(value).map_err(|expected| format!("{name}: must be {expected}"))?;
            known.is_one(value).map_err(|what| format!("{name}: {what}"))?;
        }
        Ok(())
    }

    /// Returns the required fields that an input lacks, each with the type that it takes.
    pub fn missing(&self, input: &Value) -> Vec<String> {
        let given = |field: &Field| input.get(&field.name).is_some_and(|value| !value.is_null());
        let missing = self.fields.iter().filter(|field| field.is_required && !given(field));
        missing.map(|field| format!("`{}` ({})", field.name, field.takes())).collect()
    }

    /// The fields that can be erased.
    pub fn erasable(&self) -> impl Iterator<Item = &str> {
        let seen = self.fields.iter().filter(|field| field.is_erasable).map(|field| field.name.as_str());
        seen.chain(self.apart.iter().map(String::as_str))
    }

    /// Splits an input into what a permanent record holds and what can be erased.
    pub fn parted(&self, input: &Value) -> (Value, Map<String, Value>) {
        let (mut open, mut erasable) = (input.clone(), Map::new());
        if let Some(fields) = open.as_object_mut() {
            for name in self.erasable() {
                erasable
                    .extend(fields.remove(name).filter(|value| !value.is_null()).map(|value| (name.to_owned(), value)));
            }
        }
        (open, erasable)
    }
}

/// What this field of the input sets.
fn set_by(entry: &Entry, name: &str, schema: &Value) -> Option<Sets> {
    let route = &entry.spec.route;
    let is_address = route.has_in_path(name) || route.precondition.field() == Some(name);
    let of_same_name = matches!(route.method, Method::Patch | Method::Put) && !is_address;
    let empties = schema.get(EMPTIES).and_then(Value::as_str);
    let field = empties.or_else(|| schema.get(SETS).and_then(Value::as_str)).or(of_same_name.then_some(name))?;
    let default = schema.get("default").cloned().unwrap_or_default();
    Some(Sets { name: name.to_owned(), field: field.to_owned(), empties: empties.is_some(), default })
}

/// A value as it is kept: a long text by its length, and that there is one of what is only given.
fn seen(shape: &Shape, value: &Value) -> Value {
    match (shape, value) {
        (Shape::Length, Value::String(text)) => serde_json::json!({ "length": text.chars().count() }),
        (Shape::Presence, value) if !value.is_null() => Value::Object(Map::new()),
        (_, value) => value.clone(),
    }
}

fn record(fields: &[Field]) -> String {
    let field =
        |field: &Field| format!("{}{}: {}", field.name, if field.is_required { "" } else { "?" }, field.shape.cedar());
    format!("{{ {} }}", fields.iter().map(field).collect::<Vec<_>>().join(", "))
}

impl Field {
    /// Returns whether the log keeps what policies see of the field. The mere presence of a value reveals nothing of
    /// its contents.
    pub fn is_kept(&self) -> bool {
        !self.is_erasable || self.is_presence()
    }

    /// Whether policies see only whether it is given.
    pub fn is_presence(&self) -> bool {
        matches!(self.shape, Shape::Presence)
    }

    /// Whether each text is one that it takes: a question with another is never asked.
    fn is_one(&self, value: &Value) -> Result<(), String> {
        let texts =
            value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice).iter().filter_map(Value::as_str);
        match { texts }.find(|text| !self.choices.is_empty() && !self.choices.iter().any(|choice| choice == text)) {
            Some(other) => {
                let short: String = other.chars().take(64).collect();
                Err(format!("must be one of {}, and not `{}`", self.choices.join(", "), short.escape_debug()))
            }
            None => Ok(()),
        }
    }

    fn takes(&self) -> String {
        let shape = self.shape.name();
        if self.choices.is_empty() { shape.to_owned() } else { format!("{shape}: {}", self.choices.join(", ")) }
    }
}

impl Shape {
    fn name(&self) -> &'static str {
        match self {
            Shape::Bool => "true or false",
            Shape::Long => "a whole number",
            Shape::Text | Shape::Length => "a text",
            Shape::Set(_) => "a list",
            Shape::Record(_) => "an object",
            Shape::Presence => "anything",
        }
    }

    /// What a value should be, where it is not.
    fn check(&self, value: &Value) -> Result<(), String> {
        let must = |is: bool, expected: &str| if is { Ok(()) } else { Err(expected.to_owned()) };
        match self {
            Shape::Bool => must(value.is_boolean(), "true or false"),
            Shape::Long => must(value.is_i64() || value.is_u64(), "a whole number"),
            Shape::Text => must(value.is_string(), "a string"),
            Shape::Length => must(value.is_string() || value.get("length").is_some(), "a string"),
            Shape::Set(element) => {
                let items = value.as_array().ok_or("a list")?;
                items
                    .iter()
                    .try_for_each(|item| element.check(item))
                    .map_err(|expected| format!("a list of {expected}"))
            }
            Shape::Record(fields) => {
                let given = value.as_object().ok_or("an object")?;
                let wrong = given.iter().filter(|(_, value)| !value.is_null()).find_map(|(name, value)| {
                    let field = fields.iter().find(|field| field.name == *name);
                    let checked = field.map_or(Err("no such field".to_owned()), |field| field.shape.check(value));
                    checked.err().map(|expected| format!("an object whose `{name}` is {expected}"))
                });
                wrong.map_or(Ok(()), Err)
            }
            Shape::Presence => Ok(()),
        }
    }

    fn cedar(&self) -> String {
        match self {
            Shape::Bool => "Bool".into(),
            Shape::Long => "Long".into(),
            Shape::Text => "String".into(),
            Shape::Length => "{ length: Long }".into(),
            Shape::Set(element) => format!("Set<{}>", element.cedar()),
            Shape::Record(fields) => record(fields),
            Shape::Presence => "{}".into(),
        }
    }
}

fn is_text(schema: &Value) -> bool {
    types(schema) == ["string"] || schema.get("const").is_some_and(Value::is_string)
}

/// Whether a schema enumerates all texts that there can be.
fn is_closed(schema: &Value) -> bool {
    let ways: Vec<&Value> = choices(schema).into_iter().filter(|choice| !is_only_null(choice)).collect();
    let is_listed = schema.get("enum").is_some() || schema.get("const").is_some();
    is_listed || (!ways.is_empty() && ways.into_iter().all(is_closed)) || schema.get("items").is_some_and(is_closed)
}

/// The texts that a schema enumerates, where there are no others.
fn texts_of(schema: &Value) -> Vec<String> {
    if !is_closed(schema) {
        return Vec::new();
    }
    let listed = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
    let listed = listed.filter_map(Value::as_str).map(str::to_owned);
    let within = choices(schema).into_iter().chain(schema.get("items"));
    listed.chain(within.flat_map(texts_of)).collect()
}

/// The Cedar type of a JSON Schema, or why it has none.
fn shape(schema: &Value) -> Result<Shape, &'static str> {
    let choices: Vec<&Value> = choices(schema).into_iter().filter(|choice| !is_only_null(choice)).collect();
    match choices.as_slice() {
        [] => {}
        [one] => return shape(one),
        many if many.iter().all(|choice| is_text(choice)) => return Ok(Shape::Text),
        _ => return Err("it is one of several types"),
    }
    match types(schema).as_slice() {
        ["boolean"] => Ok(Shape::Bool),
        ["integer"] => Ok(Shape::Long),
        ["number"] => Err("it is a decimal number"),
        ["string"] => {
            let is_long = schema.get("maxLength").and_then(Value::as_u64).is_some_and(|most| most > LONG);
            Ok(if is_long { Shape::Length } else { Shape::Text })
        }
        ["array"] => match shape(schema.get("items").unwrap_or(&Value::Null))? {
            Shape::Length | Shape::Set(_) => Err("it is a list of what policies do not compare"),
            element => Ok(Shape::Set(Box::new(element))),
        },
        ["object"] if schema.get("properties").is_some() => object(schema),
        ["object"] => Err("it is a map"),
        [] if schema.get("enum").is_some() => Ok(Shape::Text),
        [] if is_text(schema) => Ok(Shape::Text),
        [] => Err("it is free JSON"),
        _ => Err("it is one of several types"),
    }
}

fn object(schema: &Value) -> Result<Shape, &'static str> {
    let required = names(schema, "required");
    let fields: Vec<Field> = properties(schema)
        .filter_map(|(name, field)| {
            let is_required = required.contains(&name.as_str()) && !is_null(field);
            let shape = shape(field).ok()?;
            let choices = texts_of(field);
            Some(Field { name: name.clone(), shape, choices, is_required, is_erasable: false, is_new: false })
        })
        .collect();
    if fields.is_empty() { Err("it is a map") } else { Ok(Shape::Record(fields)) }
}
