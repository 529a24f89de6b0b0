//! A checked folder of policies, for reports to people and machines.

use std::path::Path;

use crate::policy::check::Report;
use crate::policy::{Bundle, Finding};

/// A report with its files.
pub struct Checked<'a> {
    pub dir: &'a Path,
    pub bundle: &'a Bundle,
    pub report: Report,
}

impl Checked<'_> {
    /// Returns everything that prevents exit code 0.
    pub fn problems(&self) -> Vec<&Finding> {
        self.report.findings.iter().chain(self.report.tests()).collect()
    }

    /// Returns a file's path as the caller knows it.
    pub fn path(&self, file: &str) -> String {
        self.dir.join(file).display().to_string()
    }

    pub fn text(&self, file: &str) -> &str {
        self.bundle.files.get(file).map(String::as_str).unwrap_or_default()
    }
}
