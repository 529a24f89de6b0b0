//! A finding: one defect of a bundle, worded so that its author can fix it.
//!
//! Always true: a finding names a stable code, a file of the bundle and a line; findings are sorted by file and line.

use std::collections::BTreeMap;

use serde::Serialize;

pub use super::codes as code;
pub use super::codes::Severity;

/// The file that a finding in the schema names.
pub const SCHEMA_FILE: &str = "schema.cedarschema";

/// What some editors put before a text.
pub(super) const MARK: char = '\u{feff}';
pub(super) const MARKED: &str = "the file begins with a byte order mark: save it as UTF-8 without one";

/// One thing wrong with a bundle. A bundle with an error does not load.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Bytes of the file: where it starts, and how long it is.
    pub span: (usize, usize),
    /// One of [`code`].
    pub code: &'static str,
    pub severity: Severity,
    pub message: String,
    pub help: Option<String>,
}

impl Finding {
    pub fn new(
        code: &'static str,
        file: impl Into<String>,
        line: usize,
        span: (usize, usize),
        message: impl Into<String>,
    ) -> Finding {
        let severity = code::of(code).map_or(Severity::Error, |entry| entry.severity);
        Finding { file: file.into(), line, span, code, severity, message: message.into(), help: None }
    }

    #[must_use]
    pub fn helped(self, help: impl Into<String>) -> Finding {
        Finding { help: Some(help.into()), ..self }
    }
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}: {} [{}]", self.file, self.line, self.message, self.code)
    }
}

/// One file of the bundle with its line starts, so that an offset becomes a line in logarithmic time.
pub(super) struct Source {
    pub file: String,
    starts: Vec<usize>,
}

impl Source {
    pub fn new(file: &str, text: &str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { file: file.to_owned(), starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    pub fn finding(&self, code: &'static str, span: (usize, usize), message: impl Into<String>) -> Finding {
        Finding::new(code, self.file.as_str(), self.line(span.0), span, message)
    }

    /// The finding that a Cedar diagnostic tells, with its first label as the span, or else `fallback`.
    pub fn diagnostic(
        &self,
        code: &'static str,
        diagnostic: &dyn miette::Diagnostic,
        fallback: (usize, usize),
    ) -> Finding {
        let label = diagnostic.labels().and_then(|mut labels| labels.next());
        let span = label.map_or(fallback, |label| (label.offset(), label.len()));
        let help = diagnostic.help().map(|help| help.to_string());
        Finding { help, ..self.finding(code, span, with_causes(diagnostic)) }
    }
}

/// A message and its causes, joined as one sentence.
fn with_causes(diagnostic: &dyn miette::Diagnostic) -> String {
    let mut message = diagnostic.to_string();
    let mut cause = diagnostic.source();
    while let Some(error) = cause {
        message = format!("{message}: {error}");
        cause = error.source();
    }
    message
}

/// The sources by file name.
pub(super) type Sources = BTreeMap<String, Source>;
