//! What a call is answered.

use std::sync::Arc;

use crate::declare::spec::Spec;
use policy::Ruling;
use types::refusal::{Code, Refusal};

/// An answer. Whatever it tells is durable.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub body: Vec<u8>,
    pub next: Option<String>,
    /// It was cut short.
    pub is_partial: bool,
    /// The adapter of another system, of whose rows some were left out.
    pub partial_from: Option<&'static str>,
    pub is_repeated: bool,
    /// `<origin> <size> <root prefix>`: the log that this answer stands in.
    pub audit: Arc<str>,
    pub policy: i64,
    /// The number of the event that records it, where there is one.
    pub decision: Option<i64>,
}

/// «policy denied <operation>: <reason>»
pub(crate) fn denial(spec: &Spec, ruling: &Ruling) -> Refusal {
    Refusal::new(spec.route.denied, format!("policy denied {}: {}", spec.name, ruling.reason()))
}

/// Returns a refusal unless `ruling` allows another operation, about which an operation asks as a second question on
/// the same call, besides the gate's own.
pub fn also(operation: &str, ruling: &Ruling) -> Result<(), Refusal> {
    let reason = match ruling {
        Ruling::Allow { .. } => return Ok(()),
        Ruling::NeedsApproval { .. } => format!("this needs approval: ask for it by the operation {operation}"),
        Ruling::Deny { .. } => ruling.reason().to_owned(),
    };
    Err(Refusal::new(Code::Denied, format!("policy denied {operation}: {reason}")))
}
