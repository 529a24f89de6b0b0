//! A checked folder of policies, which people and machines are told of.

use std::path::Path;

use crate::policy::check::Report;
use crate::policy::{Bundle, Finding};

/// A report with the files that it is about.
pub struct Checked<'a> {
    pub dir: &'a Path,
    pub bundle: &'a Bundle,
    pub report: Report,
}

impl Checked<'_> {
    /// Everything that keeps the command from ending with 0.
    pub fn problems(&self) -> Vec<&Finding> {
        self.report.findings.iter().chain(self.report.tests()).collect()
    }

    /// The path of a file as the caller has it.
    pub fn path(&self, file: &str) -> String {
        self.dir.join(file).display().to_string()
    }

    pub fn text(&self, file: &str) -> &str {
        self.bundle.files.get(file).map(String::as_str).unwrap_or_default()
    }
}
