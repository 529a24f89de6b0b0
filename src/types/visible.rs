//! Characters that control how a text is displayed: by a terminal, an editor, or the order of the letters on a line.
//! The author of a text must not be able to hide a part of it from its reviewer.

/// Whether a character steers. Line feeds and tabs lay a text out and hide nothing.
pub fn steers(c: char) -> bool {
    let lays_out = matches!(c, '\n' | '\t');
    // C0, DEL and C1; then bidirectional marks, embeddings and isolates; then separators that look like line feeds.
    (c.is_control() && !lays_out)
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || matches!(c, '\u{2028}' | '\u{2029}')
        // What has no width, and tags, which spell words that nobody sees.
        || matches!(c, '\u{200b}' | '\u{2060}'..='\u{2064}' | '\u{e0000}'..='\u{e007f}')
}

/// Whether a text can be a name for people to read: on one line, and not seen as nothing. What else steers is written out
/// wherever it is shown.
pub fn is_name(text: &str) -> bool {
    (1..=100).contains(&text.chars().count()) && !is_blank(text) && !text.chars().any(char::is_control)
}

/// The error message for an invalid name.
pub const NO_NAME: &str = "name: must have 1 to 100 characters, on one line, not all of them blank or invisible";

/// Whether a text has control characters beside those that lay it out: line feeds, carriage returns and tabs.
pub fn has_control(text: &str) -> bool {
    text.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\r' | '\t'))
}

/// Whether nothing of a text is seen.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control() || is_ignored(c))
}

/// Whether a character is drawn as nothing: Unicode's `Default_Ignorable_Code_Point`, and the cell of Braille without dots.
fn is_ignored(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// The text with each of them written out: `\u{202e}`.
pub fn visible(text: &str) -> String {
    replaced(text, |c| c.escape_default().to_string())
}

/// The same inside JSON, which stays the same document: there they stand in strings only.
pub fn visible_json(text: &str) -> String {
    let mut units = [0; 2];
    replaced(text, move |c| c.encode_utf16(&mut units).iter().map(|unit| format!("\\u{unit:04x}")).collect())
}

fn replaced(text: &str, mut by: impl FnMut(char) -> String) -> String {
    let mut output = String::with_capacity(text.len());
    for c in text.chars() {
        if steers(c) { output.push_str(&by(c)) } else { output.push(c) }
    }
    output
}
