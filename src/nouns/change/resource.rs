//! The Cedar resource of changes.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::list::shows_policies;
use gate::{Brief, FactSpec, Noun, Reader, Resource, Staged, Target};
use policy::Bundle;
use policy::diff::unified;
use policy::testing::{Cast, Row, Sample};
use store::changes::Review;
use types::change::{ChangeState, ChangeTarget, EvalStatus};
use types::id::ActorId;
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
        staged: Staged::Rows { list: "changes", complete: |thing, _| thing, samples },
    },
    title: Some(|target, read| Ok(read.change(&target.id())?.map(|change| change.reason))),
    version: None,
    brief,
    find,
    state,
};

/// Returns sample changes of everybody in each state, and one per actor that they could decide.
fn samples(cast: &Cast<'_>) -> Vec<Sample> {
    let (for_each, of_each) = (cast.everybody.iter().map(to_decide), cast.everybody.iter().flat_map(proposed_by));
    for_each.chain(of_each).collect()
}

/// The authors of the sample changes; other teams are below the last one's.
const SHOWN: [&str; 4] = ["ana", "max", "bot", "zoe"];

fn sample(id: String, author: &str, state: ChangeState) -> Row {
    let row = Row::new("changes", id).with("author", author).with("state", state).with("reviewed", false);
    row.with("peers", 2).with("admins", 2)
}

fn to_decide(who: &ActorId) -> Sample {
    let author = if who.as_str() == "max" { "ana" } else { "max" };
    let row = sample(format!("chg_for.{who}"), author, ChangeState::Proposed).with("approvers", [who]);
    Sample::own(who, &SHOWN, row)
}

fn proposed_by(author: &ActorId) -> Vec<Sample> {
    use ChangeState::{Approved, Canary, Promoted, Proposed};
    let change = |what: &str, state| sample(format!("chg_{what}.{author}"), author.as_str(), state);
    let stands = [(Proposed, false), (Proposed, true), (Approved, true), (Canary, true), (Promoted, true)];
    let stands = stands.into_iter().enumerate().flat_map(|(number, (state, reviewed))| {
        let by = |peers: u32| {
            let row = change(&format!("{number}_{peers}"), state).with("reviewed", reviewed);
            row.with("peers", peers).with("admins", peers.max(1))
        };
        [by(0), by(2)]
    });
    let view = change("view", Proposed).with("target", ChangeTarget::View.name());
    let issued = change("issued", Proposed);
    let issued = if author.as_str() == "ana" { issued } else { issued.with("issuer", "ana") };
    stands.chain([view, issued]).map(|row| Sample::own(author, &SHOWN, row)).collect()
}

fn targets() -> Vec<&'static str> {
    ChangeTarget::ALL.iter().map(|target| target.name()).collect()
}

fn states() -> Vec<&'static str> {
    ChangeState::ALL.iter().map(|state| state.name()).collect()
}

/// The maximum number of a change's files that are named.
const MOST_NAMED: usize = 20;

/// So much of what differs stands beside a request, and all of it in the change: lines, characters of each, and lines of two files
/// that differ.
const MOST_LINES: usize = 200;
const LONGEST_LINE: usize = 400;
const MOST_COMPARED: usize = 2_000;

/// The lines that differ, file by file, and how many are left out.
fn differing(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> String {
    let of = |files: &BTreeMap<String, String>, path: &String| files.get(path).cloned().unwrap_or_default();
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    let differ = paths.into_iter().filter(|path| before.get(*path) != after.get(*path));
    let (mut lines, mut omitted) = (Vec::new(), 0);
    for path in differ {
        if lines.len() >= MOST_LINES {
            omitted += 1;
            continue;
        }
        let (old, new) = (of(before, path), of(after, path));
        lines.push(path.clone());
        if unlike(&old, &new) > MOST_COMPARED {
            lines.push("too many lines differ to compare them here".to_owned());
            continue;
        }
        lines.extend(unified(&old, &new).lines().map(shortened));
    }
    let cut = lines.len().saturating_sub(MOST_LINES);
    lines.truncate(MOST_LINES);
    if cut + omitted > 0 {
        lines.push(format!("… left out here: lines {cut}, files {omitted}"));
    }
    lines.join("\n")
}

/// The lines of two texts, but for those with which both begin and end.
fn unlike(old: &str, new: &str) -> usize {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let begin = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = (old.iter().skip(begin).rev()).zip(new.iter().skip(begin).rev());
    let end = rest.take_while(|(one, other)| one == other).count();
    old.len() + new.len() - 2 * (begin + end)
}

/// A line, cut where it is too long; how much is missing is said.
fn shortened(line: &str) -> String {
    let mut rest = line.chars();
    let head: String = rest.by_ref().take(LONGEST_LINE).collect();
    match rest.count() {
        0 => head,
        more => format!("{head}… and {more} characters more"),
    }
}

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
    // Compare with the base: how the collections look by now does not matter.
    let after = Bundle { files: read.change_files(&change.id)? };
    let base = read.bundle_of(change.base_version)?;
    let is_shown = base.is_some() && shows_policies(&change, read);
    let base = base.map_or_else(|| read.bundle(), Ok)?;
    let (before, after) = (base.about_collections_of(&after).files, after.files);
    let changed = after.iter().filter(|(path, text)| before.get(*path).is_some_and(|old| old != *text));
    let new = after.keys().filter(|path| !before.contains_key(*path));
    let gone = before.keys().filter(|path| !after.contains_key(*path));
    let named = |paths: Vec<&String>| first_of(&paths, MOST_NAMED);
    let diff = if is_shown { differing(&before, &after) } else { String::new() };
    let rows = vec![
        ("reason", change.reason.clone()),
        ("proposed by", change.author.to_string()),
        ("made from version", change.base_version.to_string()),
        ("changes", named(changed.map(|(path, _)| path).collect())),
        ("adds", named(new.collect())),
        ("removes", named(gone.collect())),
        ("diff", diff),
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
