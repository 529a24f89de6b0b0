//! Formats a report for people: each finding with the lines it is about.

use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, MietteDiagnostic, NamedSource, Report, Severity};

use super::super::exit::Failure;
use super::super::show;
use super::checked::Checked;
use crate::policy::codes;
use crate::policy::{Finding, Severity as Weight};
use crate::types::visible::steers;

/// The maximum number of findings shown; others are only counted.
const MOST: usize = 100;

pub(super) fn show(checked: &Checked<'_>) -> Result<(), Failure> {
    show::painted(&format!("{}{}\n", findings(checked), summary(checked)))
}

/// Formats what prevents exit code 0, and what the tests leave uncovered.
pub fn findings(checked: &Checked<'_>) -> String {
    let handler = handler();
    let open = checked.report.open();
    let reported: Vec<&Finding> = checked.problems().into_iter().chain(&open).collect();
    let mut text = String::new();
    for finding in reported.iter().take(MOST) {
        one(&handler, checked, finding, &mut text);
    }
    if let Some(more) = reported.len().checked_sub(MOST).filter(|more| *more > 0) {
        text.push_str(&format!("and {more} more\n\n"));
    }
    text
}

fn handler() -> GraphicalReportHandler {
    let colour = show::is_coloured();
    let theme = if colour { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    GraphicalReportHandler::new_themed(theme).with_width(100).with_context_lines(1).with_links(false)
}

fn one(handler: &GraphicalReportHandler, checked: &Checked<'_>, finding: &Finding, into: &mut String) {
    let severity = match finding.severity {
        Weight::Error => Severity::Error,
        Weight::Warning => Severity::Warning,
        Weight::Note => Severity::Advice,
    };
    let mut diagnostic =
        MietteDiagnostic::new(show::visible(&finding.message)).with_code(finding.code).with_severity(severity);
    let help = finding.help.clone().or_else(|| codes::of(finding.code).map(|code| code.mend.to_owned()));
    if let Some(help) = help {
        diagnostic = diagnostic.with_help(show::visible(&help));
    }
    let path = show::visible(&checked.path(&finding.file));
    let text = harmless(checked.text(&finding.file));
    let (start, length) = finding.span;
    // Of long spans, only the first line is shown: the position is what matters.
    let first = text.get(start..start + length).and_then(|span| span.lines().next()).map(str::len);
    let report = match first.filter(|_| !text.is_empty() && length > 0) {
        Some(first) => {
            diagnostic = diagnostic.with_label(LabeledSpan::underline(start..start + first));
            Report::new(diagnostic).with_source_code(NamedSource::new(path, text))
        }
        None => {
            diagnostic.message = format!("{path}:{}: {}", finding.line, diagnostic.message);
            Report::new(diagnostic)
        }
    };
    let _ = handler.render_report(into, report.as_ref());
    into.push('\n');
}

/// Replaces every control character by as many bytes.
fn harmless(text: &str) -> String {
    text.chars().map(|c| if steers(c) { "?".repeat(c.len_utf8()) } else { c.to_string() }).collect()
}

/// Formats a summary like `12 policies, 64 tests, coverage 100 %`.
fn summary(checked: &Checked<'_>) -> String {
    let report = &checked.report;
    let of = |severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    let mut said = vec![];
    for (number, what) in [(of(Weight::Error), "error"), (of(Weight::Warning), "warning")] {
        said.extend((number > 0).then(|| count(number, what)));
    }
    match (report.cut_short, report.loads()) {
        (true, _) => return format!("{}; nothing else was checked", said.join(", ")),
        (_, false) if report.run.asked.is_empty() => return format!("{}; the tests were not run", said.join(", ")),
        _ => {}
    }
    said.push(if report.policies == 1 { "1 policy".into() } else { format!("{} policies", report.policies) });
    said.push(count(report.run.asked.len(), "test"));
    let failed = report.run.invalid.len() + report.run.failed.len();
    said.extend((failed > 0).then(|| format!("{failed} failed")));
    said.extend(report.coverage.as_ref().map(|coverage| format!("coverage {} %", coverage.percent())));
    said.extend(report.mutation.as_ref().map(|mutation| {
        format!("mutants noticed {} % ({} of {})", mutation.percent(), mutation.killed(), mutation.mutants)
    }));
    said.join(", ")
}

pub fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
