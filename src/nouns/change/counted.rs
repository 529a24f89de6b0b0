//! Shows counts over the log's decisions to whoever may read all of them, because a count reveals events too. Others are shown
//! the outcome alone.

use serde_json::{Value, json};

use crate::audit::may_read_all;
use gate::Reader;
use types::caller::{Caller, Who};
use types::change::EvalCase;
use types::id::ActorId;
use types::impact::{Over, Trialled};

/// What other callers are told of an exceeded budget.
const TOO_MANY: &str = "more decisions would differ than the budget allows";

/// The eval that counts decisions.
pub const IMPACT: &str = "impact";

/// Describes how a budget was exceeded, as far as the caller may know.
pub fn exceeded(over: &Over, read: &Reader<'_>) -> String {
    if may_read_all(read) { in_figures(over) } else { TOO_MANY.to_owned() }
}

/// Describes the end of a canary for the author of the change.
pub fn ending(over: &Over, trialled: &Trialled, author: &ActorId, read: &Reader<'_>) -> String {
    let them = Caller::new(Who::Holder(author.clone()), read.caller().channel);
    if !may_read_all(&read.acting_as(&them)) {
        return TOO_MANY.to_owned();
    }
    format!("{}, after {} decisions", in_figures(over), trialled.matrix.sum())
}

/// Describes it with figures, for the record.
pub fn in_figures(over: &Over) -> String {
    format!("{} is {}, of at most {}", over.budget, over.found, over.max)
}

/// Returns the results of the evals, as far as the caller may know them.
pub fn evals(mut evals: Vec<EvalCase>, read: &Reader<'_>) -> Vec<EvalCase> {
    let counted = evals.iter_mut().find(|eval| eval.case == IMPACT && !eval.problems.is_empty());
    if let Some(eval) = counted.filter(|_| !may_read_all(read)) {
        eval.problems = vec![TOO_MANY.to_owned()];
    }
    evals
}

/// Removes the counts from an event of a change.
pub fn uncounted(event: &mut Value) {
    let is_trial = event.get("trialled").is_some();
    let Some(fields) = event.as_object_mut() else { return };
    fields.remove("trialled");
    fields.remove("notice");
    if is_trial && fields.contains_key("reason") {
        fields.insert("reason".into(), json!(TOO_MANY));
    }
    let cases = fields.get_mut("cases").and_then(Value::as_array_mut).into_iter().flatten();
    let counted = cases.filter(|case| case.get("case") == Some(&json!(IMPACT)));
    for problems in counted.filter_map(|case| case.get_mut("problems")) {
        *problems = json!([TOO_MANY]);
    }
}
