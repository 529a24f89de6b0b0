//! Formats a report for programs: JSON, JUnit, SARIF, and annotations of GitHub workflows.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use url::Url;

use super::super::exit::Failure;
use super::checked::Checked;
use crate::config;
use crate::policy::bundle::is_test;
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

/// The lines and columns of a finding, counted from 1; columns count characters.
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

/// Returns a fingerprint that stays the same when a finding moves to another line; equal ones in a file are numbered.
fn fingerprint(finding: &Finding, seen: &mut BTreeMap<String, usize>) -> String {
    let what = format!("{}\n{}\n{}", finding.code, finding.file, unplaced(&finding.message));
    let number = seen.entry(what.clone()).and_modify(|number| *number += 1).or_insert(1);
    hex::encode(Sha256::digest(format!("{what}\n{number}")))
}

/// Removes the line numbers of other findings from a message: `(a.cedar:12)`.
fn unplaced(message: &str) -> String {
    let mut parts = message.split(':');
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| format!("{text}:{}", part.trim_start_matches(|c: char| c.is_ascii_digit())))
}

/// Returns the address at which the company has published `docs/reference/findings.md`, if any: the program knows no address
/// itself.
fn published() -> Result<Option<String>, Failure> {
    let Some(page) = config::FINDINGS_URL.value() else { return Ok(None) };
    let is_page = Url::parse(&page)
        .is_ok_and(|url| matches!(url.scheme(), "https" | "http") && url.has_host() && url.fragment().is_none());
    if is_page {
        return Ok(Some(page));
    }
    let name = config::FINDINGS_URL.variable;
    Err(Failure::Usage(format!("{name} must be the address of a page, such as `https://docs.example.com/findings`")))
}

/// Builds a SARIF rule with everything that the code's page says, since a link may be dead.
fn rule(code: &Code, page: Option<&str>) -> Value {
    let mut rule = json!({
        "id": code.code,
        "shortDescription": { "text": code.title },
        "fullDescription": { "text": code.meaning },
        "help": {
            "text": format!("{}\n\nWhat to do: {}", code.meaning, code.mend),
            "markdown": format!("{}\n\n**What to do:** {}", code.meaning, code.mend),
        },
        "defaultConfiguration": { "level": code.severity.name() },
    });
    if let (Some(page), Some(rule)) = (page, rule.as_object_mut()) {
        rule.insert("helpUri".to_owned(), json!(format!("{page}#{}", code.code)));
    }
    rule
}

pub fn sarif(checked: &Checked<'_>) -> Result<Value, Failure> {
    let page = published()?;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut result = |finding: &Finding| {
        let at = region(checked, finding);
        json!({
            "ruleId": finding.code,
            "level": finding.severity.name(),
            "message": { "text": finding.message },
            "partialFingerprints": { "okFinding/v1": fingerprint(finding, &mut seen) },
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
    let results: Vec<Value> = checked.problems().into_iter().chain(&open).map(&mut result).collect();
    Ok(json!({
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "ok policy check",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": codes::ALL.iter().map(|code| rule(code, page.as_deref())).collect::<Vec<_>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    }))
}

/// Formats one suite for the policies with a case per file, and one for the tests with a case per case. No name contains a
/// result or a line.
pub fn junit(checked: &Checked<'_>) -> String {
    document("ok policy check", suites(checked))
}

/// Formats suites as one document.
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
    let (mut policies, mut tests) = (Suite::default(), Suite::default());
    let files: BTreeSet<&String> =
        checked.bundle.files.keys().chain(report.findings.iter().map(|finding| &finding.file)).collect();
    for file in files {
        let found: Vec<&Finding> = report.findings.iter().filter(|finding| finding.file == *file).collect();
        policies.report(checked, file, file, &found);
    }
    let unread = |file: &String| -> Vec<&Finding> {
        let of_file = report.run.invalid.iter().filter(|finding| finding.file == *file);
        of_file.filter(|finding| !report.run.cases.iter().any(|case| case.wrong.as_ref() == Some(finding))).collect()
    };
    for file in checked.bundle.files.keys().filter(|file| is_test(file)) {
        tests.report(checked, file, file, &unread(file));
    }
    let mut seen: BTreeMap<(&str, &str), usize> = BTreeMap::new();
    for case in &report.run.cases {
        let number = seen.entry((&case.file, &case.name)).and_modify(|number| *number += 1).or_insert(1);
        let name = if *number == 1 { case.name.clone() } else { format!("{} ({number})", case.name) };
        tests.report(checked, &case.file, &name, &case.wrong.iter().collect::<Vec<_>>());
    }
    let measures = [
        ("cases", codes::NO_TESTS, report.loads()),
        ("coverage", codes::COVERAGE, report.coverage.is_some()),
        ("mutants", codes::MUTATION, report.mutation.is_some()),
    ];
    for (name, code, measured) in measures {
        let found: Vec<&Finding> = report.too_little.iter().filter(|finding| finding.code == code).collect();
        match measured {
            true => tests.report(checked, "tests", name, &found),
            false => tests.skipped(&checked.path("tests"), name, "not measured"),
        }
    }
    vec![("policies", policies), ("tests", tests)]
}

#[derive(Default)]
pub struct Suite {
    body: String,
    count: usize,
    failures: usize,
}

impl Suite {
    /// Adds a case, which fails if there is a `failure` element.
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

    /// Adds a case that fails with all its findings.
    fn report(&mut self, checked: &Checked<'_>, file: &str, name: &str, found: &[&Finding]) {
        let class = checked.path(file);
        let Some(first) = found.first() else { return self.passed(&class, name) };
        let place = |finding: &&Finding| {
            let place = format!("{}:{}", checked.path(&finding.file), finding.line);
            xml(&format!("{place}: {} [{}]", finding.message, finding.code))
        };
        let text: Vec<String> = found.iter().map(place).collect();
        let failure = format!(
            "<failure type=\"{}\" message=\"{}\">{}</failure>",
            first.code,
            xml(&first.message),
            text.join("\n")
        );
        self.case(&class, name, Some(&failure));
    }

    fn close(self, name: &str) -> String {
        let Suite { body, count, failures } = self;
        format!("  <testsuite name=\"{name}\" tests=\"{count}\" failures=\"{failures}\">\n{body}  </testsuite>\n")
    }
}

/// Escapes text for XML 1.0, which has no control characters.
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

/// Formats a workflow command about no particular file.
pub fn remark(level: &str, title: &str, message: &str) -> String {
    format!("::{level} title={}::{}\n", property(title), data(message))
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// Formats the findings as workflow commands, one per line.
pub fn github(checked: &Checked<'_>) -> String {
    let open = checked.report.open();
    let mut text = String::new();
    for finding in checked.problems().into_iter().chain(&open) {
        let at = region(checked, finding);
        let level = match finding.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "notice",
        };
        let file = property(&checked.path(&finding.file));
        let Region { line, column, end_line, end_column } = at;
        // Columns are valid only within a single line; end columns are inclusive.
        let columns = match line == end_line && end_column > column {
            true => format!(",col={column},endColumn={}", end_column - 1),
            false => String::new(),
        };
        let (title, message) = (property(finding.code), data(&finding.message));
        let _ =
            writeln!(text, "::{level} file={file},line={line},endLine={end_line}{columns},title={title}::{message}");
    }
    text
}

/// Escapes the data of a workflow command, which ends with its line: nothing in it may start another.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}
