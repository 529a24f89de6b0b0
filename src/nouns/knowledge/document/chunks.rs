//! Splits a text into passages: at headings, paragraphs, lines or words, whichever comes last before a passage is full. The
//! same text always gives the same passages.

/// The maximum characters of a passage; below, the minimum before a heading splits it, and the overlap with the next.
pub const FULL: usize = 1_000;
const LEAST: usize = 200;
pub const SHARED: usize = 100;

/// Returns start and end of each passage, in bytes.
pub fn bounds(text: &str) -> Vec<(u32, u32)> {
    let mut bounds = Vec::new();
    let mut from = 0;
    while let Some(rest) = text.get(from..).filter(|rest| !rest.trim().is_empty()) {
        let start = from + (rest.len() - rest.trim_start().len());
        let rest = rest.trim_start();
        let (length, shares) = cut(rest);
        let said = rest.get(..length).unwrap_or(rest).trim_end().len();
        bounds.push((start as u32, (start + said) as u32));
        from = start + length;
        if shares && rest.len() > length {
            from -= repeated(rest.get(..length).unwrap_or_default());
        }
    }
    bounds
}

/// Returns the length in bytes of the next passage, and whether the one after it overlaps.
fn cut(rest: &str) -> (usize, bool) {
    let Some((full, _)) = rest.char_indices().nth(FULL) else {
        return heading(rest).map_or((rest.len(), false), |at| (at, false));
    };
    let window = rest.get(..full).unwrap_or(rest);
    if let Some(at) = heading(window) {
        return (at, false);
    }
    let half = window.char_indices().nth(FULL / 2).map_or(0, |(at, _)| at);
    let breaks = [window.rfind("\n\n"), window.rfind('\n'), window.rfind(char::is_whitespace)];
    (breaks.into_iter().flatten().find(|at| *at > half).unwrap_or(full), true)
}

/// Returns the position of the first heading after the minimum length of a passage.
fn heading(window: &str) -> Option<usize> {
    let (least, _) = window.char_indices().nth(LEAST)?;
    window.get(least..)?.find("\n#").map(|at| least + at)
}

/// Returns the bytes at a passage's end that the next repeats: whole words.
fn repeated(passage: &str) -> usize {
    let Some((at, _)) = passage.char_indices().rev().nth(SHARED) else { return 0 };
    let end = passage.get(at..).unwrap_or_default();
    end.find(char::is_whitespace).map_or(0, |space| end.len() - space)
}
