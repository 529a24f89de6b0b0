//! `ok policy check` and POST /policy/check: what they find, how they tell it, and what they withstand.

mod api;
mod bad_input;
mod blueprints;
mod diff;
mod diff_command;
mod diff_cut;
mod diff_exempt;
mod diff_found;
mod diff_honest;
mod diff_laws;
mod diff_near;
mod diff_schema;
mod diff_scope;
mod diff_unmet;
mod formats;
mod guide;
mod impossible;
mod in_sight;
mod pack;
mod testing;

use ok::gate::explain::fixture;
use ok::policy::check::{Options, Report};
use ok::policy::{Bundle, Finding, codes};

/// Checks a bundle with the product's operations.
pub fn check(bundle: &Bundle) -> Report {
    fixture::check(&ok::nouns::OPERATIONS, bundle, &Options::default())
}

/// The findings of a few files, but for those that a bundle without policies or tests has anyway.
fn findings(files: &[(&str, &str)]) -> Vec<Finding> {
    let report = check(&Bundle::new(files.iter().copied()));
    let partial = |finding: &&Finding| matches!(finding.code, codes::UNTESTED | codes::NO_POLICIES);
    report.findings.iter().chain(report.tests()).filter(|finding| !partial(finding)).cloned().collect()
}

/// Each finding as `file:line code`.
pub fn found(files: &[(&str, &str)]) -> Vec<String> {
    let told = |finding: &Finding| format!("{}:{} {}", finding.file, finding.line, finding.code);
    findings(files).iter().map(told).collect()
}

/// The messages instead.
pub fn messages(files: &[(&str, &str)]) -> Vec<String> {
    findings(files).into_iter().map(|finding| finding.message).collect()
}

/// A formatted policy that permits an operation.
pub fn permit(id: &str, op: &str) -> String {
    format!(
        "@id(\"{id}\")\npermit (\n  principal in Ok::Role::\"admin\",\n  action == Ok::Action::\"{op}\",\n  resource\n);\n"
    )
}

/// A formatted forbid with conditions, from line 8 on.
pub fn forbid(id: &str, op: &str, conditions: &str) -> String {
    format!(
        "@id(\"{id}\")\n@reason(\"no\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"{op}\",\n  resource\n)\n{conditions};\n"
    )
}

/// Compares with `snapshots/policy/<name>.snap`.
pub fn assert_snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/policy"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.add_filter(r"(?m)[ \t]+$", "");
    settings.bind(|| insta::assert_snapshot!(name, text));
}
