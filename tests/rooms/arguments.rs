//! The arguments of every command: sound, and taken wherever they stand.

use std::path::{Path, PathBuf};

use clap::ArgMatches;
use ok::cli::show::Format;
use ok::cli::{declared, reference};
use ok::config;
use ok::types::id::beginning;
use serde_json::Value;

#[test]
fn the_flags_are_those_of_the_settings() {
    let command = declared();
    let serve = command.find_subcommand("serve").expect("serve").clone();
    for setting in config::ALL {
        let Some(flag) = setting.flag else { continue };
        let mut args = command.get_arguments().chain(serve.get_arguments());
        let arg = args.find(|arg| arg.get_long() == Some(flag)).expect(flag);
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let (doc, variable, default) = (setting.doc, setting.variable, setting.default);
        assert_eq!(help, format!("{doc} [env: {variable}] [default: {default}]"));
    }
}

/// What a value could be, by trial.
const SAMPLES: [&str; 8] = ["ana", "1", "team:ops", "global", "read", "never", "https://example.org", "bash"];

/// Every command that does something, with its words.
fn leaves(command: &clap::Command, words: &[String], into: &mut Vec<(Vec<String>, clap::Command)>) {
    if !command.has_subcommands() {
        into.push((words.to_vec(), command.clone()));
    }
    for below in command.get_subcommands() {
        leaves(below, &[words, &[below.get_name().to_owned()]].concat(), into);
    }
}

/// The arguments that a command cannot do without, each with what it could be.
fn required(command: &clap::Command) -> Vec<Vec<Vec<String>>> {
    let groups = command.get_groups().filter(|group| group.is_required_set());
    let first: Vec<&clap::Id> = groups.filter_map(|group| group.get_args().next()).collect();
    let wanted = |arg: &&clap::Arg| !arg.is_global_set() && (arg.is_required_set() || first.contains(&arg.get_id()));
    let forms = |arg: &clap::Arg| {
        let flag = arg.get_long().map(|flag| format!("--{flag}"));
        let known: Vec<String> = arg.get_possible_values().iter().map(|one| one.get_name().to_owned()).collect();
        let values = if known.is_empty() { SAMPLES.map(str::to_owned).to_vec() } else { known };
        match (flag, arg.get_action().takes_values()) {
            (Some(flag), true) => values.into_iter().map(|value| vec![flag.clone(), value]).collect(),
            (Some(flag), false) => vec![vec![flag]],
            (None, _) => values.into_iter().map(|value| vec![value]).collect::<Vec<_>>(),
        }
    };
    command.get_arguments().filter(wanted).map(forms).collect()
}

fn parse(line: &[String]) -> Result<ArgMatches, clap::Error> {
    declared().try_get_matches_from(line)
}

/// Arguments with which the command is understood.
fn understood(words: &[String], required: &[Vec<Vec<String>>]) -> Vec<String> {
    let count: usize = required.iter().map(Vec::len).product();
    let line = |mut at: usize| {
        let mut args = Vec::new();
        for forms in required {
            args.extend(forms[at % forms.len()].clone());
            at /= forms.len();
        }
        args
    };
    let whole = |args: &Vec<String>| [&["ok".to_owned()], words, args.as_slice()].concat();
    (0..count).map(line).find(|args| parse(&whole(args)).is_ok()).expect("arguments that are understood")
}

#[test]
fn every_command_takes_every_global_flag_in_every_position() {
    let flags = "--state s.db --as eva --delegation d --tenant t --tenants-dir f --dev-echo-tools --format json";
    let flags: Vec<String> = flags.split(' ').map(str::to_owned).collect();
    let mut commands = Vec::new();
    leaves(&declared(), &[], &mut commands);
    assert!(commands.len() > 70);
    for (words, command) in commands {
        let args = understood(&words, &required(&command));
        let whole = [words.as_slice(), &args].concat();
        for at in (0..=words.len()).chain([whole.len()]) {
            let (before, after) = whole.split_at(at);
            let line = [&["ok".to_owned()], before, &flags, after].concat();
            let given = parse(&line).unwrap_or_else(|error| panic!("{line:?}: {error}"));
            let text = |id: &str| given.get_one::<String>(id).unwrap().as_str();
            assert_eq!(["global.as", "global.delegation", "global.tenant"].map(text), ["eva", "d", "t"], "{line:?}");
            let path = |id: &str| given.get_one::<PathBuf>(id).unwrap().as_path();
            assert_eq!(["global.state", "global.tenants-dir"].map(path), ["s.db", "f"].map(Path::new), "{line:?}");
            assert!(given.get_flag("global.dev-echo-tools"), "{line:?}");
            assert!(given.get_one::<Format>("global.format") == Some(&Format::Json), "{line:?}");
        }
    }
}

/// `type`, which Rust writes `r#type`.
fn plain(field: &'static str) -> &'static str {
    field.strip_prefix("r#").unwrap_or(field)
}

/// Whether a schema knows the field that a path leads to; what lies in a field that was flattened stands beside the others.
fn is_field_of(path: &[&'static str], schema: &Value) -> bool {
    let (last, before) = path.split_last().unwrap();
    let properties = |schema: &Value| schema.get("properties").cloned().unwrap_or_default();
    let within = before.iter().fold(properties(schema), |fields, field| match fields.get(plain(field)) {
        Some(field) => properties(field),
        None => fields,
    });
    within.get(plain(last)).is_some()
}

#[test]
fn every_column_is_a_field_of_the_answer() {
    let columns = reference::columns();
    assert!(columns.len() > 5);
    for (operation, columns) in columns {
        let mut entries = ok::nouns::OPERATIONS.iter();
        let entry = entries.find(|entry| entry.spec.name == operation).expect("a listed operation");
        let answer = entry.output_schema().to_value();
        let row = answer.get("items").or(answer.pointer("/properties/data/items")).unwrap_or(&answer);
        // What is free JSON says of no field what it is called.
        let typed = row.get("properties").is_some();
        for column in columns.iter().filter(|_| typed) {
            assert!(is_field_of(column.path, row), "{operation} has no field {:?}", column.path);
        }
    }
}

#[test]
fn what_may_be_named_by_its_beginning_is_found_in_a_list() {
    let prefixes = (0..26_u32.pow(3)).map(|n| [n / 676, n / 26 % 26, n % 26].map(|at| char::from(b'a' + at as u8)));
    let lists: Vec<_> = prefixes.filter_map(|[a, b, c]| beginning(&format!("{a}{b}{c}_0000"))).collect();
    assert!(lists.len() > 5);
    for list in lists {
        assert!(reference::LISTS.iter().any(|(name, _)| *name == list), "{list}");
    }
}

#[test]
fn the_arguments_are_sound() {
    declared().debug_assert();
}
