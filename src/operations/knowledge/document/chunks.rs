//! The passages that a text is cut into: at headings, paragraphs, lines or words, whichever comes last before a passage is full.
//! The same text always gives the same passages.

/// The most characters of a passage, the least before it is cut at a heading, and what the next one repeats of it.
const FULL: usize = 1_000;
const LEAST: usize = 200;
const SHARED: usize = 100;

/// Where each passage begins and ends, in bytes.
pub(super) fn bounds(text: &str) -> Vec<(u32, u32)> {
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

/// How many bytes of this are the next passage, and whether the one after it repeats its end.
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

/// Where the first heading stands after a passage's least.
fn heading(window: &str) -> Option<usize> {
    let (least, _) = window.char_indices().nth(LEAST)?;
    window.get(least..)?.find("\n#").map(|at| least + at)
}

/// The bytes at the end of a passage that the next one repeats: whole words.
fn repeated(passage: &str) -> usize {
    let Some((at, _)) = passage.char_indices().rev().nth(SHARED) else { return 0 };
    let end = passage.get(at..).unwrap_or_default();
    end.find(char::is_whitespace).map_or(0, |space| end.len() - space)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_up(text: &str) -> Vec<&str> {
        bounds(text).into_iter().map(|(first, after)| &text[first as usize..after as usize]).collect()
    }

    #[test]
    fn a_text_is_cut_where_it_breaks_and_nothing_of_it_is_lost() {
        assert_eq!(cut_up(""), Vec::<&str>::new());
        assert_eq!(cut_up(" \n\n "), Vec::<&str>::new());
        assert_eq!(cut_up("one\n\ntwo"), ["one\n\ntwo"]);
        let words: Vec<String> = (0..2_000).map(|number| format!("wörd{number}")).collect();
        for joined in [words.join(" "), words.join("\n"), words.join("\n\n"), "x".repeat(5_000), "é".repeat(5_000)] {
            let parts = cut_up(&joined);
            assert!(parts.iter().all(|part| part.chars().count() <= FULL && !part.is_empty()));
            assert!(parts.len() <= joined.chars().count() / (FULL / 2 - SHARED) + 1, "{}", parts.len());
            let covered = bounds(&joined).windows(2).all(|pair| {
                joined[pair[0].1 as usize..].len() <= joined[pair[1].0 as usize..].len()
                    || joined[pair[0].1 as usize..pair[1].0 as usize].trim().is_empty()
            });
            assert!(covered);
            assert_eq!(bounds(&joined), bounds(&joined));
        }
        let shared = cut_up(&words.join(" "))
            .windows(2)
            .filter(|pair| {
                pair[0].ends_with(pair[1].split(' ').next().unwrap())
                    || pair[0].contains(pair[1].split(' ').next().unwrap())
            })
            .count();
        assert!(shared > 5);
    }

    #[test]
    fn a_heading_begins_a_passage() {
        let text = format!("# One\n{}\n# Two\nshort", "word ".repeat(60).trim());
        let parts = cut_up(&text);
        assert_eq!(parts.len(), 2, "{parts:?}");
        assert!(parts[1].starts_with("# Two"));
    }

    #[test]
    fn many_tiny_paragraphs_are_few_passages() {
        let parts = bounds(&"a\n\n".repeat(300_000));
        assert!(parts.len() < 2_500, "{}", parts.len());
    }
}
