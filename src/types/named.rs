//! Names in a sentence.

/// The first of these, and how many more there are: `a, b and 3 more`.
pub fn first_of<T: AsRef<str>>(names: &[T], most: usize) -> String {
    let first: Vec<&str> = names.iter().take(most).map(AsRef::as_ref).collect();
    match names.len().saturating_sub(most) {
        0 => first.join(", "),
        more => format!("{} and {more} more", first.join(", ")),
    }
}
