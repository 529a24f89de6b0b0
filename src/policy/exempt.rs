//! An exception in a policy that refuses: one more `unless`, in its own words and place.

use super::bundle::is_policy;
use super::check::format;
use super::{Bundle, PolicyMeta};

/// Returns the bundle with an exception: the policy does not refuse if `clause` holds. None if the bundle does not
/// contain the policy. Its text, including its id, must occur once.
pub fn exempt(bundle: &Bundle, policy: &PolicyMeta, clause: &str) -> Option<Bundle> {
    let file = bundle.files.get(&policy.file)?;
    let words = policy.text.trim_end();
    let end = file.find(words)? + words.len();
    let (before, after) = (file.get(..end)?, file.get(end..)?);
    // The text of a policy may end with its semicolon, or before it.
    let before = before.strip_suffix(';').unwrap_or(before);
    let after = after.strip_prefix(';').unwrap_or(after);
    let mut exempted = bundle.clone();
    exempted.files.insert(policy.file.clone(), format!("{before}\nunless {{ {clause} }};{after}"));
    Some(exempted)
}

/// The policy files that are others than before as the formatter writes them.
pub fn formatted(mut bundle: Bundle, before: &Bundle) -> Bundle {
    let changed = |path: &String, text: &String| is_policy(path) && before.files.get(path) != Some(text);
    for (_, text) in bundle.files.iter_mut().filter(|(path, text)| changed(path, text)) {
        if let Some(pretty) = format::formatted(text) {
            *text = pretty;
        }
    }
    bundle
}
