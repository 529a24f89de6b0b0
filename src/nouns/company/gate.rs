//! Reads the company.

use super::Reader;
use store::company::{self, Company};
use types::refusal::Fault;

impl Reader<'_> {
    pub fn company(&self) -> Result<Company, Fault> {
        Ok(company::get(self.conn()?)?)
    }
}
