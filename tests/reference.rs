//! The references in `docs/reference` and the policies' schema say what the code says, to the byte.
//! To write them anew: OK_UPDATE_REFERENCE=1 cargo test --test main reference

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use ok::gate::declare::operation::{Answer, Effect, Spec};
use ok::gate::{Entry, FactSpec, Resource, Staged};
use ok::store::event::{Content, EventKind, MOST_SHOWN};
use ok::types::refusal::Code;
use ok::types::scope::{Reach, Scope};

use crate::harness::contract::problems;

/// Every generated file, with what makes it. Others belong here too: `cli.md`, `config.md`.
/// A file, and what makes it.
type Reference = (&'static str, fn() -> String);

const REFERENCES: &[Reference] = &[
    ("docs/reference/openapi.json", openapi),
    ("docs/reference/operations.md", operations),
    ("docs/reference/events.md", events),
    ("docs/reference/errors.md", errors),
    ("docs/reference/tests.md", tests),
    ("policies/ok.cedarschema", schema),
    ("src/policy/engine/schema.json", || ok::policy::engine::as_json(&schema()).unwrap()),
    ("src/policy/engine/validated.txt", validated),
    ("src/store/shape.txt", || format!("{}\n", ok::store::shape::of_fresh(ok::gate::state::open::SCHEMAS).unwrap())),
];

#[test]
fn the_reference_says_what_the_code_says() {
    for (name, make) in REFERENCES {
        says(name, &make());
    }
}

/// A generated file says this; or it is written, where that is asked for.
#[allow(clippy::print_stderr, reason = "whoever updates wants to see what was written")]
pub fn says(name: &str, made: &str) {
    let update = std::env::var_os("OK_UPDATE_REFERENCE").is_some();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    if made == std::fs::read_to_string(&path).unwrap_or_default() {
        return;
    }
    let how = "OK_UPDATE_REFERENCE=1 cargo test --test main";
    assert!(update, "{name} is not what the code says; write it anew with\n    {how}\nand read the difference");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, made).unwrap();
    eprintln!("written: {name}");
}

fn openapi() -> String {
    format!("{:#}\n", ok::gate::declare::openapi::document(&ok::nouns::OPERATIONS))
}

fn schema() -> String {
    let product = ok::gate::declare::schema::schema(&ok::nouns::OPERATIONS);
    ok::policy::kinds::schema_for(&product, &ok::policy::Bundle::built_in())
}

/// The default policies and the schema that they were validated against.
fn validated() -> String {
    let product = ok::gate::declare::schema::schema(&ok::nouns::OPERATIONS);
    let validated = ok::policy::engine::validated(&product, &ok::policy::Bundle::built_in());
    format!("{}\n", validated.unwrap_or_else(|findings| panic!("the default policies are wrong: {findings:#?}")))
}

const MADE: &str = "<!-- Made from the code by tests/reference.rs; do not edit. -->\n";

fn list<'a>(items: impl IntoIterator<Item = &'a str>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| format!("`{item}`")).collect();
    if items.is_empty() { "–".into() } else { items.join(", ") }
}

fn scope(reach: Reach) -> String {
    match reach {
        Reach::Full => "–".into(),
        Reach::Scopes(scopes) => list(scopes.iter().copied().map(Scope::name)),
    }
}

fn route(spec: &Spec) -> String {
    if !spec.route.is_served() {
        return "command line only".into();
    }
    format!("`{} {}`", spec.route.method.name(), spec.route.address())
}

fn notes(spec: &Spec) -> String {
    let media = match spec.route.answer {
        Answer::Json | Answer::Partial | Answer::Secret(_) => None,
        Answer::Text => Some("plain text"),
        Answer::Events => Some("server-sent events"),
    };
    let open = spec.route.is_open().then_some("no token");
    let secret = spec.route.once().map(|_| "a secret, shown once");
    let notes: Vec<&str> = [media, open, secret].into_iter().flatten().collect();
    if notes.is_empty() { String::new() } else { format!(" ({})", notes.join("; ")) }
}

fn row(entry: &Entry) -> String {
    let spec = &entry.spec;
    let changes = if entry.effect == Effect::Change { "change" } else { "query" };
    format!(
        "| `{}` | {} | {}{} | {changes} | {} | {} | {} | {} |\n",
        spec.name,
        route(spec),
        spec.doc,
        notes(spec),
        scope(spec.scope),
        list(spec.about.iter().map(|noun| noun.name)),
        list(spec.events.iter().map(|kind| kind.name)),
        spec.route.status,
    )
}

fn operations() -> String {
    let mut nouns: BTreeMap<&str, Vec<&Entry>> = BTreeMap::new();
    for entry in ok::nouns::OPERATIONS.iter() {
        nouns.entry(entry.spec.name.split('.').next().unwrap()).or_default().push(entry);
    }
    let mut text = format!(
        "{MADE}\n# Operations\n\nEverything that the product does. An operation's name is also its Cedar action and its `operationId` in \
         [openapi.json](openapi.json).\n\n\
         - **Scopes**: the scopes of which a limited token needs one; a token without scopes reaches everything that its holder may do.\n\
         - **About**: the Cedar types of the resource.\n\
         - **Events**: what it may record when it is allowed; a refusal is recorded as `denied`, a wait as `approval_requested`.\n\
         - **Status**: of the answer when it is done; any other answer is one of the [errors](errors.md).\n"
    );
    for (noun, entries) in nouns {
        write!(
            text,
            "\n## {noun}\n\n| Operation | Route | What it does | Effect | Scopes | About | Events | Status |\n"
        )
        .unwrap();
        text.push_str("|---|---|---|---|---|---|---|---|\n");
        entries.iter().for_each(|entry| text.push_str(&row(entry)));
    }
    text.push_str(
        "\n## What policies see of the input\n\n`context.input` of a question holds what the operation was given, in these types. Optional fields are marked `?`; \
         in reads all are, because a row of a list is asked about without an input (a record with its collection and its id). What can be erased is kept neither with a recorded question nor with a call that waits, but in an event of its own \
         (`arguments_kept`), so a recorded decision cannot be asked again by policies that look at it. What was carried out stands in its event: a name in the \
         directory, a reason, a note. A text that may be longer than 1,024 characters is seen by its length alone, `{ length: Long }`. Of a field \
         of type `{}`, policies see only whether it was given; that is kept with the question, even if the content can be erased.\n\n\
         | Operation | `context.input` | Erasable | Not seen by policies |\n|---|---|---|---|\n",
    );
    for entry in ok::nouns::OPERATIONS.iter() {
        let arguments = entry.arguments();
        let Some(input) = arguments.cedar_type() else { continue };
        let out: Vec<String> = arguments.left_out.iter().map(|(name, why)| format!("`{name}`: {why}")).collect();
        let out = if out.is_empty() { "–".to_owned() } else { out.join("; ") };
        writeln!(text, "| `{}` | `{input}` | {} | {out} |", entry.spec.name, list(arguments.erasable())).unwrap();
    }
    text
}

/// What the log has of an event and readers are not shown.
fn kept_alone(content: &Content) -> String {
    match content.partly {
        None => list(content.hidden.iter().copied()),
        Some((field, shown)) => format!(
            "`{field}` but for {} of the first {MOST_SHOWN}, and `count`, for whoever may read the audit",
            list(shown.iter().copied())
        ),
    }
}

/// The fields that a sentence names, wherever they stand in it.
fn named_in(says: &str) -> BTreeSet<String> {
    let braces = says.split('{').skip(1).map(|rest| rest.split('}').next().unwrap());
    let fields = braces.flat_map(|words| {
        let (paths, own) = (words.split(['?', '=', ':', '#']).next().unwrap(), words.split('«').nth(1));
        let chosen = words.split(['?', '|']).filter_map(|word| word.strip_prefix(':'));
        paths.split('|').chain(own.map(|own| own.trim_end_matches('»'))).chain(chosen)
    });
    fields.map(|path| path.split('.').next().unwrap().to_owned()).collect()
}

#[test]
fn the_sentence_of_an_event_names_fields_that_it_has_and_shows() {
    for kind in EventKind::all() {
        let EventKind { name, says, .. } = kind;
        let opens = |open: char| says.matches(open).count();
        assert_eq!((opens('['), opens('{'), opens('«')), (opens(']'), opens('}'), opens('»')), "{name}: {says}");
        assert!(says.split('{').skip(1).all(|field| field.contains('}')), "{name} nests fields: {says}");
        let (counted, lists) = (["count".to_owned()], kind.content.partly.is_some());
        for field in named_in(says).into_iter().filter(|field| !(lists && counted.contains(field))) {
            let is_there = kind.fields.iter().any(|known| known.trim_start_matches("r#") == field);
            assert!(is_there && !kind.content.hidden.contains(&field.as_str()), "{name} has no `{field}`: {says}");
        }
    }
}

fn events() -> String {
    let mut text = format!(
        "{MADE}\n# Events\n\nEvery type of event, as `GET /api/events` shows it: `{{\"seq\": …, \"at\": …, \"actor\": …, \"decision\": …, \
         \"event\": {{\"type\": …, …}}}}`. `x-event-sentences` in [the API's document](openapi.json) has a template for each, which \
         makes a sentence of its fields; `x-minor-events` names those that summaries leave out.\n\n| Type | What it says | Fields | Kept in the log, not shown | Recorded by | Content can be erased |\n\
         |---|---|---|---|---|---|\n"
    );
    for kind in EventKind::all() {
        let fields = kind
            .fields
            .iter()
            .map(|field| field.trim_start_matches("r#"))
            .filter(|field| !kind.content.hidden.contains(field));
        let by =
            ok::nouns::OPERATIONS.iter().filter(|entry| entry.spec.events.contains(&kind)).map(|entry| entry.spec.name);
        let by: Vec<&str> = by.collect();
        writeln!(
            text,
            "| `{}` | {} | {} | {} | {} | {} |",
            kind.name,
            kind.doc.trim(),
            list(fields),
            kept_alone(&kind.content),
            if by.is_empty() { "the gate itself".into() } else { list(by) },
            if kind.content.erasable { "yes" } else { "no" },
        )
        .unwrap();
    }
    text
}

/// The lists that a test file of policies can hold.
fn tests() -> String {
    let mut text = format!(
        "{MADE}\n# Test files of policies\n\nWhat a file in `tests/` can hold beside `now`, `teams`, `actors`, `delegations`, `cases` and `matrix`: \
         things to ask about, each with an `id`. [The guide](../guides/policies.md#test) says how they are used.\n\n\
         | List | Type | Fields of a row |\n|---|---|---|\n"
    );
    let nouns = ok::nouns::OPERATIONS.iter().flat_map(|entry| entry.spec.about.iter().copied());
    let nouns: BTreeMap<&str, &Resource> = nouns.filter_map(|noun| Some((noun.list()?, noun))).collect();
    for (list, noun) in nouns {
        let field = |spec: &FactSpec| Some(format!("`{}` ({})", spec.name, spec.in_rows()?));
        let mut fields: Vec<String> = noun.facts.iter().filter_map(field).collect();
        if matches!(noun.staged, Staged::Open { .. }) {
            fields.push("the fields of its collection".to_owned());
        }
        let fields = if fields.is_empty() { "–".to_owned() } else { fields.join("; ") };
        writeln!(text, "| `{list}` | `{}` | {fields} |", noun.name).unwrap();
    }
    text
}

fn errors() -> String {
    let mut text = format!(
        "{MADE}\n# Errors\n\nAn error is `{{\"error\": <code>, \"message\": <sentence>}}`; `invalid` adds `problems`, a list, and `needs_approval` adds \
         `approval`, an id.\n\n| Status | Code | When |\n|---|---|---|\n"
    );
    let mut codes = Code::ALL.to_vec();
    codes.sort_by_key(|code| (code.status(), code.name()));
    for code in codes {
        writeln!(text, "| {} | `{}` | {} |", code.status(), code.name(), when(code)).unwrap();
    }
    text.push_str(
        "\nThese answers are not in this shape: a body that is not JSON (400), a wrong method (405), a missing content type (415) and a body \
         whose fields are missing, unknown or of another type (422) are answered in plain text or with no body; an address or headers \
         that are too long (414, 431) with no body.\n",
    );
    text
}

fn when(code: Code) -> &'static str {
    match code {
        Code::NeedsApproval => "the operation waits for people",
        Code::BadRequest => "a bad value in the address, such as a cursor that the server did not issue",
        Code::Unauthorized => "no token, or one that is not valid",
        Code::Denied => "a policy refuses the actor; the message names the operation and the reason",
        Code::NotApprover => "the caller may not decide this approval",
        Code::AgentTokenScope => {
            "an outside agent's token reaches only the gateway for outside agents (not served yet), whatever the policies say"
        }
        Code::TokenScope => "the token's scopes do not reach the route",
        Code::NotFound => "it does not exist, or the caller may not see it; the two read the same",
        Code::Conflict => "it is in the wrong state, or at another version than the one that the change was made from",
        Code::LastApprover => "too few people would be left to give an approval",
        Code::NotOwner => "the caller does not own it: only its author, or a party to the delegation, may do this",
        Code::EvalsNotRun => "the change's tests were not run; `evals` names them",
        Code::EvalsFailing => "the change's tests fail; `evals` names them",
        Code::LastAdmin => "no admin would be left",
        Code::TooLarge => "the request's body is too large",
        Code::Invalid => "well-formed but not acceptable",
        Code::IdempotencyMismatch => "the `Idempotency-Key` was used for another request",
        Code::RateLimited => {
            "too many failed credentials from one address, more calls than a limit of `limits.yaml` allows, or too many open streams of one actor; `Retry-After` says for how long"
        }
        Code::Timeout => "the request took too long to arrive",
        Code::Internal => "something went wrong on the server; the message names the request",
        Code::AuditUnavailable => "the log cannot be written, so nothing was done",
        Code::Unavailable => "too busy; `Retry-After` says for how long",
    }
}

#[test]
fn every_example_of_the_document_fits_what_it_is_of() {
    let document = ok::gate::declare::openapi::document(&ok::nouns::OPERATIONS);
    let (mut bodies, mut parameters, mut answers) = (0, 0, 0);
    for operation in
        document["paths"].as_object().unwrap().values().flat_map(|methods| methods.as_object().unwrap().values())
    {
        let name = &operation["operationId"];
        let body = &operation["requestBody"]["content"]["application/json"];
        if body.is_object() {
            let wrong = problems(&body["example"], &body["schema"], "");
            assert!(wrong.is_empty(), "{name}: {wrong:?}");
            bodies += 1;
        }
        for (status, answer) in operation["responses"].as_object().unwrap() {
            let answer = &answer["content"]["application/json"];
            if let Some(example) = answer.get("example") {
                let wrong = problems(example, &answer["schema"], "");
                assert!(wrong.is_empty(), "{name}, {status}: {wrong:?}");
                answers += 1;
            }
        }
        for parameter in operation["parameters"].as_array().unwrap() {
            let Some(example) = parameter.get("example") else {
                // What has to be named is shown.
                assert!(parameter["required"] == false, "{name}: no example of {}", parameter["name"]);
                continue;
            };
            let wrong = problems(example, &parameter["schema"], "");
            assert!(wrong.is_empty(), "{name}, {}: {wrong:?}", parameter["name"]);
            parameters += 1;
        }
    }
    assert!(
        bodies > 50 && parameters > 100 && answers > 120,
        "{bodies} bodies, {parameters} parameters, {answers} answers"
    );
}

/// What waits for people answers 202 as an error does; that must not hide what an operation answers when it is done.
#[test]
fn the_document_tells_what_each_operation_answers_when_it_is_done() {
    let document = ok::gate::declare::openapi::document(&ok::nouns::OPERATIONS);
    let error = serde_json::json!({ "$ref": "#/components/schemas/Error" });
    let mut seen = 0;
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            let answers = operation["responses"].as_object().into_iter().flatten();
            let mut done = answers
                .filter(|(status, _)| status.starts_with('2'))
                .filter_map(|(_, answer)| answer["content"].as_object()?.values().next()?.get("schema"));
            assert!(done.any(|schema| *schema != error), "{method} {path}");
            seen += 1;
        }
    }
    assert!(seen > 90);
}
