//! Turns a schema and a bundle into policies that are fit to serve, or into a list of everything that is wrong with
//! them.
//!
//! Always true: all problems are reported at once, except that an invalid schema is reported alone; a policy that is
//! too large, or is a template, is not examined further; a policy is identified by its `@id`, and by its place until it
//! has one.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

use cedar_policy::{
    ActionConstraint, EntityUid, Policy, PolicyId, PolicySet, Schema, ValidationError, ValidationMode,
    ValidationResult, ValidationWarning, Validator,
};
use cedar_policy_core::ast::EntityType;
use cedar_policy_core::parser::Loc;

use super::alike;
use super::approvals;
use super::built_in::{self, Passed};
use super::compiled::CompiledPolicy;
use super::near::Names;
use super::ruling::{Effect, PolicyMeta};
use super::schema;
use super::snapshot::{Parts, Snapshot};
use crate::approvals::{self as approval_file, ApprovalRules};
use crate::bundle::is_policy;
use crate::finding::{MARK, MARKED, SCHEMA_FILE, Source, Sources, code};
use crate::lexer::out_of_bounds;
use crate::limits::{self, Limits};
use crate::stack::{deep, each};
use crate::{Bundle, Finding, brain, kinds, views, yaml};
use types::effort;

/// The most nodes that the conditions of one policy may have.
const MAX_NODES: usize = 1_000;
/// How many references a policy may follow, one after the other; the slices of entities reach as far.
pub(super) const MAX_HOPS: u32 = 2;
/// Policies that one thread validates at a time, where there are so many kinds of questions; fewer where there are more.
const PART: usize = 50;
const KINDS: usize = 500;
/// The most bytes of all policies: compiled, they take many times as much.
const MAX_BYTES: usize = 4 << 20;
/// How often validation looks at a policy, over all: one look takes some 40 µs.
const MAX_LOOKS: usize = 200_000;
/// The most mistakes that are told of one file.
const MAX_REPORTED: usize = 50;

/// Whether policies are validated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Validation {
    Always,
    /// All but those that have passed when the program was built.
    UnlessBuiltIn,
}

impl Snapshot {
    /// Loads a bundle against a schema, or tells everything that is wrong with it.
    pub fn load(schema: &str, bundle: &Bundle) -> Result<Self, Vec<Finding>> {
        let parts = deep(|| load(schema, bundle, Validation::UnlessBuiltIn))?;
        Ok(Self::of(bundle.hash(), parts))
    }
}

/// The digest of a schema and a bundle that pass, or everything that is wrong with them.
pub fn validated(schema: &str, bundle: &Bundle) -> Result<String, Vec<Finding>> {
    deep(|| load(schema, bundle, Validation::Always))?;
    Ok(built_in::digest(&kinds::schema_for(schema, bundle), bundle))
}

/// Loads everything, or tells everything.
pub(super) fn load(ours: &str, bundle: &Bundle, validation: Validation) -> Result<Parts, Vec<Finding>> {
    let mut findings = Vec::from_iter(kinds::unreadable(bundle));
    let vocabulary = schema::read(ours, bundle).map_err(|found| findings.extend(found));
    let (collections, unread) = brain::read(bundle);
    findings.extend(unread);
    // What policies may name is not known: whatever else were told would only follow from it.
    let Some(vocabulary) = vocabulary.ok().filter(|_| findings.is_empty()) else { return Err(findings) };
    let mut loading = Loading::new(vocabulary.kind_type.clone());
    let (views, unread) = views::read(bundle, &collections);
    loading.findings.extend(unread);
    let mut bytes = 0;
    for (file, text) in bundle.files.iter().filter(|(file, _)| is_policy(file)) {
        bytes += text.len();
        if bytes > MAX_BYTES {
            let message = format!("the policies come to more than {MAX_BYTES} bytes here");
            loading.findings.push(Finding::new(code::TOO_LARGE, file.as_str(), 1, (0, 1), message));
            break;
        }
        loading.file(file, text);
    }
    let approvals = loading.approval_rules(bundle);
    let schema = &vocabulary.schema;
    let limits = loading.limits(bundle, schema);
    let spares = vocabulary.extends_built_in && validation == Validation::UnlessBuiltIn;
    let passed = spares.then(|| Passed::under(schema)).flatten();
    loading.validate(schema, bundle, passed.as_ref());
    if !loading.findings.is_empty() {
        loading.findings.sort_unstable();
        loading.findings.dedup();
        return Err(loading.findings);
    }
    let mut policies: Vec<CompiledPolicy> = loading.policies.into_values().collect();
    alike::share(&mut policies);
    Ok(Parts { vocabulary, policies, set: loading.set, approvals, limits, collections, views })
}

/// What was read so far.
struct Loading {
    kind_type: EntityType,
    sources: Sources,
    findings: Vec<Finding>,
    /// By id.
    policies: BTreeMap<String, CompiledPolicy>,
    set: PolicySet,
}

impl Loading {
    fn new(kind_type: EntityType) -> Self {
        let (sources, findings) = (Sources::new(), Vec::new());
        Self { kind_type, sources, findings, policies: BTreeMap::new(), set: PolicySet::new() }
    }

    /// The rules of `approvals.yaml`. Its kinds are in the schema already.
    fn approval_rules(&mut self, bundle: &Bundle) -> ApprovalRules {
        let parsed = bundle.files.get(approval_file::FILE).map(|text| ApprovalRules::parse(text)).transpose();
        parsed.map(Option::unwrap_or_default).unwrap_or_else(|error| {
            let file = approval_file::FILE;
            self.findings.push(Finding::new(code::APPROVALS_FILE, file, error.line, (0, 0), error.message));
            ApprovalRules::default()
        })
    }

    /// The limits of `limits.yaml`; each is for operations of the schema.
    fn limits(&mut self, bundle: &Bundle, schema: &Schema) -> Limits {
        let Some(text) = bundle.files.get(limits::FILE) else { return Limits::usual() };
        let finding = |line, message| Finding::new(code::LIMITS_FILE, limits::FILE, line, (0, 0), message);
        let limits = Limits::parse(text).unwrap_or_else(|error| {
            self.findings.push(finding(error.line, error.message));
            Limits::default()
        });
        let known = |name: &String| schema.actions().any(|action| action.id().unescaped() == name);
        for (name, rate) in &limits.rates {
            let named = [("operations", &rate.operations), ("except", &rate.except)];
            let named = named.into_iter().flat_map(|(field, names)| names.iter().map(move |name| (field, name)));
            for (field, operation) in named.filter(|(_, operation)| !known(operation)) {
                let line = yaml::line_of(text, &["rates", name, field]);
                self.findings.push(finding(line, format!("rates.{name}.{field}: there is no operation `{operation}`")));
            }
        }
        limits
    }

    fn file(&mut self, file: &str, text: &str) {
        effort::spend(1 + text.len() / 16);
        let source = Source::new(file, text);
        if text.starts_with(MARK) {
            self.findings.push(source.finding(code::PARSE, (0, MARK.len_utf8()), MARKED));
            return;
        }
        if let Some((at, what)) = out_of_bounds(text) {
            self.findings.push(source.finding(code::TOO_LARGE, (at, 1), what));
            return;
        }
        match PolicySet::from_str(text) {
            Err(errors) => {
                let findings = errors
                    .iter()
                    .take(MAX_REPORTED)
                    .map(|error| source.diagnostic(code::PARSE, error, (0, text.len())));
                self.findings.extend(findings);
            }
            Ok(set) => {
                for template in set.templates() {
                    let span = span(template.as_ref().loc());
                    self.findings.push(source.finding(
                        code::TEMPLATE,
                        span,
                        "a template; links are data, not policies",
                    ));
                }
                let mut policies: Vec<&Policy> = set.policies().collect();
                policies.sort_by_key(|policy| span(policy.as_ref().loc()));
                policies.into_iter().for_each(|policy| self.policy(&source, policy));
            }
        }
        self.sources.insert(file.to_owned(), source);
    }

    fn policy(&mut self, source: &Source, policy: &Policy) {
        let span = span(policy.as_ref().loc());
        let id = self.id(source, policy, span);
        let policy = policy.new_id(PolicyId::new(&id));
        if policy.effect() == cedar_policy::Effect::Forbid && annotation(&policy, "reason").is_none() {
            self.findings.push(source.finding(code::NO_REASON, span, format!("the forbid `{id}` has no @reason")));
        }
        let nodes = policy.as_ref().non_scope_constraints().map_or(0, |condition| condition.subexpressions().count());
        if nodes > MAX_NODES {
            let message = format!("the conditions of `{id}` have {nodes} parts; the most is {MAX_NODES}");
            self.findings.push(source.finding(code::TOO_LARGE, span, message));
            return;
        }
        let lint = approvals::lint(policy.as_ref(), &self.kind_type);
        let findings = lint.wrong.iter().map(|(place, message)| {
            let span = place.source_loc().map_or(span, |loc| self::span(Some(loc)));
            source.finding(code::APPROVALS, span, *message)
        });
        self.findings.extend(findings);
        let meta = meta(source, &policy, id.clone(), lint.kinds);
        let compiled = CompiledPolicy::new(policy.as_ref().clone(), meta);
        if self.set.add(policy).is_ok() {
            self.policies.insert(id, compiled);
        }
    }

    /// The `@id`; a place instead where there is none, or another policy has it.
    fn id(&mut self, source: &Source, policy: &Policy, span: (usize, usize)) -> String {
        let place = format!("{}:{}", source.file, span.0);
        let Some(id) = annotation(policy, "id") else {
            self.findings.push(source.finding(code::NO_ID, span, "the policy has no @id"));
            return place;
        };
        match self.policies.get(&id) {
            None => id,
            Some(first) => {
                let message = format!("the @id `{id}` is taken by {}:{}", first.meta.file, first.meta.line);
                self.findings.push(source.finding(code::DUPLICATE_ID, span, message));
                place
            }
        }
    }

    /// Validation looks at every policy once for each kind of question that it could be about: how often, over all, because
    /// of the company's own actions.
    fn looks(&self, schema: &Schema) -> usize {
        let mut kinds: BTreeMap<EntityUid, usize> = BTreeMap::new();
        let own = schema.request_envs().filter(|kind| kind.action().type_name().namespace() != "Ok");
        own.for_each(|kind| *kinds.entry(kind.action().clone()).or_default() += 1);
        let all: usize = kinds.values().sum();
        let looks = |policy: &Policy| match policy.action_constraint() {
            ActionConstraint::Any => all,
            ActionConstraint::Eq(uid) => kinds.get(&uid).copied().unwrap_or_default(),
            // What is no action of theirs may be a group that any of them is in.
            ActionConstraint::In(uids) => {
                uids.iter().map(|uid| kinds.get(uid).copied().unwrap_or(all)).sum::<usize>().min(all)
            }
        };
        self.set.policies().map(looks).sum()
    }

    /// The policies that have not passed yet, in sets of a few.
    fn parts(&self, schema: &Schema, bundle: &Bundle, passed: Option<&Passed>) -> Vec<PolicySet> {
        let has_passed = |policy: &&Policy| {
            let file = self.policies.get(AsRef::<str>::as_ref(policy.id())).map(|compiled| compiled.meta.file.as_str());
            let (Some(file), Some(passed)) = (file, passed) else { return false };
            passed.has(file, bundle.files.get(file), policy.as_ref())
        };
        let policies: Vec<Policy> = self.set.policies().filter(|policy| !has_passed(policy)).cloned().collect();
        let part = (PART * KINDS / schema.request_envs().count().max(KINDS)).max(1);
        let parts = policies.chunks(part).map(|part| PolicySet::from_policies(part.iter().cloned()).ok());
        parts.collect::<Option<_>>().unwrap_or_else(|| vec![self.set.clone()])
    }

    /// Strict validation, its warnings, and the number of hops.
    fn validate(&mut self, schema: &Schema, bundle: &Bundle, passed: Option<&Passed>) {
        let looks = self.looks(schema);
        if looks > MAX_LOOKS {
            let message = format!(
                "policies and the pairs of types that their actions apply to come to {looks} combinations: the most is \
                 {MAX_LOOKS}; name actions in the policies' heads, or let fewer types do and take an action"
            );
            self.findings.push(Finding::new(code::TOO_LARGE, SCHEMA_FILE, 1, (0, 0), message));
            return;
        }
        // Each policy is judged by itself.
        let parts = self.parts(schema, bundle, passed);
        if parts.is_empty() {
            return;
        }
        let validator = Validator::new(schema.clone());
        let names = Names::of(schema);
        let results = each(&parts, |set| validator.validate_with_level(set, ValidationMode::Strict, MAX_HOPS));
        // What cannot match because a name in it is wrong, or for two reasons, is told once.
        let mut reported: BTreeSet<String> = BTreeSet::new();
        // So is what is wrong with each of the actions or types that a policy applies to.
        let mut places: BTreeSet<(String, (usize, usize), &str)> = BTreeSet::new();
        for error in results.iter().flat_map(ValidationResult::validation_errors) {
            let code = match error {
                ValidationError::EntityDerefLevelViolation(_) => code::LEVEL,
                _ => code::INVALID,
            };
            let finding = self.finding(code, error.policy_id(), error);
            let is_new = |finding: &Finding| places.insert((finding.file.clone(), finding.span, code));
            if let Some(finding) = finding.filter(is_new) {
                let text = bundle.files.get(&finding.file).map(String::as_str).unwrap_or_default();
                self.findings.push(Finding { help: names.help(error, &finding, text), ..finding });
            }
            reported.insert(error.policy_id().to_string());
        }
        let never = |warning: &ValidationWarning| match warning {
            ValidationWarning::InvalidActionApplication(_) => Some(0),
            ValidationWarning::ImpossiblePolicy(_) => Some(1),
            _ => None,
        };
        let mut warnings: Vec<&ValidationWarning> =
            results.iter().flat_map(ValidationResult::validation_warnings).collect();
        warnings.sort_by_key(|warning| never(warning));
        for warning in warnings {
            let code = if never(warning).is_some() { code::NEVER } else { code::WARNING };
            if code == code::WARNING || reported.insert(warning.policy_id().to_string()) {
                let finding = self.finding(code, warning.policy_id(), warning);
                self.findings.extend(finding);
            }
        }
    }

    fn finding(&self, code: &'static str, id: &PolicyId, diagnostic: &dyn miette::Diagnostic) -> Option<Finding> {
        let id: &str = id.as_ref();
        let compiled = self.policies.get(id)?;
        let source = self.sources.get(&compiled.meta.file)?;
        Some(source.diagnostic(code, diagnostic, span(compiled.policy.loc())))
    }
}

fn meta(source: &Source, policy: &Policy, id: String, kinds: Vec<String>) -> PolicyMeta {
    let loc = policy.as_ref().loc();
    PolicyMeta {
        id,
        effect: match policy.effect() {
            cedar_policy::Effect::Permit => Effect::Permit,
            cedar_policy::Effect::Forbid => Effect::Forbid,
        },
        reason: annotation(policy, "reason"),
        title: annotation(policy, "title"),
        runbook: annotation(policy, "runbook"),
        file: source.file.clone(),
        line: source.line(span(loc).0),
        text: loc.and_then(Loc::snippet).unwrap_or_default().to_owned(),
        kinds,
    }
}

/// An annotation that says something.
fn annotation(policy: &Policy, name: &str) -> Option<String> {
    // Cedar's own lookup parses the name.
    let (_, text) = policy.annotations().find(|(key, _)| *key == name)?;
    Some(text).filter(|text| !text.trim().is_empty()).map(str::to_owned)
}

pub(super) fn span(loc: Option<&Loc>) -> (usize, usize) {
    loc.map_or((0, 0), |loc| (loc.start(), loc.end() - loc.start()))
}
