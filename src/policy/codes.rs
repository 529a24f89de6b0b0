//! The stable codes of findings, each with its severity and its page: `docs/reference/findings.md` is written from here.

use std::fmt::Write as _;

use serde::Serialize;

/// What a finding keeps from happening.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The bundle does not load, or a test fails.
    Error,
    /// The bundle loads; its author should look, and the command fails.
    Warning,
    /// It is worth knowing, and no failure.
    Note,
}

impl Severity {
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

pub const SCHEMA: &str = "schema_invalid";
pub const REDEFINED: &str = "schema_redefined";
pub const PARSE: &str = "policy_parse";
pub const TEMPLATE: &str = "policy_template";
pub const NO_ID: &str = "policy_without_id";
pub const DUPLICATE_ID: &str = "policy_duplicate_id";
pub const NO_REASON: &str = "forbid_without_reason";
pub const INVALID: &str = "policy_invalid";
pub const WARNING: &str = "policy_warning";
pub const NEVER: &str = "policy_never_matches";
pub const IMPOSSIBLE: &str = "value_never_occurs";
pub const STRANGER: &str = "names_nobody";
pub const LEVEL: &str = "policy_too_many_hops";
pub const TOO_LARGE: &str = "policy_too_large";
pub const APPROVALS: &str = "policy_approvals";
pub const APPROVALS_FILE: &str = "approvals_invalid";
pub const COLLECTION: &str = "collection_invalid";
pub const VIEW: &str = "view_invalid";
pub const APPROVALS_UNUSED: &str = "approvals_unused";
pub const LIMITS_FILE: &str = "limits_invalid";
pub const LIMITS_EMPTY: &str = "limits_empty";
pub const ESCALATES_TO_NOBODY: &str = "escalates_to_nobody";
pub const EXPIRES_FIRST: &str = "expires_first";
pub const APPROVALS_BLIND: &str = "approvals_blind";
pub const APPROVALS_UNREACHABLE: &str = "approvals_unreachable";
pub const LOCKED_OUT: &str = "locked_out";
pub const ENTITIES_UNFIT: &str = "entities_unfit";
pub const FORMAT: &str = "policy_format";
pub const SHADOWED: &str = "policy_shadowed";
pub const ALLOWS_ALL: &str = "policy_allows_everything";
pub const TEST_INVALID: &str = "test_invalid";
pub const TESTS_LEFT_OUT: &str = "tests_left_out";
pub const TEST_FAILED: &str = "test_failed";
pub const NO_TESTS: &str = "no_tests_run";
pub const UNTESTED: &str = "policies_untested";
pub const NO_POLICIES: &str = "no_policies";
pub const UNREAD: &str = "file_not_read";
pub const HIDDEN: &str = "hidden_characters";
pub const COVERAGE: &str = "coverage_too_low";
pub const MUTATION: &str = "mutation_too_low";
pub const NOT_COVERED: &str = "part_not_covered";
pub const SURVIVED: &str = "mutant_survived";

/// The exit status of a command that reports a finding, unless another finding is worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    Fine = 0,
    /// There is nothing to look at.
    Broken = 1,
    Findings = 2,
    Tests = 3,
}

/// One code as the reference shows it.
pub struct Code {
    pub code: &'static str,
    pub severity: Severity,
    pub title: &'static str,
    pub meaning: &'static str,
    pub mend: &'static str,
}

const fn error(code: &'static str, title: &'static str, meaning: &'static str, mend: &'static str) -> Code {
    Code { code, severity: Severity::Error, title, meaning, mend }
}

const fn warning(code: &'static str, title: &'static str, meaning: &'static str, mend: &'static str) -> Code {
    Code { code, severity: Severity::Warning, title, meaning, mend }
}

const fn note(code: &'static str, title: &'static str, meaning: &'static str, mend: &'static str) -> Code {
    Code { code, severity: Severity::Note, title, meaning, mend }
}

impl Code {
    /// What a command ends with for it.
    pub fn end(&self) -> End {
        match (self.code, self.severity) {
            (_, Severity::Note) => End::Fine,
            (NO_POLICIES, _) => End::Broken,
            (TEST_INVALID | TESTS_LEFT_OUT | TEST_FAILED | NO_TESTS | COVERAGE | MUTATION, _) => End::Tests,
            _ => End::Findings,
        }
    }

    /// Whether it concerns what all policies are checked against, so that nothing else can be checked.
    pub fn is_root(&self) -> bool {
        matches!(self.code, SCHEMA | REDEFINED)
    }
}

/// Every code there is.
pub const ALL: &[Code] = &[
    error(
        SCHEMA,
        "The schema cannot be read",
        "`schema.cedarschema` does not parse, or refers to a type that does not exist. Nothing else is checked until it is fixed.",
        "Fix the reported location. Types of the product are written `Ok::Actor`; the context of an action is `Ok::Facts`.",
    ),
    error(
        REDEFINED,
        "The schema redefines the product's",
        "`schema.cedarschema` declares an entity type, an action or a common type that the product declares itself; or, in the product's namespace or in none, gives the name of one of Cedar's own types (`datetime`) another meaning.",
        "Give it another name, best in a namespace of your own. The product's own declarations need not be repeated.",
    ),
    error(
        PARSE,
        "A file does not parse",
        "The text is not Cedar. The other files are still checked.",
        "Fix the reported location.",
    ),
    error(
        TEMPLATE,
        "A template",
        "The policy has a slot such as `?principal`. Template links are data that nobody reviews.",
        "Write a policy about a group or an attribute.",
    ),
    error(
        NO_ID,
        "A policy has no @id",
        "Answers, logs and tests name a policy by its `@id`.",
        "Add `@id(\"...\")` above the policy.",
    ),
    error(
        DUPLICATE_ID,
        "An @id is used twice",
        "Two policies of the bundle have the same `@id`; the finding names the place of the first.",
        "Give one of them another.",
    ),
    error(
        NO_REASON,
        "A forbid has no @reason",
        "The refused caller reads the `@reason`: \u{ab}policy denied tick: admins only\u{bb}.",
        "Add `@reason(\"...\")` above the policy: lower case, without a full stop.",
    ),
    error(
        INVALID,
        "A policy does not fit the schema",
        "Strict validation failed: an unknown action, type, attribute or approval kind, or types that do not fit.",
        "Fix the reported location. Test an optional attribute with `has` before it is read.",
    ),
    error(
        WARNING,
        "Validation warns about a policy",
        "The policy is valid but contains something suspicious, such as mixed scripts or invisible characters.",
        "Rewrite it unambiguously.",
    ),
    error(
        NEVER,
        "A policy can never match",
        "Its scope and conditions cannot all hold: a resource type that no action of the scope applies to, a group that no \
         such entity can be in, or conditions that contradict each other.",
        "Remove the policy, or fix the part that cannot hold.",
    ),
    error(
        LEVEL,
        "A policy follows too many references",
        "A decision loads two hops from principal, resource and context; the policy reads further, or opens a literal.",
        "Ask for membership (`in`) instead, or compare without opening.",
    ),
    error(
        TOO_LARGE,
        "A policy is too large",
        "Its conditions have more than 1,000 parts, its text more than 4,000 tokens, or its brackets nest deeper than 64.",
        "Split it. Replace sets of names by groups.",
    ),
    error(
        APPROVALS,
        "Approvals are read in the wrong place",
        "An approval may only lift a forbid, as `context.approvals.contains(Ok::ApprovalKind::\"...\")` in its `unless`, and \
         two kinds are never alternatives.",
        "Move it there. All kinds that a forbid names are required.",
    ),
    error(
        APPROVALS_FILE,
        "approvals.yaml cannot be read",
        "The file is not YAML, has an unknown field or a value out of bounds, or a kind whose name is not made of a-z, 0-9 and `-`.",
        "Fix the reported line.",
    ),
    error(
        COLLECTION,
        "A collection cannot be read",
        "A file below `collections/` is not YAML, has an unknown key or a value out of bounds, or refers to a collection that is not there.",
        "Fix the reported line.",
    ),
    error(
        VIEW,
        "A view cannot be read",
        "A file below `views/` is not YAML, has an unknown key or a value out of bounds, or asks for what its collection does not have.",
        "Fix the reported line; before you change a collection, change the views that use the field.",
    ),
    warning(
        APPROVALS_UNUSED,
        "A kind of approval that nothing asks for",
        "`approvals.yaml` has a kind of the company's own, and no policy names it.",
        "Fix its name, fix the policy that should name it, or remove it.",
    ),
    error(
        LIMITS_FILE,
        "limits.yaml cannot be read",
        "The file is not YAML, has an unknown field or a value out of bounds, or names an operation that does not exist.",
        "Fix the reported line.",
    ),
    warning(
        LIMITS_EMPTY,
        "A limit with an empty list",
        "A limit of `limits.yaml` has an empty list of kinds, roles or operations. It reads as a limit for nobody, and holds for everybody.",
        "Leave the list out if the limit is for all of them, or name those that it is for.",
    ),
    warning(
        ESCALATES_TO_NOBODY,
        "An approval escalates to nobody",
        "`escalate.to` of a kind in `approvals.yaml` is empty, or has an entry without a role, a team or a lead.",
        "Name who may decide from then on, or leave `escalate` out.",
    ),
    warning(
        EXPIRES_FIRST,
        "A reminder or an escalation comes after its request has expired",
        "`remind_hours` or `escalate.after_hours` of a kind in `approvals.yaml` is not less than its `ttl_hours` or, with a company, than the `approvals.default_ttl_h` of its settings: it has no effect.",
        "Remind or escalate earlier, let requests live longer, or leave the setting out.",
    ),
    warning(
        APPROVALS_BLIND,
        "Approvals are given blind",
        "Somebody who may decide a request is refused the read that shows it, or the change that it would put into force.",
        "Permit that read to `resource.approvers`, as the default policies do.",
    ),
    warning(
        APPROVALS_UNREACHABLE,
        "An approval can never be given",
        "The directory has fewer eligible people than the threshold of the kind asks for.",
        "Lower the threshold, or make more people eligible.",
    ),
    error(
        LOCKED_OUT,
        "Nobody could change the policies again",
        "Under these policies nobody of the company could propose, test, review or put into force another change. They cannot come into force. Only a company can tell: give a server.",
        "Permit what the message names to somebody, or make sure that enough people can give the approval.",
    ),
    warning(
        ENTITIES_UNFIT,
        "Kept entities do not fit the schema",
        "Stored entities do not fit the schema of a change: an attribute is gone, is now required, or has another type. Every question that depends on one is refused until it is stored again.",
        "Make the attribute optional, or store the entities again as soon as the change is in force.",
    ),
    warning(
        FORMAT,
        "A file is not formatted",
        "One way to write policies keeps their history readable.",
        "Run `ok policy check --fix`.",
    ),
    warning(
        IMPOSSIBLE,
        "A comparison with a value that never occurs",
        "The compared attribute has a closed list of values, such as the kinds of actors, the states of tasks or the options of a choice, and this is none of them; or a number, such as a trust tier, is always on the same side of the bound; or an entity has the wrong type, an actor has the id of a team, or nothing has the attribute. A forbid with such a condition forbids nothing.",
        "Write what the finding suggests, or one of the values that it lists.",
    ),
    warning(
        SHADOWED,
        "A policy changes nothing",
        "Whenever it matches, another one matches too and decides the same, or forbids what it permits. A policy that does this to more than five others is reported once, at its own place.",
        "Remove it, or add the missing condition to the other one.",
    ),
    warning(
        ALLOWS_ALL,
        "A policy permits everything to everybody",
        "Its scope limits nothing, and it has no conditions.",
        "Name a group, an action or a resource.",
    ),
    error(
        TEST_INVALID,
        "A test cannot be understood",
        "The file is not YAML, is too large or too deep, has an unknown field, or names an actor, an operation or a target \
         that does not exist.",
        "Fix the reported line.",
    ),
    error(
        TESTS_LEFT_OUT,
        "Tests were not run",
        "A server limits the cases that it runs for one request, and the tests of this file would exceed that.",
        "Run `ok policy test` on the command line, which runs them all.",
    ),
    error(
        TEST_FAILED,
        "A test failed",
        "The answer, the policies or the approvals are not the expected ones.",
        "Fix the policy or the test.",
    ),
    error(
        NO_TESTS,
        "No test was run",
        "No case ran, although there are test files, a coverage is required, or the command is `ok ci`.",
        "Write cases into `tests/*.yaml`.",
    ),
    warning(
        UNTESTED,
        "The policies have no tests",
        "There are no files `tests/*.yaml`, so nothing says what the policies are meant to answer.",
        "Write cases into `tests/*.yaml`. `ok ci` fails without them.",
    ),
    error(
        NO_POLICIES,
        "There are no policies",
        "No file of the bundle contains a policy, so everything would be denied.",
        "Check the folder that you named. `ok policy export` writes the policies in force.",
    ),
    warning(
        UNREAD,
        "A file is not read",
        "Nothing reads this file, because of its name or its folder: it has no effect.",
        "Rename it, move it, or take it out. Policies are `*.cedar` in any folder, tests `*.yaml` below `tests`; \
         `approvals.yaml`, `limits.yaml` and `schema.cedarschema` lie in the folder itself. Documentation (`*.md`) and hidden files may lie anywhere.",
    ),
    warning(
        HIDDEN,
        "A file contains invisible characters",
        "A control character, or one that changes the order of the letters on a line: what a reviewer sees is not what is parsed.",
        "Take it out. Inside a Cedar string write it as `\\u{202e}`.",
    ),
    error(
        COVERAGE,
        "The coverage is too low",
        "Fewer parts of the policies than `--min-coverage` asks for were seen both true and false.",
        "Write a case for each part that is named.",
    ),
    error(
        MUTATION,
        "Too few mutants are detected",
        "The tests detect a smaller share of the mutants than `--min-mutation` requires.",
        "Write a case for each mutant that is named.",
    ),
    note(
        STRANGER,
        "An actor or a team that does not exist",
        "A policy, an escalation or a budget names an actor or a team that the company does not have, or that the caller may not see: it matches nobody until somebody with that id joins. Checked only against a company: with a server or a state file.",
        "Correct the id, or keep it if they have yet to join.",
    ),
    note(
        NOT_COVERED,
        "A part of a policy is not covered",
        "No test has seen this part of a scope or of a condition true, or none has seen it false.",
        "Write a case in which everything before the part holds but the part does not, or one in which both hold.",
    ),
    note(
        SURVIVED,
        "No test detects a mutant",
        "With the reported mutation, every test still passes.",
        "Write a case that fails with the change. A change that affects no answer cannot be detected.",
    ),
];

/// The entry of a code.
pub fn of(code: &str) -> Option<&'static Code> {
    ALL.iter().find(|entry| entry.code == code)
}

/// `docs/reference/findings.md`.
pub fn reference() -> String {
    let mut text = String::from(
        "# Findings\n\nWhat `ok policy check` and `ok ci` find, by its code. Written from `src/policy/codes.rs`.\n\n\
         A bundle with an error does not load, or fails its tests. With a warning it loads, and the command fails all the same. \
         A note changes nothing. Each entry gives the exit code of a command that finds nothing worse: 1 is worse \
         than 2, and 2 than 3.\n",
    );
    for entry in ALL {
        let Code { code, severity, title, meaning, mend } = entry;
        let (severity, end) = (severity.name(), entry.end() as u8);
        let _ =
            write!(text, "\n## {code}\n\n{title} ({severity}, exit code {end}).\n\n{meaning}\n\nWhat to do: {mend}\n");
    }
    text
}
