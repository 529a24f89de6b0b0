//! The explanation of a question: the policies that decided it, and the permits that came close, part by part.

use cedar_policy_core::ast::{
    BinaryOp, Effect, Entity, EntityReference, EntityUID, Expr, ExprKind, Literal,
    PrincipalOrResourceConstraint as Scope, Value, ValueKind, Var,
};
use cedar_policy_core::entities::{Dereference, Entities};
use cedar_policy_core::evaluator::Evaluator;
use cedar_policy_core::extensions::Extensions;
use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};

use super::Eyes;
use super::look::{Leaf, Look, Place, Seen, Stands, State};
use crate::engine::compiled::CompiledPolicy;
use crate::engine::decide::Question;
use crate::engine::parts::{PartKind, line, place, scope_span, text};
use crate::engine::ruling::{Because, Ruling};
use crate::engine::snapshot::Snapshot;

/// Near misses that are told at most.
const MOST: usize = 5;

/// Why an answer is what it is.
#[derive(Clone, Debug, Default)]
pub struct Explanation {
    /// The policies that determined it.
    pub because: Vec<ExplainedPolicy>,
    /// Where no permit holds: the permits that fail in the fewest parts, those first.
    pub near_misses: Vec<ExplainedPolicy>,
}

/// One policy, as a question finds it.
#[derive(Clone, Debug)]
pub struct ExplainedPolicy {
    pub policy: Because,
    /// How many parts, at the least, are not as it wants them.
    pub failing: usize,
    pub parts: Vec<ShownPart>,
}

/// One part of a policy, as a question finds it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ShownPart {
    pub part: PartKind,
    pub text: String,
    pub line: usize,
    /// Whether the policy wants it true: false behind `unless` or `!`.
    pub wanted: bool,
    pub state: State,
    /// What it reads, as far as the asker may see it.
    pub observed: Vec<Observed>,
}

/// One value that a part reads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Observed {
    /// As the policy writes it: `principal.trust`; `principal in` for the groups that it is in.
    pub what: String,
    /// An entity as `{type, id}`, anything else as JSON has it.
    pub value: Json,
}

impl Snapshot {
    /// Explains why the ruling on a question is what it is. Empty if the question itself is invalid.
    pub fn explain(&self, question: &Question<'_>, ruling: &Ruling, eyes: Eyes<'_>) -> Explanation {
        let Ok(entities) = question.entities.entities() else { return Explanation::default() };
        let evaluator = Evaluator::new(self.request(question), entities, Extensions::all_available());
        let explainer = Explainer {
            evaluator: &evaluator,
            entities,
            eyes,
            hides: !eyes.withheld.is_empty() || entities.iter().any(|entity| !eyes.sees(entity.uid())),
        };
        let because = ruling.because().iter().filter_map(|policy| self.policy_of(&policy.id));
        let because = because.map(|compiled| explainer.explain(&explainer.look(compiled))).collect();
        let near_misses = if ruling.is_allowed() { Vec::new() } else { self.near_misses(question, &explainer) };
        Explanation { because, near_misses }
    }

    /// None where a permit holds: then forbids alone are in the way.
    fn near_misses(&self, question: &Question<'_>, explainer: &Explainer<'_>) -> Vec<ExplainedPolicy> {
        let mut near: Vec<(usize, Look<'_>)> = Vec::new();
        let permits = self.policies_of(question).filter(|compiled| compiled.policy.effect() == Effect::Permit);
        for compiled in permits.filter(|compiled| self.is_for_such(compiled, question)) {
            let look = explainer.look(compiled);
            match look.stands {
                Stands::Holds => return Vec::new(),
                // What fails in hidden parts alone is not told: that would show what they hold.
                Stands::Fails(_) if look.has(State::Fail) => near.push((failing(&look), look)),
                Stands::Fails(_) | Stands::Broken => {}
            }
        }
        near.sort_by_key(|(failing, _)| *failing);
        near.iter().take(MOST).map(|(_, look)| explainer.explain(look)).collect()
    }

    /// Whether a policy is for principals and resources of these types: nothing turns one into the other, nor puts it into
    /// a group that such things cannot be in.
    fn is_for_such(&self, compiled: &CompiledPolicy, question: &Question<'_>) -> bool {
        let within = |group: &EntityReference, uid: &EntityUID| match group {
            EntityReference::EUID(group) => self.catalog().can_be_in(uid.entity_type(), group.entity_type()),
            EntityReference::Slot(_) => true,
        };
        let fits = |scope: &Scope, uid: &EntityUID| match scope {
            Scope::Is(ty) => ty.as_ref() == uid.entity_type(),
            Scope::IsIn(ty, group) => ty.as_ref() == uid.entity_type() && within(group, uid),
            Scope::Eq(EntityReference::EUID(one)) => one.entity_type() == uid.entity_type(),
            Scope::In(group) => within(group, uid),
            Scope::Any | Scope::Eq(EntityReference::Slot(_)) => true,
        };
        fits(compiled.policy.principal_constraint().as_inner(), question.principal.as_ref())
            && fits(compiled.policy.resource_constraint().as_inner(), question.resource.as_ref())
    }
}

/// The count that may be told: of what is hidden, nothing is counted.
fn failing(look: &Look<'_>) -> usize {
    match look.stands {
        Stands::Fails(failing) if !look.has(State::Hidden) => failing,
        Stands::Holds => 0,
        Stands::Fails(_) | Stands::Broken => look.parts.iter().filter(|part| part.state == State::Fail).count(),
    }
}

struct Explainer<'a> {
    evaluator: &'a Evaluator<'a>,
    entities: &'a Entities,
    eyes: Eyes<'a>,
    /// Whether there is anything that the asker may not see.
    hides: bool,
}

impl Explainer<'_> {
    fn look<'r>(&self, compiled: &'r CompiledPolicy) -> Look<'r> {
        let look = Look::new(compiled, self.evaluator);
        if self.hides { look.hide(self.evaluator, &self.eyes) } else { look }
    }

    fn explain(&self, look: &Look<'_>) -> ExplainedPolicy {
        let parts = look.parts.iter().map(|part| self.part(look.compiled, part)).collect();
        ExplainedPolicy { policy: look.compiled.meta.clone(), failing: failing(look), parts }
    }

    fn part(&self, compiled: &CompiledPolicy, part: &Seen<'_>) -> ShownPart {
        let span = match &part.expr {
            Leaf::Clause(_) => scope_span(compiled, part.kind),
            Leaf::Condition(expr) => place(expr, compiled),
        };
        let mut observed = Vec::new();
        // The action is in the question already.
        if part.kind != PartKind::Action && part.state != State::Hidden {
            self.observe(
                &Place { evaluator: self.evaluator, env: compiled.policy.env() },
                part.expr.expr(),
                &mut observed,
            );
        }
        let wanted = part.wanted != is_written_otherwise(compiled, part.expr.expr());
        ShownPart {
            part: part.kind,
            text: text(compiled, span),
            line: line(compiled, span),
            wanted,
            state: part.state,
            observed,
        }
    }

    /// Every value that an expression reads from principal, resource and context, once.
    fn observe(&self, place: &Place<'_>, expr: &Expr, into: &mut Vec<Observed>) {
        if let Some(path) = path(expr) {
            let value = place.value(expr).and_then(|value| self.json(&value));
            self.push(path.join("."), value, into);
            return;
        }
        match expr.expr_kind() {
            ExprKind::BinaryApp { op: BinaryOp::In, arg1, .. } => {
                let groups = place.entity(arg1).and_then(|uid| match self.entities.entity(&uid) {
                    Dereference::Data(entity) => Some(self.groups(entity)),
                    Dereference::NoSuchEntity | Dereference::Residual(_) => None,
                });
                let what = path(arg1).map(|path| format!("{} in", path.join(".")));
                if let Some(what) = what {
                    self.push(what, groups, into);
                }
            }
            ExprKind::BinaryApp { arg1, arg2, .. } => {
                self.observe(place, arg1, into);
                self.observe(place, arg2, into);
            }
            // That principal and resource are there, and what they are, is no news.
            ExprKind::HasAttr { expr, .. } | ExprKind::ExtHasAttr { expr, .. } | ExprKind::Is { expr, .. }
                if path(expr).is_none_or(|path| path.len() > 1) =>
            {
                self.observe(place, expr, into);
            }
            ExprKind::GetAttr { expr, .. } | ExprKind::Like { expr, .. } => {
                self.observe(place, expr, into);
            }
            ExprKind::UnaryApp { arg, .. } => self.observe(place, arg, into),
            ExprKind::And { left, right } | ExprKind::Or { left, right } => {
                self.observe(place, left, into);
                self.observe(place, right, into);
            }
            ExprKind::If { test_expr, then_expr, else_expr } => {
                [test_expr, then_expr, else_expr].into_iter().for_each(|expr| self.observe(place, expr, into));
            }
            ExprKind::ExtensionFunctionApp { args, .. } => args.iter().for_each(|arg| self.observe(place, arg, into)),
            ExprKind::Set(items) => items.iter().for_each(|item| self.observe(place, item, into)),
            _ => {}
        }
    }

    fn push(&self, what: String, value: Option<Json>, into: &mut Vec<Observed>) {
        if let Some(value) = value
            && !into.iter().any(|seen| seen.what == what)
        {
            into.push(Observed { what, value });
        }
    }

    fn groups(&self, entity: &Entity) -> Json {
        let seen = entity.ancestors().filter(|uid| self.eyes.sees(uid));
        let mut groups: Vec<&EntityUID> = seen.collect();
        groups.sort_unstable();
        groups.into_iter().map(named).collect()
    }

    /// A value without what may not be seen.
    fn json(&self, value: &Value) -> Option<Json> {
        Some(match value.value_kind() {
            ValueKind::Lit(Literal::Bool(value)) => json!(value),
            ValueKind::Lit(Literal::Long(value)) => json!(value),
            ValueKind::Lit(Literal::String(value)) => json!(value.as_str()),
            ValueKind::Lit(Literal::EntityUID(uid)) if self.eyes.sees(uid) => named(uid),
            ValueKind::Lit(Literal::EntityUID(_)) => return None,
            ValueKind::Set(set) => set.iter().filter_map(|item| self.json(item)).collect(),
            ValueKind::Record(pairs) => {
                pairs.iter().filter_map(|(name, value)| Some((name.to_string(), self.json(value)?))).collect()
            }
            ValueKind::ExtensionValue(_) => json!(value.to_string()),
        })
    }
}

fn named(uid: &EntityUID) -> Json {
    json!({ "type": uid.entity_type().to_string(), "id": AsRef::<str>::as_ref(uid.eid()) })
}

/// Cedar reads `a > b`, `a >= b` and `a != b` as `!(a <= b)`, `!(a < b)` and `!(a == b)`; the author wrote no `!`.
fn is_written_otherwise(compiled: &CompiledPolicy, expr: &Expr) -> bool {
    let ExprKind::BinaryApp { op, arg1, arg2 } = expr.expr_kind() else { return false };
    let (Some(left), Some(right)) = (arg1.source_loc(), arg2.source_loc()) else { return false };
    let length = right.start().saturating_sub(left.end());
    let between = text(compiled, (left.end(), length));
    let operator = between.trim_matches(|c: char| matches!(c, '(' | ')' | ' '));
    match op {
        BinaryOp::LessEq => operator == ">",
        BinaryOp::Less => operator == ">=",
        BinaryOp::Eq => operator == "!=",
        _ => false,
    }
}

/// `principal.team.lead` as its words; none for anything but attributes of a variable.
pub(super) fn path(expr: &Expr) -> Option<Vec<&str>> {
    match expr.expr_kind() {
        ExprKind::Var(Var::Principal) => Some(vec!["principal"]),
        ExprKind::Var(Var::Resource) => Some(vec!["resource"]),
        ExprKind::Var(Var::Context) => Some(vec!["context"]),
        ExprKind::GetAttr { expr, attr } => {
            let mut words = path(expr)?;
            words.push(attr);
            Some(words)
        }
        _ => None,
    }
}
