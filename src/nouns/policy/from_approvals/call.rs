//! An approved call, as it would be decided today.

use serde_json::Value;

use super::invalid;
use crate::policy::question;
use gate::{Entry, Reader, Target};
use policy::{Because, Ruling, Snapshot};
use types::approval::ApprovalStatus;
use types::caller::Caller;
use types::refusal::{Refusal, Stop};

pub struct Call {
    /// The approval's id.
    pub approval: String,
    pub caller: Caller,
    pub entry: &'static Entry,
    pub target: Target,
    pub input: Value,
}

impl Call {
    /// Returns the call behind an approval that people gave.
    pub fn approved(id: &str, read: &Reader<'_>) -> Result<Call, Stop> {
        let approval = read.approval(id)?.ok_or_else(Refusal::not_found)?;
        if !read.sees(&read.approval_target(&approval)) {
            return Err(Refusal::not_found().into());
        }
        if !matches!(approval.status, ApprovalStatus::Approved | ApprovalStatus::Used) {
            let message = format!("{id} is {}; policies are drafted from what people approved", approval.status);
            return Err(invalid(message).into());
        }
        if approval.under.is_some() {
            let message = format!(
                "{id} was asked for on behalf of others; policies are drafted from what people ask for themselves"
            );
            return Err(invalid(message).into());
        }
        let entry = question::operation("op", &approval.operation)?;
        let caller = approval.requester();
        let input = approval.whole_input();
        let call = entry.prepare(input.clone()).map_err(|bad| invalid(format!("{id}: {bad}")))?;
        let gone = |_| invalid(format!("{id}: its target no longer exists"));
        let target = call.target(&read.acting_as(&caller)).map_err(gone)?;
        Ok(Call { approval: id.to_owned(), caller, entry, target, input })
    }

    pub fn operation(&self) -> &'static str {
        self.entry.spec.name
    }

    /// Returns what other policies answer to the same call by a caller, with an input.
    pub fn answer(&self, policies: &Snapshot, caller: &Caller, input: &Value, read: &Reader<'_>) -> Ruling {
        read.ruling_under(policies, caller, (self.operation(), &self.target, input))
    }

    /// Returns the policies that require approval for it.
    pub fn held_up_by(&self, read: &Reader<'_>) -> Result<Vec<Because>, Refusal> {
        let id = &self.approval;
        let ruling = read.ruling_on(&self.caller, self.operation(), &self.target, &self.input);
        let allowed = Ruling::Allow { because: Vec::new() };
        let parts = read.acting_as(&self.caller).with_parts(self.entry, &self.input, allowed, &|_| true);
        if !parts.is_allowed() {
            let message = format!(
                "{id}: a part of {} is decided while it runs, which no drafted exception covers: {}; write it by hand",
                self.operation(),
                parts.reason()
            );
            return Err(invalid(message));
        }
        match ruling {
            Ruling::NeedsApproval { because, .. } => Ok(because),
            Ruling::Allow { .. } => Err(invalid(format!("{id}: such a call no longer needs approval"))),
            ruling @ Ruling::Deny { .. } => {
                Err(invalid(format!("{id}: such a call is now refused: {}", ruling.reason())))
            }
        }
    }
}
