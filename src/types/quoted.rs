//! What people wrote, inside a sentence of ours that is stored: it stands between isolates, so that our words can be
//! told from theirs. Names in our words are veiled from readers who may not see them; people's own words are shown as
//! written, so that nobody can use their own text to find out who exists. The marks are removed before anybody reads
//! the sentence.
//!
//! The marks are FIRST STRONG ISOLATE and POP DIRECTIONAL ISOLATE: Unicode Standard Annex #9, 2.4.

const BEGIN: char = '\u{2068}';
const END: char = '\u{2069}';

/// A text of somebody's, to stand in a sentence.
pub fn quoted(text: &str) -> String {
    format!("{BEGIN}{}{END}", plain(text))
}

/// A sentence, or a text, without marks.
pub fn plain(text: &str) -> String {
    text.replace([BEGIN, END], "")
}

/// A sentence without marks, in which only our words are changed.
pub fn with_ours(sentence: &str, change: impl Fn(&str) -> String) -> String {
    let mut whole = String::with_capacity(sentence.len());
    let mut rest = sentence;
    while let Some((ours, after)) = rest.split_once(BEGIN) {
        let (theirs, after) = after.split_once(END).unwrap_or((after, ""));
        whole.push_str(&change(&plain(ours)));
        whole.push_str(&plain(theirs));
        rest = after;
    }
    whole + &change(&plain(rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_words_are_changed_whatever_marks_theirs_hold() {
        let loud = |sentence: &str| with_ours(sentence, str::to_uppercase);
        assert_eq!(loud(&format!("max says {}: see", quoted("max"))), "MAX SAYS max: SEE");
        assert_eq!(loud(&format!("max says {}: see", quoted("a\u{2069} max \u{2068}b"))), "MAX SAYS a max b: SEE");
        assert_eq!(loud("max\u{2069} says \u{2068}so"), "MAX SAYS so");
    }
}
