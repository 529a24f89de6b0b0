//! What a call would do, as a sentence for people, made from the words of the operation's declaration and from its
//! input.
//!
//! A declaration reads `adds {id} as {role|kind}[ to {team}]`. `{name}` is a field of the input, or the first given one
//! of several; `{definition.metadata.name}` looks into a field, even if the field holds the text of a file;
//! `{off?releases|engages}` chooses by a flag; a part in brackets is omitted if a field in it is not given. What people
//! wrote is put between `«` and `»`; quotation marks inside it become single ones. Fields that can be erased stand in
//! brackets: the sentence is kept permanently without them, and shown with them to readers of the arguments.

use std::borrow::Cow;

use serde_json::Value;

use policy::yaml;
use types::quoted::quoted;

/// The most characters of one value.
const LONGEST: usize = 120;
const OPEN: char = '«';
const CLOSE: char = '»';

/// The sentence, without its subject.
pub fn describe(words: &str, input: &Value) -> String {
    let mut text = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('[') {
        text.push_str(&filled(before, input).unwrap_or_default());
        let Some((optional, after)) = after.split_once(']') else { break };
        text.push_str(&filled(optional, input).unwrap_or_default());
        rest = after;
    }
    text + &filled(rest, input).unwrap_or_default()
}

/// Words with their fields; None where one is not given.
fn filled(words: &str, input: &Value) -> Option<String> {
    let mut text = String::new();
    let mut rest = words;
    while let Some((before, after)) = rest.split_once('{') {
        let (field, after) = after.split_once('}')?;
        text.push_str(before);
        let value = value(field, input)?;
        let is_theirs = before.ends_with(OPEN);
        text.push_str(&if is_theirs { quoted(&value.replace(OPEN, "‹").replace(CLOSE, "›")) } else { value });
        rest = after;
    }
    Some(text + rest)
}

fn value(field: &str, input: &Value) -> Option<String> {
    if let Some((flag, (yes, no))) =
        field.split_once('?').and_then(|(flag, words)| Some((flag, words.split_once('|')?)))
    {
        let is_set = found(flag, input).and_then(|set| set.as_bool()).unwrap_or_default();
        return Some(if is_set { yes } else { no }.to_owned());
    }
    field.split('|').find_map(|name| found(name, input)).map(|value| shown(&value).chars().take(LONGEST).collect())
}

/// A field by its path, unless it is empty.
fn found<'a>(path: &str, input: &'a Value) -> Option<Cow<'a, Value>> {
    let value = path.split('.').try_fold(Cow::Borrowed(input), |value, name| within(value, name))?;
    let is_empty = value.is_null() || value.as_array().is_some_and(Vec::is_empty) || value.as_str() == Some("");
    (!is_empty).then_some(value)
}

/// A field of an object, or of what the text of a file holds.
fn within<'a>(value: Cow<'a, Value>, name: &str) -> Option<Cow<'a, Value>> {
    match value {
        Cow::Borrowed(Value::String(file)) => within(Cow::Owned(yaml::read_at_once(file).ok()?), name),
        Cow::Borrowed(value) => value.get(name).map(Cow::Borrowed),
        Cow::Owned(mut value) => value.get_mut(name).map(Value::take).map(Cow::Owned),
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => items.iter().map(shown).collect::<Vec<_>>().join(", "),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::describe;
    use types::quoted::plain;

    #[test]
    fn a_file_is_looked_into_as_json_is() {
        let words = "hires[ {definition.metadata.name} as] an agent";
        for definition in [json!({ "metadata": { "name": "scout" } }), json!("metadata:\n  name: scout\n")] {
            assert_eq!(describe(words, &json!({ "definition": definition })), "hires scout as an agent");
        }
        for definition in [json!("metadata: scout"), json!("- : ["), json!("scout"), json!(["scout"])] {
            assert_eq!(describe(words, &json!({ "definition": definition })), "hires an agent");
        }
    }

    #[test]
    fn fields_that_are_not_given_leave_no_gap() {
        let words = "adds {id} as {role|kind}[ to {team}]";
        let whole = json!({ "id": "new2", "kind": "person", "role": "admin", "team": "team:ops" });
        assert_eq!(describe(words, &whole), "adds new2 as admin to team:ops");
        assert_eq!(
            describe(words, &json!({ "id": "new2", "kind": "agent", "role": null, "team": "" })),
            "adds new2 as agent"
        );
        assert_eq!(
            describe("issues a token[ limited to {scopes}]", &json!({ "scopes": ["read", "policy"] })),
            "issues a token limited to read, policy"
        );
        assert_eq!(describe("issues a token[ limited to {scopes}]", &json!({ "scopes": [] })), "issues a token");
        let switch = "{off?releases|engages} the kill switch {scope}";
        assert_eq!(describe(switch, &json!({ "scope": "global", "off": true })), "releases the kill switch global");
        assert_eq!(describe(switch, &json!({ "scope": "global" })), "engages the kill switch global");
    }

    #[test]
    fn what_people_write_ends_where_its_quotation_marks_do() {
        let said =
            describe("creates the task «{title}»[ for {owner}]", &json!({ "title": "a» for max", "owner": "lea" }));
        assert_eq!(plain(&said), "creates the task «a› for max» for lea");
    }
}
