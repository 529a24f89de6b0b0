//! Comparisons that can never be true for what they look at, and attributes that nothing has: slips of the pen that
//! pass validation, and with which a forbid never applies.
//!
//! Always true: texts and numbers are reported only if they have a closed list or a range, and only if everything that
//! the expression can refer to has one: what the product declares, and choices of collections. Types and attributes are
//! reported only if the schema rules them out.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use cedar_policy_core::ast::{
    BinaryOp, Entity, EntityReference, Expr, ExprKind, Literal, PrincipalOrResourceConstraint as Scope, UnaryOp, Var,
};
use cedar_policy_core::validator::types::{EntityKind, Type};

use super::compiled::CompiledPolicy;
use super::names::{covers, name_of};
use super::parts::{line, place};
use super::shadow::split;
use super::snapshot::Snapshot;
use crate::Finding;
use crate::finding::code;
use types::near::nearest;
use types::visible::visible;

/// More values than these are not listed.
const SHOWN: usize = 12;
/// The type of the product's own actions.
const OURS: &str = "Ok::Action";
/// The namespace of collections.
const COLLECTIONS: &str = "Brain::";
const CONTEXT: &str = "context";
const INPUT: &str = "context.input";
const HISTORY: &str = "context.hist";

/// What is known of texts and numbers of which there are only some; nothing of those that can be any.
pub trait Words {
    /// Of a field of an operation's input.
    fn choices(&self, operation: &str, field: &str) -> &[String];
    /// Of an attribute of a Cedar type, or of a record such as `context.run`; all that `context.hist` holds is of one.
    fn words(&self, of: &str, attribute: &str) -> Vec<&'static str>;
    /// The least and the greatest that such an attribute can be.
    fn range(&self, of: &str, attribute: &str) -> Option<RangeInclusive<i64>>;
}

impl Snapshot {
    /// Returns a finding for each text or entity that a policy compares with something that can never equal it, for
    /// each comparison of numbers with a constant result, and for each attribute that a policy checks for although
    /// nothing has it.
    pub fn impossible(&self, words: &dyn Words) -> Vec<Finding> {
        let mut findings = Vec::new();
        for compiled in &self.policies {
            let condition = compiled.policy.non_scope_constraints();
            let mut conjuncts = Vec::new();
            condition.into_iter().for_each(|condition| split(condition, &mut conjuncts));
            let read = Read { snapshot: self, compiled, conjuncts, covered: OnceCell::new(), words };
            findings.extend(compiled.condition.subexpressions().filter_map(|expr| read.misnamed(expr)));
            let parts = condition.into_iter().flat_map(Expr::subexpressions);
            findings.extend(parts.flat_map(|expr| read.compared(expr)));
        }
        findings
    }
}

/// A policy, and what it can be asked about.
struct Read<'a> {
    snapshot: &'a Snapshot,
    compiled: &'a CompiledPolicy,
    /// What must hold for it to match.
    conjuncts: Vec<&'a Expr>,
    /// Gathered where it makes a difference.
    covered: OnceCell<Covered>,
    words: &'a dyn Words,
}

/// The actions that a policy can be asked about.
struct Covered {
    operations: Vec<String>,
    /// All of them are the product's, and so is their context: what a namespace of the company's own declares can be anything.
    is_ours: bool,
}

impl Read<'_> {
    fn covered(&self) -> &Covered {
        self.covered.get_or_init(|| {
            let actions = self.snapshot.schema().as_ref().action_entities().unwrap_or_default();
            let covers = |action: &&Entity| covers(self.compiled.policy.action_constraint(), action);
            let is_ours = actions.iter().filter(covers).all(|action| action.uid().entity_type().to_string() == OURS);
            let names = actions.iter().filter(covers).map(|action| name_of(action.uid()));
            // A group of actions is not asked about itself.
            let operations = names.filter(|name| !self.snapshot.principals_of(name).is_empty()).collect();
            Covered { operations, is_ours }
        })
    }

    fn operations(&self) -> &[String] {
        &self.covered().operations
    }

    fn compared(&self, expr: &Expr) -> Vec<Finding> {
        match expr.expr_kind() {
            ExprKind::BinaryApp {
                op: BinaryOp::Eq | BinaryOp::Contains | BinaryOp::ContainsAll | BinaryOp::ContainsAny,
                arg1,
                arg2,
            } => {
                let sides = [(arg1, arg2), (arg2, arg1)];
                let texts = sides.into_iter().flat_map(|(what, with)| self.impossible(what, with));
                let is_equal = matches!(expr.expr_kind(), ExprKind::BinaryApp { op: BinaryOp::Eq, .. });
                let types =
                    sides.into_iter().filter(|_| is_equal).filter_map(|(what, with)| self.of_another(what, with));
                texts.chain(types).chain(self.settled(expr)).collect()
            }
            ExprKind::BinaryApp { op: BinaryOp::Less | BinaryOp::LessEq, .. } => {
                self.settled(expr).into_iter().collect()
            }
            ExprKind::HasAttr { expr: of, attr } => self.lacking(expr, of, attr).into_iter().collect(),
            ExprKind::Like { expr: what, pattern } => {
                let some = self.values(what).filter(|values| !values.iter().any(|value| pattern.wildcard_match(value)));
                some.map(|values| self.never_equal(expr, what, &pattern.to_string(), &values)).into_iter().collect()
            }
            _ => Vec::new(),
        }
    }

    /// A finding for each of the texts that it is compared with.
    fn impossible(&self, what: &Expr, with: &Expr) -> Vec<Finding> {
        let texts = texts(with);
        let Some(values) = self.values(what).filter(|_| !texts.is_empty()) else { return Vec::new() };
        let wrong = texts.into_iter().filter(|(_, text)| !values.contains(*text));
        wrong.map(|(at, text)| self.never_equal(at, what, text, &values)).collect()
    }

    /// A number is compared with one that it always is on the same side of.
    fn settled(&self, at: &Expr) -> Option<Finding> {
        let ExprKind::BinaryApp { op, arg1, arg2 } = at.expr_kind() else { return None };
        let (what, number, is_left) = match (number(arg1), number(arg2)) {
            (None, Some(number)) => (arg1, number, true),
            (Some(number), None) => (arg2, number, false),
            _ => return None,
        };
        let range = self.range(what)?;
        let (least, most) = (*range.start(), *range.end());
        let holds = |value: i64| match (op, is_left) {
            (BinaryOp::Less, true) => value < number,
            (BinaryOp::Less, false) => number < value,
            (BinaryOp::LessEq, true) => value <= number,
            (BinaryOp::LessEq, false) => number <= value,
            _ => value == number,
        };
        let is_open = match op {
            BinaryOp::Eq => range.contains(&number),
            _ => holds(least) != holds(most),
        };
        let id = &self.compiled.meta.id;
        let message =
            format!("the policy `{id}` compares `{what}` with {number}, which has the same result for every value");
        let help = match most {
            i64::MAX => format!("it is at least {least}"),
            _ => format!("it can be {least} to {most}"),
        };
        (!is_open).then(|| self.finding(at, message).helped(help))
    }

    /// An actor with the id of a team, or the other way round.
    fn misnamed(&self, at: &Expr) -> Option<Finding> {
        let ExprKind::Lit(Literal::EntityUID(uid)) = at.expr_kind() else { return None };
        let (ty, id) = (uid.entity_type().to_string(), AsRef::<str>::as_ref(uid.eid()));
        let (what, other) = match (ty.as_str(), id.strip_prefix("team:")) {
            ("Ok::Actor", Some(_)) => ("no actor has the id of a team", format!("Ok::Team::\"{id}\"")),
            ("Ok::Team", None) => ("the id of every team starts with `team:`", format!("Ok::Team::\"team:{id}\"")),
            _ => return None,
        };
        let message = format!("the policy `{}` names `{uid}`, and {what}", self.compiled.meta.id);
        Some(self.finding(at, message).helped(format!("did you mean `{}`?", visible(&other))))
    }

    /// It is compared with an entity of a type that it never has.
    fn of_another(&self, what: &Expr, with: &Expr) -> Option<Finding> {
        let ExprKind::Lit(Literal::EntityUID(uid)) = with.expr_kind() else { return None };
        let types = self.types_of(what);
        if types.is_empty() || types.contains(&uid.entity_type().to_string()) {
            return None;
        }
        let message =
            format!("the policy `{}` compares `{what}` with `{uid}`, which it never is", self.compiled.meta.id);
        let types: Vec<&str> = types.iter().map(String::as_str).take(SHOWN).collect();
        Some(self.finding(with, message).helped(format!("its type can be {}", types.join(", "))))
    }

    /// An attribute that nothing has which it is looked for in.
    fn lacking(&self, at: &Expr, of: &Expr, attr: &str) -> Option<Finding> {
        let types = self.types_of(of);
        if types.is_empty() || types.iter().any(|ty| self.declared(ty, attr).is_some()) {
            return None;
        }
        let message = format!("the policy `{}` reads `{of}.{attr}`, which never exists", self.compiled.meta.id);
        let attributes: BTreeSet<String> = types.iter().flat_map(|ty| self.attributes_of(ty)).collect();
        let near = nearest(attr, attributes.iter().map(String::as_str)).map(|near| format!("did you mean `{near}`?"));
        let finding = self.finding(at, message);
        Some(match near {
            Some(near) => finding.helped(near),
            None => finding,
        })
    }

    fn attributes_of(&self, ty: &str) -> Vec<String> {
        let found = ty.parse().ok().and_then(|ty| self.snapshot.schema().as_ref().get_entity_type(&ty));
        found.into_iter().flat_map(|ty| ty.attributes().iter().map(|(name, _)| name.to_string())).collect()
    }

    fn finding(&self, at: &Expr, message: String) -> Finding {
        let span = place(at, self.compiled);
        Finding::new(code::IMPOSSIBLE, self.compiled.meta.file.as_str(), line(self.compiled, span), span, message)
    }

    /// All that an expression can be, where that is known.
    fn values(&self, what: &Expr) -> Option<BTreeSet<String>> {
        let ExprKind::GetAttr { expr, attr } = what.expr_kind() else { return None };
        let owned = |words: Vec<&str>| words.into_iter().map(str::to_owned).collect();
        let found: Vec<Vec<String>> = match in_context(expr) {
            Some(record) if record == INPUT => {
                self.operations().iter().map(|operation| self.words.choices(operation, attr).to_vec()).collect()
            }
            Some(record) if self.covered().is_ours => vec![owned(self.words.words(&record, attr))],
            Some(_) => Vec::new(),
            None => self.attributes(attr, &self.types_of(expr)),
        };
        let is_known = !found.is_empty() && found.iter().all(|values| !values.is_empty());
        is_known.then(|| found.into_iter().flatten().collect())
    }

    /// The least and the greatest that an expression can be, where that is known.
    fn range(&self, what: &Expr) -> Option<RangeInclusive<i64>> {
        let ExprKind::GetAttr { expr, attr } = what.expr_kind() else { return None };
        if let Some(record) = in_context(expr) {
            return self.words.range(&record, attr).filter(|_| self.covered().is_ours);
        }
        let types = self.types_of(expr);
        let mut ranges =
            types.iter().filter(|ty| self.declared(ty, attr).is_some()).map(|ty| self.words.range(ty, attr));
        let first = ranges.next()??;
        ranges.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    /// The types of what an expression names: a variable, or what an attribute of one points at; none where that is not known.
    fn types_of(&self, what: &Expr) -> BTreeSet<String> {
        let policy = &self.compiled.policy;
        match what.expr_kind() {
            ExprKind::Var(Var::Principal) => {
                let of = |operation: &str| self.snapshot.principals_of(operation);
                self.types((Var::Principal, policy.principal_constraint().as_inner()), of)
            }
            ExprKind::Var(Var::Resource) => {
                let of = |operation: &str| self.snapshot.resources_of(operation);
                self.types((Var::Resource, policy.resource_constraint().as_inner()), of)
            }
            ExprKind::GetAttr { expr, attr } => {
                let types = self.types_of(expr);
                let declared = types.iter().filter_map(|ty| self.declared(ty, attr));
                declared.map(|ty| entity(&ty)).collect::<Option<_>>().unwrap_or_default()
            }
            _ => BTreeSet::new(),
        }
    }

    /// The type of an attribute.
    fn declared(&self, ty: &str, attr: &str) -> Option<Type> {
        let found = self.snapshot.schema().as_ref().get_entity_type(&ty.parse().ok()?)?;
        found.attr(attr).map(|attr| attr.attr_type.as_ref().clone())
    }

    /// What an attribute can be on each type that declares it.
    fn attributes(&self, attr: &str, types: &BTreeSet<String>) -> Vec<Vec<String>> {
        let declares = |ty: &&String| self.declared(ty, attr).is_some();
        let of = |ty: &String| match ty.strip_prefix(COLLECTIONS) {
            Some(collection) => {
                let found = self.snapshot.collections().get(collection).and_then(|found| found.spec.fields.get(attr));
                found.map(|field| field.options.clone()).unwrap_or_default()
            }
            None => self.words.words(ty, attr).into_iter().map(str::to_owned).collect(),
        };
        types.iter().filter(declares).map(of).collect()
    }

    /// The types that a variable can have.
    fn types(&self, (var, scope): (Var, &Scope), of: impl Fn(&str) -> BTreeSet<String>) -> BTreeSet<String> {
        let narrows = |conjunct: &&Expr| match conjunct.expr_kind() {
            ExprKind::Is { expr, entity_type } if *expr.expr_kind() == ExprKind::Var(var) => {
                Some(entity_type.to_string())
            }
            _ => None,
        };
        if let Some(narrow) = self.conjuncts.iter().find_map(narrows) {
            return BTreeSet::from([narrow]);
        }
        match scope {
            Scope::Is(ty) | Scope::IsIn(ty, _) => BTreeSet::from([ty.to_string()]),
            Scope::Eq(EntityReference::EUID(uid)) => BTreeSet::from([uid.entity_type().to_string()]),
            _ => self.operations().iter().flat_map(|operation| of(operation)).collect(),
        }
    }

    fn never_equal(&self, at: &Expr, what: &Expr, text: &str, values: &BTreeSet<String>) -> Finding {
        let id = &self.compiled.meta.id;
        let message = format!("the policy `{id}` compares `{what}` with `{}`, which it never is", text.escape_debug());
        let mut listed: Vec<&str> = values.iter().map(String::as_str).take(SHOWN).collect();
        if values.len() > SHOWN {
            listed.push("…");
        }
        let help = match nearest(text, values.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`? It can be {}", listed.join(", ")),
            None => format!("it can be {}", listed.join(", ")),
        };
        self.finding(at, message).helped(help)
    }
}

/// The type of an entity, where it is one.
fn entity(ty: &Type) -> Option<String> {
    match ty {
        Type::Entity(EntityKind::Entity(one)) => one.get_single_entity().map(ToString::to_string),
        _ => None,
    }
}

/// The record of the context that an expression is: `context`, `context.run`. What has been done, operation by operation, is one
/// record: `context.hist`.
fn in_context(expr: &Expr) -> Option<String> {
    match expr.expr_kind() {
        ExprKind::Var(Var::Context) => Some(CONTEXT.to_owned()),
        ExprKind::GetAttr { expr, attr } => match in_context(expr)?.as_str() {
            CONTEXT => Some(format!("{CONTEXT}.{attr}")),
            HISTORY => Some(HISTORY.to_owned()),
            _ => None,
        },
        _ => None,
    }
}

fn number(expr: &Expr) -> Option<i64> {
    match expr.expr_kind() {
        ExprKind::Lit(Literal::Long(number)) => Some(*number),
        ExprKind::UnaryApp { op: UnaryOp::Neg, arg } => number(arg)?.checked_neg(),
        _ => None,
    }
}

/// The texts of a literal, or of a set of literals, each with where it stands.
fn texts(expr: &Expr) -> Vec<(&Expr, &str)> {
    match expr.expr_kind() {
        ExprKind::Lit(Literal::String(text)) => vec![(expr, text.as_str())],
        ExprKind::Set(members) => members.iter().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
