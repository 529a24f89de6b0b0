//! An exception in a policy that refuses: one more `unless`, in its own words and place.

use super::check::format::formatted;
use super::{Bundle, PolicyMeta};

/// The bundle in which a policy does not refuse where `clause` holds. None if the policy does not stand in it.
pub fn exempt(bundle: &Bundle, policy: &PolicyMeta, clause: &str) -> Option<Bundle> {
    let file = bundle.files.get(&policy.file)?;
    // Two policies may have the same words; this one begins on its own line.
    let line: usize = file.split_inclusive('\n').take(policy.line.saturating_sub(1)).map(str::len).sum();
    let start = line + file.get(line..)?.find(policy.text.trim_end())?;
    let end = start + policy.text.trim_end().len();
    let (before, after) = (file.get(..end)?, file.get(end..)?);
    // The text of a policy may end with its semicolon, or before it.
    let before = before.strip_suffix(';').unwrap_or(before);
    let after = after.strip_prefix(';').unwrap_or(after);
    let text = format!("{before}\nunless {{ {clause} }};{after}");
    let mut exempted = bundle.clone();
    exempted.files.insert(policy.file.clone(), formatted(&text).unwrap_or(text));
    Some(exempted)
}
