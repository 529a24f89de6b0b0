//! Questions about the company's own types that nobody has asked: made up from the schema, from the names in the
//! policies, and from the descriptions in the tests.
//!
//! Always true: the same policies give the same questions on every machine; within one question, a thing is described
//! once and only named after that.

use std::collections::{BTreeMap, BTreeSet};

use cedar_policy_core::validator::ValidatorEntityTypeKind;
use cedar_policy_core::validator::types::{Attributes, EntityKind, Type};

use super::catalog::{Kind, action};
use super::json::{Json, Properties};
use super::reader::extension;
use super::said::{Described, Said};
use crate::Snapshot;
use crate::engine::APPROVALS;
use crate::engine::Named;

/// How many references of an end, and of the context, a policy may open.
pub(super) const OPENED: u8 = 1;
/// Groups that one thing is put into.
const GROUPS: usize = 4;

/// Makes questions up.
pub struct Inventor<'a> {
    snapshot: &'a Snapshot,
    named: &'a Named,
    state: u64,
    /// What the question describes so far.
    met: BTreeMap<(String, String), Option<Properties>>,
}

impl<'a> Inventor<'a> {
    pub fn new(snapshot: &'a Snapshot, named: &'a Named) -> Inventor<'a> {
        Inventor { snapshot, named, state: 0x9e37_79b9_7f4a_7c15, met: BTreeMap::new() }
    }

    /// A question about an action, with ends of these types; none if the schema has no such ends.
    pub fn question(&mut self, name: &str, subject: &str, resource: &str) -> Option<Said> {
        self.met.clear();
        let subject = self.described(subject)?;
        let resource = self.described(resource)?;
        let context = self.context(name)?;
        Some(Said { subject, action: name.to_owned(), resource, context })
    }

    /// Begins a question about these.
    pub(super) fn begin(&mut self, ends: [&Described; 2]) {
        self.met.clear();
        for end in ends {
            self.met.insert((end.kind.clone(), end.id.clone()), end.properties.clone());
        }
    }

    pub(super) fn snapshot(&self) -> &'a Snapshot {
        self.snapshot
    }

    /// A question with one thing otherwise.
    pub fn neighbour(&mut self, said: &Said) -> Option<Said> {
        self.begin([&said.subject, &said.resource]);
        let mut said = said.clone();
        match self.below(3) {
            0 => self.alter(&mut said.subject)?,
            1 => self.alter(&mut said.resource)?,
            _ => {
                let uid = action(self.snapshot, &said.action).ok()?;
                let Some(Type::Record { attrs, .. }) = self.snapshot.schema().as_ref().context_type(uid.as_ref())
                else {
                    return None;
                };
                said.context = self.altered(attrs, said.context, OPENED + 1)?;
            }
        }
        // The same thing at both ends is described alike.
        if said.subject.kind == said.resource.kind && said.subject.id == said.resource.id {
            said.resource.properties.clone_from(&said.subject.properties);
        }
        Some(said)
    }

    fn alter(&mut self, end: &mut Described) -> Option<()> {
        let kind = self.snapshot.catalog().named(&end.kind)?;
        if self.below(4) == 0 {
            end.id = self.id(kind);
            return Some(());
        }
        let properties = end.properties.clone().unwrap_or_default();
        end.properties = Some(if self.below(4) == 0 && !has_attribute(kind, super::reader::PARENTS) {
            let groups = self.groups(kind);
            properties.with(super::reader::PARENTS, groups)
        } else {
            self.altered(kind.declared.attributes(), properties, OPENED)?
        });
        Some(())
    }

    /// One attribute otherwise, or left out where it may be.
    fn altered(&mut self, attrs: &Attributes, properties: Properties, opened: u8) -> Option<Properties> {
        let count = attrs.iter().count();
        let at = self.below(count);
        let (name, attribute) = attrs.iter().nth(at)?;
        let leave_out = !attribute.is_required && self.below(3) == 0;
        let value = if leave_out { None } else { Some(self.value(&attribute.attr_type, opened)?) };
        Some(properties.with(name, value))
    }

    fn described(&mut self, kind: &str) -> Option<Described> {
        let kind = self.snapshot.catalog().named(kind)?;
        let id = self.id(kind);
        let key = (kind.name.clone(), id.clone());
        let properties = match self.met.get(&key) {
            Some(known) => known.clone(),
            None => {
                // While it is described, it can be referred to.
                self.met.insert(key.clone(), None);
                let properties = self.properties(kind, OPENED)?;
                self.met.insert(key, properties.clone());
                properties
            }
        };
        Some(Described { kind: kind.name.clone(), id, properties })
    }

    fn context(&mut self, name: &str) -> Option<Properties> {
        let uid = action(self.snapshot, name).ok()?;
        match self.snapshot.schema().as_ref().context_type(uid.as_ref()) {
            Some(Type::Record { attrs, .. }) => {
                let approvals = self.snapshot.takes_approvals(uid);
                self.fields(attrs, OPENED + 1, |name| approvals && name == APPROVALS)
            }
            _ => None,
        }
    }

    /// None where the type has no properties at all.
    fn properties(&mut self, kind: &Kind, opened: u8) -> Option<Option<Properties>> {
        if matches!(kind.declared.kind, ValidatorEntityTypeKind::Enum(_)) {
            return Some(None);
        }
        let properties = self.fields(kind.declared.attributes(), opened, |_| false)?;
        let groups = if has_attribute(kind, super::reader::PARENTS) { None } else { self.groups(kind) };
        Some(Some(match groups {
            Some(groups) => properties.with(super::reader::PARENTS, Some(groups)),
            None => properties,
        }))
    }

    fn fields(&mut self, attrs: &Attributes, opened: u8, engine: impl Fn(&str) -> bool) -> Option<Properties> {
        let mut fields = Properties::default();
        for (name, attribute) in attrs.iter().filter(|(name, _)| !engine(name)) {
            if !attribute.is_required && self.below(2) == 0 {
                continue;
            }
            match self.value(&attribute.attr_type, opened) {
                Some(value) => fields = fields.with(name, Some(value)),
                None if attribute.is_required => return None,
                None => {}
            }
        }
        Some(fields)
    }

    /// Some of the groups that policies name and that it can be in.
    fn groups(&mut self, kind: &Kind) -> Option<Json> {
        let catalog = self.snapshot.catalog();
        let above = |(name, _): &&(String, String)| catalog.named(name).is_some_and(|above| kind.can_be_in(above));
        let named: Vec<(String, String)> = self.named.entities.iter().filter(above).cloned().collect();
        let mut groups = Vec::new();
        for (kind, id) in named {
            if groups.len() < GROUPS && self.below(2) == 0 {
                groups.push(reference(&kind, &id, None));
            }
        }
        (!groups.is_empty()).then_some(Json::Array(groups))
    }

    pub(super) fn value(&mut self, ty: &Type, opened: u8) -> Option<Json> {
        match ty {
            Type::Bool(_) => Some(Json::Bool(self.below(2) == 0)),
            Type::Long => self.long(),
            Type::String => {
                let texts: Vec<&str> = self.named.texts.iter().map(String::as_str).chain(["x"]).collect();
                self.one(&texts).map(|text| Json::Text(text.into()))
            }
            Type::Set { element_type: Some(element) } => {
                let mut members = Vec::new();
                for _ in 0..self.below(4) {
                    let member = self.value(element, 0)?;
                    if !members.contains(&member) {
                        members.push(member);
                    }
                }
                Some(Json::Array(members))
            }
            Type::Record { attrs, .. } => self.fields(attrs, opened, |_| false).map(Json::Object),
            Type::Entity(EntityKind::Entity(kinds)) => self.entity(kinds.get_single_entity()?.to_string(), opened),
            Type::ExtensionType { name } => {
                let usual = ["1.0", "127.0.0.1", "2026-01-01T00:00:00Z", "1h"];
                let texts = self.named.texts.iter().map(String::as_str).chain(usual);
                let fit: Vec<&str> = texts.filter(|text| extension(name, text).is_some()).collect();
                self.one(&fit).map(|text| Json::Text(text.into()))
            }
            Type::Never | Type::Set { element_type: None } | Type::Entity(EntityKind::AnyEntity) => None,
        }
    }

    /// A number that a policy names, or beside one.
    fn long(&mut self) -> Option<Json> {
        let near =
            self.named.numbers.iter().flat_map(|number| [number.saturating_sub(1), *number, number.saturating_add(1)]);
        let numbers: BTreeSet<i64> = near.chain([0, 1]).collect();
        let numbers: Vec<i64> = numbers.into_iter().collect();
        self.one(&numbers).map(Json::Whole)
    }

    /// A reference: often to what the question is about already.
    fn entity(&mut self, kind: String, opened: u8) -> Option<Json> {
        let met: Vec<String> = self.met.keys().filter(|(known, _)| *known == kind).map(|(_, id)| id.clone()).collect();
        if !met.is_empty() && self.below(2) == 0 {
            return self.one(&met).map(|id| reference(&kind, &id, None));
        }
        let kind = self.snapshot.catalog().named(&kind)?;
        let enumerated = matches!(kind.declared.kind, ValidatorEntityTypeKind::Enum(_));
        if kind.is_product() && !enumerated {
            return None;
        }
        let id = self.id(kind);
        let key = (kind.name.clone(), id.clone());
        let Some(further) = opened.checked_sub(1).filter(|_| !enumerated && !self.met.contains_key(&key)) else {
            return Some(reference(&kind.name, &id, None));
        };
        self.met.insert(key.clone(), None);
        let properties = self.properties(kind, further)?;
        self.met.insert(key, properties.clone());
        Some(reference(&kind.name, &id, properties))
    }

    /// An id that a policy names, or another.
    fn id(&mut self, kind: &Kind) -> String {
        if let ValidatorEntityTypeKind::Enum(choices) = &kind.declared.kind {
            let choices: Vec<String> = choices.iter().map(|choice| AsRef::<str>::as_ref(choice).to_owned()).collect();
            return self.one(&choices).unwrap_or_default();
        }
        let named = self.named.entities.iter().filter(|(known, _)| *known == kind.name).map(|(_, id)| id.as_str());
        let ids: Vec<&str> = named.chain(["x", "y"]).collect();
        self.one(&ids).unwrap_or("x").to_owned()
    }

    fn one<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        let at = self.below(of.len());
        of.get(at).cloned()
    }

    /// A number below another one: splitmix64.
    fn below(&mut self, most: usize) -> usize {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        usize::try_from(mixed % u64::try_from(most.max(1)).unwrap_or(1)).unwrap_or(0)
    }
}

fn has_attribute(kind: &Kind, name: &str) -> bool {
    kind.declared.attr(name).is_some()
}

fn reference(kind: &str, id: &str, properties: Option<Properties>) -> Json {
    let fields = Properties::default()
        .with("type", Some(Json::Text(kind.into())))
        .with("id", Some(Json::Text(id.into())))
        .with("properties", properties.map(Json::Object));
    Json::Object(fields)
}
