//! Changes as policies see them.

use serde_json::{Value, json};

use gate::{Brief, FactSpec, Noun, Reader, Resource, Staged, Target};
use store::changes::Review;
use types::change::{ChangeState, ChangeTarget, EvalStatus};
use types::named::first_of;
use types::refusal::{Fault, Stop};

pub static CHANGE: Resource = Resource {
    noun: Noun {
        name: "Change",
        doc: "A proposal on its way into force.",
        sight: Some("change.read"),
        own: Some("author"),
        facts: &[
            FactSpec::actor("author", ""),
            FactSpec::text("target", "policy").one_of(ChangeTarget::Policy.name(), targets),
            FactSpec::text("state", "").one_of(ChangeState::Proposed.name(), states),
            FactSpec::flag("reviewed", "somebody else approved exactly this content"),
            FactSpec::number("peers", "how many other admins there are, or were within three days"),
            FactSpec::number("admins", "how many admins there are, or were within three days"),
            FactSpec::actors("behalf", "on whose behalf it was proposed"),
            FactSpec::actor("issuer", "who issued the token that it was proposed with, where that is not the author")
                .optional(),
            FactSpec::actors("approvers", "who may decide a request about it that waits"),
        ],
        staged: Staged::Rows { list: "changes", complete: |thing, _| thing },
    },
    title: Some(|target, read| Ok(read.change(&target.id())?.map(|change| change.reason))),
    brief,
    find,
    state,
};

fn targets() -> Vec<&'static str> {
    ChangeTarget::ALL.iter().map(|target| target.name()).collect()
}

fn states() -> Vec<&'static str> {
    ChangeState::ALL.iter().map(|state| state.name()).collect()
}

/// The most files of a change that are named.
const MOST_NAMED: usize = 20;

fn brief(target: &Target, read: &Reader<'_>) -> Result<Brief, Fault> {
    let Some(change) = read.change(&target.id())? else { return Ok(Brief::new()) };
    let failed = change.evals.iter().filter(|eval| eval.status != EvalStatus::Passed).count();
    let tests = match (change.evals.len(), failed) {
        (0, _) => "not run".to_owned(),
        (all, 0) => format!("{all} passed"),
        (all, failed) => format!("{failed} of {all} failed"),
    };
    let review = |review: &Review| {
        let gone = if read.review_counts(review) { "" } else { " (counts no longer)" };
        format!("{}: {}{gone}", review.by, review.verdict)
    };
    let reviews: Vec<String> = change.reviews.iter().map(review).collect();
    let (before, after) = (read.bundle()?.files, read.change_files(&change.id)?);
    let changed = after.iter().filter(|(path, text)| before.get(*path).is_some_and(|old| old != *text));
    let new = after.keys().filter(|path| !before.contains_key(*path));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let named = |paths: Vec<&String>| first_of(&paths, MOST_NAMED);
    let rows = vec![
        ("reason", change.reason.clone()),
        ("proposed by", change.author.to_string()),
        ("made from version", change.base_version.to_string()),
        ("changes", named(changed.map(|(path, _)| path).collect())),
        ("adds", named(new.collect())),
        ("removes", named(gone.collect())),
        ("tests", tests),
        ("reviews", reviews.join(", ")),
        ("all of it", format!("ok changes show {}", change.id)),
    ];
    Ok(rows.into_iter().filter(|(_, said)| !said.is_empty()).collect())
}

fn find(id: &str, read: &Reader<'_>) -> Result<Option<Target>, Stop> {
    let found = read.change(id)?.filter(|change| change.created_at <= read.now());
    Ok(found.map(|change| read.change_target(&change)))
}

fn state(target: &Target, read: &Reader<'_>) -> Result<Value, Fault> {
    let change = read.change(&target.id())?;
    Ok(json!(change.map(|change| json!({ "hash": change.hash, "open": change.state.is_open() }))))
}
