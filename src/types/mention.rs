//! Who is named in what somebody writes: `@ana`.

use super::id::ActorId;

/// The most people that one text mentions.
const MOST: usize = 20;

/// The people and agents that a text names, each once, in the order of their first mention. A full stop ends a sentence,
/// not a name; an `@` inside a word, as in an address, names nobody.
pub fn mentions(text: &str) -> Vec<ActorId> {
    let mut found: Vec<ActorId> = Vec::new();
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let begins = c == '@' && !before.is_alphanumeric();
        before = c;
        let Some(rest) = text.get(at + 1..).filter(|_| begins) else { continue };
        let name = rest.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))).next();
        let name = name.unwrap_or_default().trim_end_matches(['.', '-']);
        if let Ok(id) = name.to_ascii_lowercase().parse::<ActorId>()
            && !found.contains(&id)
        {
            found.push(id);
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_name_ends_where_its_word_does() {
        let named = |text: &str| mentions(text).iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(named("ask @ana, @Ben. and (@bot-1)"), ["ana", "ben", "bot-1"]);
        assert_eq!(named("@ana again @ana"), ["ana"]);
        assert_eq!(named("mail ana@example.org, @, @-x, @team:ops, é@ana"), ["team"]);
        assert_eq!(mentions(&"@a1 ".repeat(3)).len(), 1);
        let many: String = (0..40).map(|number| format!("@p{number} ")).collect();
        assert_eq!(mentions(&many).len(), 20);
    }
}
