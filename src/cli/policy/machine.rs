//! A report as programs read it: JSON, JUnit, SARIF, and the annotations of a GitHub workflow.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::check::Checked;
use crate::policy::codes::{self, Code};
use crate::policy::{Finding, Severity};
use crate::types::visible::steers;

pub fn problem(finding: &Finding) -> Value {
    json!({
        "file": finding.file, "line": finding.line, "span": finding.span, "code": finding.code,
        "severity": finding.severity, "message": finding.message, "help": finding.help,
    })
}

pub fn json(checked: &Checked<'_>) -> Value {
    let report = &checked.report;
    let list = |findings: &mut dyn Iterator<Item = &Finding>| findings.map(problem).collect::<Vec<_>>();
    json!({
        "ok": report.is_clean() && report.is_tested(),
        "policies": report.policies,
        "problems": list(&mut report.findings.iter()),
        "tests": { "run": report.run.asked.len(), "failed": list(&mut report.tests()) },
        "coverage": report.coverage.as_ref().map(|coverage| json!({
            "percent": coverage.percent(), "parts": coverage.parts.len(), "covered": coverage.covered(),
            "open": list(&mut coverage.gaps().iter()),
        })),
        "mutation": report.mutation.as_ref().map(|mutation| json!({
            "percent": mutation.percent(), "mutants": mutation.mutants, "noticed": mutation.killed(),
            "survived": list(&mut mutation.survived.iter()),
        })),
    })
}

/// Lines and columns of a finding, counted from 1; columns count characters.
struct Region {
    line: usize,
    column: usize,
    end_line: usize,
    end_column: usize,
}

fn region(checked: &Checked<'_>, finding: &Finding) -> Region {
    let text = checked.text(&finding.file);
    let (start, length) = finding.span;
    let place = |offset: usize| {
        let before = text.get(..offset.min(text.len())).unwrap_or_default();
        let line = before.rsplit('\n').next().unwrap_or_default();
        (before.matches('\n').count() + 1, line.chars().count() + 1)
    };
    if length == 0 {
        return Region { line: finding.line, column: 1, end_line: finding.line, end_column: 1 };
    }
    let ((line, column), (end_line, end_column)) = (place(start), place(start + length));
    Region { line, column, end_line, end_column }
}

pub fn sarif(checked: &Checked<'_>) -> Value {
    let rule = |code: &Code| {
        json!({
            "id": code.code,
            "shortDescription": { "text": code.title },
            "fullDescription": { "text": code.meaning },
            "help": { "text": code.mend },
            "defaultConfiguration": { "level": code.severity.name() },
        })
    };
    let result = |finding: &Finding| {
        let at = region(checked, finding);
        json!({
            "ruleId": finding.code,
            "level": finding.severity.name(),
            "message": { "text": finding.message },
            "locations": [{ "physicalLocation": {
                "artifactLocation": { "uri": checked.path(&finding.file).replace('\\', "/") },
                "region": {
                    "startLine": at.line, "startColumn": at.column,
                    "endLine": at.end_line, "endColumn": at.end_column,
                },
            } }],
        })
    };
    let open = checked.report.open();
    let results: Vec<Value> = checked.problems().into_iter().chain(&open).map(result).collect();
    json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ok policy check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes::ALL.iter().map(rule).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

/// One suite for the policies, a case a finding or a file that has none; one for the tests, a case a case.
pub fn junit(checked: &Checked<'_>) -> String {
    document("ok policy check", suites(checked))
}

/// Suites as one document.
pub fn document(name: &str, suites: Vec<(&str, Suite)>) -> String {
    let sum = |of: fn(&Suite) -> usize| suites.iter().map(|(_, suite)| of(suite)).sum::<usize>();
    let (count, failures) = (sum(|suite| suite.count), sum(|suite| suite.failures));
    let body: String = suites.into_iter().map(|(name, suite)| suite.close(name)).collect();
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{name}\" tests=\"{count}\" failures=\"{failures}\">\n{body}</testsuites>\n"
    )
}

pub fn suites(checked: &Checked<'_>) -> Vec<(&'static str, Suite)> {
    let report = &checked.report;
    let mut policies = Suite::default();
    let mut tests = Suite::default();
    for file in checked.bundle.files.keys() {
        let found: Vec<&Finding> = report.findings.iter().filter(|finding| finding.file == *file).collect();
        if found.is_empty() {
            policies.case(&checked.path(file), file, None);
        }
        found.into_iter().for_each(|finding| policies.failed(checked, finding));
    }
    let elsewhere = report.findings.iter().filter(|finding| !checked.bundle.files.contains_key(&finding.file));
    elsewhere.for_each(|finding| policies.failed(checked, finding));
    for ran in report.run.asked.iter().filter(|ran| ran.passed) {
        tests.case(&checked.path(&ran.file), &format!("{}:{} {}", ran.file, ran.line, ran.name), None);
    }
    report.tests().for_each(|finding| tests.failed(checked, finding));
    vec![("policies", policies), ("tests", tests)]
}

#[derive(Default)]
pub struct Suite {
    body: String,
    count: usize,
    failures: usize,
}

impl Suite {
    /// A case; it fails with `failure`, an element.
    fn case(&mut self, class: &str, name: &str, failure: Option<&str>) {
        self.count += 1;
        let _ = write!(self.body, "    <testcase classname=\"{}\" name=\"{}\"", xml(class), xml(name));
        match failure {
            None => self.body.push_str("/>\n"),
            Some(failure) => {
                self.failures += 1;
                let _ = writeln!(self.body, ">\n      {failure}\n    </testcase>");
            }
        }
    }

    pub fn passed(&mut self, class: &str, name: &str) {
        self.case(class, name, None);
    }

    pub fn broken(&mut self, class: &str, name: &str, kind: &str, message: &str) {
        let message = xml(message);
        self.case(class, name, Some(&format!("<failure type=\"{kind}\" message=\"{message}\">{message}</failure>")));
    }

    pub fn skipped(&mut self, class: &str, name: &str, why: &str) {
        self.count += 1;
        let (class, name, why) = (xml(class), xml(name), xml(why));
        let _ = writeln!(
            self.body,
            "    <testcase classname=\"{class}\" name=\"{name}\"><skipped message=\"{why}\"/></testcase>"
        );
    }

    fn failed(&mut self, checked: &Checked<'_>, finding: &Finding) {
        let place = format!("{}:{}", checked.path(&finding.file), finding.line);
        let failure = format!(
            "<failure type=\"{}\" message=\"{}\">{}</failure>",
            finding.code,
            xml(&finding.message),
            xml(&format!("{place}: {}", finding.message))
        );
        let name = format!("{}:{} {}", finding.file, finding.line, finding.code);
        self.case(&checked.path(&finding.file), &name, Some(&failure));
    }

    fn close(self, name: &str) -> String {
        let Suite { body, count, failures } = self;
        format!("  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\">\n{body}  </testsuite>\n")
    }
}

/// Text in XML 1.0, which knows no control characters.
fn xml(text: &str) -> String {
    let mut escaped = String::new();
    for c in text.chars() {
        match c {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\n' | '\t' => escaped.push(' '),
            _ if matches!(c, '\u{fffe}' | '\u{ffff}') => escaped.push('?'),
            _ if steers(c) => escaped.extend(c.escape_default()),
            _ => escaped.push(c),
        }
    }
    escaped
}

/// A workflow command about no file in particular.
pub fn remark(level: &str, title: &str, message: &str) -> String {
    format!("::{level} title={}::{}\n", property(title), data(message))
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Workflow commands, a line each.
pub fn github(checked: &Checked<'_>) -> String {
    let open = checked.report.open();
    let mut text = String::new();
    for finding in checked.problems().into_iter().chain(&open) {
        let at = region(checked, finding);
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        };
        let file = property(&checked.path(&finding.file));
        let _ = writeln!(
            text,
            "::{level} file={file},line={},endLine={},title={}::{}",
            at.line,
            at.end_line,
            property(finding.code),
            data(&finding.message)
        );
    }
    text
}

/// A workflow command ends with its line; so nothing in it may begin another.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
