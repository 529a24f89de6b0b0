//! YAML that is too much, and where its parts stand.

use ok::policy::yaml::{MAX_BYTES, MAX_WORK, brackets, item_lines, line_of, read};

#[test]
fn bombs_are_refused() {
    let laughs: String = (1..12).fold("a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n".into(), |text, level| {
        let before = format!("*a{},", level - 1).repeat(10);
        format!("{text}a{level}: &a{level} [{before}]\n")
    });
    let wide = format!("a: &a [{}]\nb: [{}]", "x,".repeat(5_000), "*a,".repeat(5_000));
    let deep = "[".repeat(100) + &"]".repeat(100);
    for bomb in [laughs, wide, deep, "x".repeat(MAX_BYTES + 1), "a: &a [*a]".into(), "a: !b c".into()] {
        assert!(read::<serde_json::Value>(&bomb).is_err(), "{}", &bomb[..bomb.len().min(99)]);
    }
}

/// What takes the parser longest of all that is let through to it: were more let through, this would not end.
#[test]
fn what_passes_the_first_look_is_parsed_to_an_end() {
    for size in [16 << 10, 64 << 10, 256 << 10, MAX_BYTES] {
        let brackets = MAX_WORK / size - 1;
        for (bracket, sign) in [("[? ", "a,"), ("[", "a,"), ("{a: ", "a,"), ("[? ", ",\n"), ("[", "? ")] {
            let open = bracket.repeat(brackets.min(size / 2 / bracket.len()));
            let bomb = format!("{open}{}", sign.repeat((size - open.len()) / sign.len()));
            assert!(read::<serde_json::Value>(&bomb).is_err());
        }
    }
}

/// Brackets that are closed where they stand cost nothing, and those that only seem to be are counted.
#[test]
fn brackets_that_may_stay_open_are_counted() {
    assert_eq!(brackets(&"- {a: [b, c], d: {}}\n".repeat(50_000)), 2);
    for (line, open) in [("[\"]\",\n", 1), ("[ # ]\n", 1), ("[!<]> a,\n", 1), ("[a',\"b'],\n", 1), ("[a]: b] [\n", 2)] {
        assert_eq!(brackets(&line.repeat(1_000)), 1_000 * open, "{line}");
    }
}

#[test]
fn keys_and_items_have_lines() {
    let text = "now: x\n# c\ncases:\n  - {a: 1}\n\n  - a: 2\n    b:\n      - 3\nkinds:\n  admin:\n    threshold: 3\n";
    assert_eq!(item_lines(text, "cases", 2), [4, 6]);
    assert_eq!(item_lines(text, "cases", 3), [3, 3, 3]);
    assert_eq!(line_of(text, &["kinds", "admin", "threshold"]), 11);
    assert_eq!(line_of(text, &["kinds", "lead"]), 9);
}
