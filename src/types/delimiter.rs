//! What separates the cells of a row of text.

/// The separator of a table in CSV: a comma, or a semicolon or a tab if its first line has more of these. Spreadsheets
/// write semicolons where numbers have a decimal comma.
pub fn delimiter(text: &str) -> u8 {
    let first = text.lines().next().unwrap_or_default();
    // Every second piece stands in quotation marks.
    let count = |byte: u8| first.split('"').step_by(2).flat_map(str::bytes).filter(|one| *one == byte).count();
    [b';', b'\t']
        .into_iter()
        .filter(|other| count(*other) > count(b','))
        .max_by_key(|other| count(*other))
        .unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use super::delimiter;

    #[test]
    fn the_first_line_tells_what_separates_cells() {
        let of = |text: &str| char::from(delimiter(text));
        assert_eq!(
            ["Name,Price\nA;B;C,2", "Kunde;Preis\nAcme;12,50", "a\tb,c\td", "name", ""].map(of),
            [',', ';', '\t', ',', ',']
        );
        assert_eq!(of("\"a;b;c\",d\n"), ',');
        assert_eq!(of("\"Preis, netto\";Kunde\n"), ';');
    }
}
