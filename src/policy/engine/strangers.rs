//! Actors and teams that policies name but nobody knows: a slip of the pen that passes validation, and with which a
//! forbid applies to nobody.

use std::collections::BTreeSet;

use cedar_policy_core::ast::{EntityUID, ExprKind, Literal};

use super::compiled::CompiledPolicy;
use super::parts::{line, place};
use super::snapshot::Snapshot;
use crate::Finding;
use crate::finding::code;

impl Snapshot {
    /// A finding for each actor or team that a policy, an escalation or a budget names and that is not among those who are there.
    /// Given the texts of both files, to say where.
    pub fn strangers(&self, known: &BTreeSet<String>, approvals: &str, limits: &str) -> Vec<Finding> {
        let mut findings = self.limits().strangers(known, limits);
        findings.extend(self.approvals().strangers(known, approvals));
        for compiled in &self.policies {
            for part in compiled.condition.subexpressions() {
                let ExprKind::Lit(Literal::EntityUID(uid)) = part.expr_kind() else { continue };
                let what = match uid.entity_type().to_string().as_str() {
                    "Ok::Actor" => "actor",
                    "Ok::Team" => "team",
                    _ => continue,
                };
                let id: &str = uid.eid().as_ref();
                if !known.contains(id) {
                    let span = stands(uid, compiled).unwrap_or_else(|| place(part, compiled));
                    let (meta, line) = (&compiled.meta, line(compiled, span));
                    let id = id.escape_debug();
                    let message = format!("the policy `{}` names the {what} `{id}`, which does not exist", meta.id);
                    findings.push(Finding::new(code::STRANGER, meta.file.as_str(), line, span, message));
                }
            }
        }
        findings
    }
}

/// Where an entity is first named: what stands in a scope has no place of its own.
fn stands(uid: &EntityUID, compiled: &CompiledPolicy) -> Option<(usize, usize)> {
    let named = uid.to_string();
    let begin = compiled.policy.loc().map_or(0, |loc| loc.start());
    Some((begin + compiled.meta.text.find(&named)?, named.len()))
}
