//! The JSON of AuthZEN requests. Every field is optional here, so that an error can name the one that is missing.

use std::marker::PhantomData;

use cedar_policy::EntityUid;
use schemars::JsonSchema;
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use smol_str::SmolStr;

use policy::Snapshot;
use policy::own::{self, Described, Parts, Properties, Said, Wrong};
use types::refusal::Refusal;

/// Up to this many questions are answered inline; more would make other requests wait.
pub(super) const SHORT: usize = 64;

/// The maximum bytes of a name or an id.
const MOST: usize = 1_024;

/// A subject or a resource. The standard may add fields, here as in what follows: they are passed over.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct Entity {
    /// An entity type of the company's schema, such as `Docs::User`. Required.
    #[serde(rename = "type", default, deserialize_with = "short")]
    #[schemars(with = "Option<String>", length(max = 1024))]
    pub kind: Option<SmolStr>,
    /// Required, unless it is what is searched for.
    #[serde(default, deserialize_with = "short")]
    #[schemars(with = "Option<String>", length(max = 1024))]
    pub id: Option<SmolStr>,
    /// Its attributes, as in the schema. An entity in them is `{"type", "id", "properties"}`; `parents` are its groups,
    /// direct and indirect.
    pub properties: Option<Properties>,
}

/// What the subject would do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct Action {
    /// Such as `Docs::Action::view`, or `view` where only one action has that name. Required.
    #[serde(default, deserialize_with = "short")]
    #[schemars(with = "Option<String>", length(max = 1024))]
    pub name: Option<SmolStr>,
    /// Added to the context.
    pub properties: Option<Properties>,
}

/// A question: may this subject do this to that resource?
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
pub struct Evaluation {
    /// Required.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub subject: Option<Entity>,
    /// Required.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub action: Option<Action>,
    /// Required.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub resource: Option<Entity>,
    /// The action's context, as in the schema.
    #[serde(default, deserialize_with = "given", skip_serializing_if = "Option::is_none")]
    pub context: Option<Properties>,
}

/// Parses an entity as given, in full: nothing that it lacks is filled in.
pub(super) fn parts(said: &Entity) -> Result<Parts<'_>, Wrong> {
    let kind = said.kind.as_deref().ok_or_else(|| required("type"))?;
    let id = said.id.as_deref().ok_or_else(|| required("id"))?;
    Ok(Parts { kind, id, properties: said.properties.as_ref() })
}

/// Parses a complete question, so that it can be asked of any policies.
pub fn said(asked: &Evaluation, snapshot: &Snapshot) -> Result<Said, Refusal> {
    let whole = || {
        let words = asked.action.as_ref().ok_or_else(|| required("action"))?;
        let name = words.name.as_deref().ok_or_else(|| required("name").within("action"))?;
        let action = own::action(snapshot, name).map_err(|wrong| wrong.within("name").within("action"))?;
        whole(asked, &Evaluation::default(), action, words)
    };
    whole().map_err(|wrong| bad(&wrong))
}

/// Parses a question, each part given here or by default.
pub(super) fn whole(
    said: &Evaluation,
    default: &Evaluation,
    action: &EntityUid,
    words: &Action,
) -> Result<Said, Wrong> {
    let end = |said: Option<&Entity>, default: Option<&Entity>, field: &'static str| {
        let parts = parts(said.or(default).ok_or_else(|| required(field))?).map_err(|wrong| wrong.within(field))?;
        let (kind, id) = (parts.kind.to_owned(), parts.id.to_owned());
        Ok::<_, Wrong>(Described { kind, id, properties: parts.properties.cloned() })
    };
    let context = said.context.as_ref().or(default.context.as_ref()).cloned().unwrap_or_default();
    Ok(Said {
        subject: end(said.subject.as_ref(), default.subject.as_ref(), "subject")?,
        action: own::name(action),
        resource: end(said.resource.as_ref(), default.resource.as_ref(), "resource")?,
        context: context.and(words.properties.as_ref()),
    })
}

pub(super) fn required(field: &str) -> Wrong {
    Wrong::new("is required").within(field)
}

/// Deserializes a field that must not be null if given: null would restore a default.
fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    One::deserialize(from).map(|one| Some(one.0))
}

/// Deserializes a nullable name or id; one that exceeds the maximum length is not read.
fn short<'de, D: Deserializer<'de>>(from: D) -> Result<Option<SmolStr>, D::Error> {
    let text = Option::<SmolStr>::deserialize(from)?;
    match text {
        Some(text) if text.len() > MOST => Err(D::Error::custom(format!("must have at most {MOST} bytes"))),
        text => Ok(text),
    }
}

/// Deserializes a nullable field.
pub(super) fn maybe<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(Option::<One<T>>::deserialize(from)?.map(|one| one.0))
}

/// Deserializes a list.
pub(crate) fn all<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Ok(Vec::<One<T>>::deserialize(from)?.into_iter().map(|one| one.0).collect())
}

/// Deserializes a nullable list.
pub(super) fn list<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<Vec<T>>, D::Error> {
    let all = Option::<Vec<One<T>>>::deserialize(from)?;
    Ok(all.map(|all| all.into_iter().map(|one| one.0).collect()))
}

/// Accepts a JSON object only: the items of an array would be taken for the fields in order.
struct One<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for One<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<One<T>, D::Error> {
        from.deserialize_map(Object(PhantomData)).map(One)
    }
}

struct Object<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Object<T> {
    type Value = T;

    fn expecting(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        to.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(fields))
    }
}

/// Returns the refusal for a malformed request.
pub(super) fn bad(wrong: &Wrong) -> Refusal {
    Refusal::bad_request(wrong.to_string())
}
