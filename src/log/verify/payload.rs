//! Payloads: each must be the one that its leaf commits to, or be erased and declared so by a later entry.

use super::finding::Findings;
use super::form;
use super::leaf::Leaf;
use super::merkle::Hash;
use super::source::Payload;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Counts payloads, and remembers the numbers of those that are missing until an entry declares them.
#[derive(Default)]
pub struct Payloads {
    pub checked: u64,
    pub redacted: u64,
    undeclared: BTreeSet<u64>,
}

impl Payloads {
    pub fn check(
        &mut self,
        seq: u64,
        leaf: &Leaf<'_>,
        payload: Result<Option<Payload>, String>,
        findings: &mut Findings,
    ) {
        self.checked += 1;
        match payload {
            Ok(Some(payload)) if payload.salt.len() != 32 => findings.add(Some(seq), "its salt does not have 32 bytes"),
            Ok(Some(payload)) if payload.commitment() != leaf.commitment => {
                findings.add(Some(seq), "its payload is not the one that it commits to");
            }
            Ok(Some(payload)) => {
                if let Some(why) = form::problem(&payload.body, leaf.kind) {
                    findings.add(Some(seq), format!("no gate writes such a payload: {why}"));
                }
            }
            Ok(None) => {
                self.undeclared.insert(seq);
            }
            Err(why) => findings.add(Some(seq), format!("its payload is bad: {why}")),
        }
    }

    /// Notes which earlier entries this leaf declares forgotten. A declaration covers only entries before it.
    pub fn declare(&mut self, leaf: &Leaf<'_>) {
        for forgotten in leaf.forgets() {
            self.redacted += u64::from(self.undeclared.remove(&forgotten));
        }
    }

    pub fn finish(&self, findings: &mut Findings) {
        for seq in &self.undeclared {
            findings.add(Some(*seq), "its payload is missing, and no later entry declares it forgotten");
        }
    }
}

impl Payload {
    /// SHA-256(`ok/payload/v1` ‖ 0x00 ‖ salt ‖ payload).
    fn commitment(&self) -> Hash {
        let labelled = Sha256::new().chain_update(b"ok/payload/v1\0");
        labelled.chain_update(&self.salt).chain_update(&self.body).finalize().into()
    }
}
