//! The passages that a text is cut into, and how rankings of them are joined.

use ok::nouns::knowledge::document::chunks::{FULL, SHARED, bounds};
use ok::nouns::knowledge::vectors::fused;

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

#[test]
fn what_both_rankings_hold_comes_before_what_one_holds_and_one_ranking_stays_as_it_is() {
    assert_eq!(fused([&["a", "b", "c"], &["c", "d"]]), ["c", "a", "b", "d"]);
    assert_eq!(fused([&["b", "a"], &[]]), ["b", "a"]);
}
