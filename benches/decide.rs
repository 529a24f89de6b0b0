//! What a decision costs, indexed and plain, at 20, 1,000 and 10,000 policies, what its slice costs, and what it costs to
//! explain it.
//!
//! Each set holds what a company of that size would: most policies name one action and one team or person, some a group of
//! actions, a few everything. `cargo bench -- decide`.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::hint::black_box;

use cedar_policy::EntityUid;
use criterion::{BenchmarkId, Criterion};
use ok::policy::{Bundle, Closed, Eyes, Facts, Question, Record, Slice, Snapshot};

/// As many actions as the product has, about.
const ACTIONS: usize = 150;
const SIZES: [usize; 3] = [20, 1_000, 10_000];

fn uid(text: &str) -> EntityUid {
    text.parse().expect("a uid")
}

fn schema() -> String {
    let mut text = String::from(
        r#"namespace Ok {
  entity ApprovalKind enum ["admin", "lead", "security", "finance"];
  entity Role enum ["admin", "lead", "member", "agent"];
  entity Team in [Team] = { lead?: Actor };
  entity Actor in [Role, Team] = { kind: String, admin: Bool, active: Bool, trust: Long, team?: Team, owner?: Actor };
  type Kill = { engaged: Bool, global: Bool, actor: Bool, team: Bool };
  type Facts = { now: datetime, approvals: Set<ApprovalKind>, channel: String, kill: Kill, token: { scoped: Bool } };
  action "query"; action "change";
"#,
    );
    for number in 0..ACTIONS {
        let group = if number % 3 == 0 { "query" } else { "change" };
        let _ = writeln!(
            text,
            "  action \"noun.verb{number}\" in [\"{group}\"] appliesTo {{ principal: [Actor], resource: [Actor], context: Facts }};"
        );
    }
    text + "}\n"
}

fn policies(count: usize) -> Bundle {
    let common = r#"@id("admins") permit (principal in Ok::Role::"admin", action, resource);
@id("members") permit (principal in Ok::Team::"all", action in Ok::Action::"query", resource) when { principal.active };
@id("own") permit (principal, action in Ok::Action::"change", resource) when { principal == resource && principal.trust > 1 };
@id("kill") @reason("the kill switch is engaged") forbid (principal, action in Ok::Action::"change", resource) when { context.kill.engaged };
@id("risky") @reason("needs an approval") forbid (principal, action == Ok::Action::"noun.verb1", resource)
unless { principal.admin || context.approvals.contains(Ok::ApprovalKind::"lead") };
"#;
    let mut files = vec![("base.cedar".to_owned(), common.to_owned())];
    for number in 5..count {
        let (action, team, person) = (number % ACTIONS, number % 97, number % 211);
        let text = match number % 4 {
            0 => format!(
                "@id(\"p{number}\") permit (principal == Ok::Actor::\"a{person}\", action == Ok::Action::\"noun.verb{action}\", resource);"
            ),
            1 => format!(
                "@id(\"p{number}\") permit (principal in Ok::Team::\"t{team}\", action == Ok::Action::\"noun.verb{action}\", resource) when {{ principal.trust > 2 }};"
            ),
            2 => format!(
                "@id(\"p{number}\") @reason(\"r\") forbid (principal in Ok::Team::\"t{team}\", action == Ok::Action::\"noun.verb{action}\", resource) when {{ !principal.active }};"
            ),
            _ => format!(
                "@id(\"p{number}\") @reason(\"r\") forbid (principal, action == Ok::Action::\"noun.verb{action}\", resource == Ok::Actor::\"a{person}\") when {{ principal.trust < 1 }};"
            ),
        };
        files.push((format!("team/p{number:05}.cedar"), text));
    }
    Bundle::new(files)
}

fn facts() -> Facts {
    let kill = Record::new().bool("engaged", false).bool("global", false).bool("actor", false).bool("team", false);
    Facts::new()
        .datetime("now", 1_700_000_000_000)
        .string("channel", "api")
        .record("kill", kill)
        .record("token", Record::new().bool("scoped", false))
}

/// About ten entities: two people, their teams, leads and owners.
fn entities() -> Vec<Closed> {
    let role = uid("Ok::Role::\"member\"");
    let all = uid("Ok::Team::\"all\"");
    let mut closed = vec![Closed::new(&all, [], &Record::new())];
    for (person, team, lead, owner) in [("a1", "t1", "a3", "a5"), ("a2", "t2", "a4", "a6")] {
        let team = uid(&format!("Ok::Team::\"{team}\""));
        let lead = uid(&format!("Ok::Actor::\"{lead}\""));
        let owner = uid(&format!("Ok::Actor::\"{owner}\""));
        let attributes =
            || Record::new().string("kind", "human").bool("admin", false).bool("active", true).long("trust", 3);
        let ancestors = [role.clone(), team.clone(), all.clone()];
        let with_all = attributes().entity("team", &team).entity("owner", &owner);
        closed.push(Closed::new(&uid(&format!("Ok::Actor::\"{person}\"")), ancestors, &with_all));
        closed.push(Closed::new(&team, [all.clone()], &Record::new().entity("lead", &lead)));
        closed.push(Closed::new(&lead, [role.clone(), all.clone()], &attributes()));
        closed.push(Closed::new(&owner, [role.clone(), all.clone()], &attributes()));
    }
    closed
}

/// Calls `run` with one question about an action.
fn asked(snapshot: &Snapshot, action: &str, entities: &[Closed], run: impl FnOnce(&Question<'_>)) {
    let (principal, resource, action) = (uid("Ok::Actor::\"a1\""), uid("Ok::Actor::\"a2\""), uid(action));
    let slice = Slice::new(snapshot, &action, entities.iter().cloned());
    run(&Question {
        principal: &principal,
        action: &action,
        resource: &resource,
        entities: &slice,
        facts: &facts(),
        input: None,
        approvals: &[],
        supposed: None,
    });
}

fn decisions(criterion: &mut Criterion) {
    let entities = entities();
    let mut group = criterion.benchmark_group("decide");
    for size in SIZES {
        let snapshot = Snapshot::load(&schema(), &policies(size)).expect("no findings");
        asked(&snapshot, "Ok::Action::\"noun.verb3\"", &entities, |question| {
            assert!(snapshot.decide(question).is_allowed());
            assert_eq!(snapshot.plain(question), snapshot.indexed(question));
            group.bench_function(BenchmarkId::new("allow", size), |bench| {
                bench.iter(|| snapshot.decide(black_box(question)))
            });
            group.bench_function(BenchmarkId::new("one evaluation, indexed", size), |bench| {
                bench.iter(|| snapshot.indexed(black_box(question)))
            });
            group.bench_function(BenchmarkId::new("one evaluation, plain", size), |bench| {
                bench.iter(|| snapshot.plain(black_box(question)))
            });
        });
        asked(&snapshot, "Ok::Action::\"noun.verb1\"", &entities, |question| {
            group.bench_function(BenchmarkId::new("refused", size), |bench| {
                bench.iter(|| snapshot.decide(black_box(question)))
            });
            let ruling = snapshot.decide(question);
            assert!(!ruling.is_allowed());
            // The parts of every policy of the action, and the words of those that are told.
            group.bench_function(BenchmarkId::new("refused, explained", size), |bench| {
                bench.iter(|| {
                    snapshot.explain(black_box(question), &ruling, Eyes { sees: &|_| true, withheld: &BTreeSet::new() })
                })
            });
        });
    }
    group.finish();
}

fn slices(criterion: &mut Criterion) {
    let snapshot = Snapshot::load(&schema(), &policies(20)).expect("no findings");
    let (entities, action) = (entities(), uid("Ok::Action::\"noun.verb3\""));
    criterion.bench_function("decide/slice of nine", |bench| {
        bench.iter(|| Slice::new(&snapshot, black_box(&action), entities.iter().cloned()))
    });
    criterion.bench_function("decide/facts", |bench| bench.iter(facts));
}

pub fn main() {
    let mut criterion = Criterion::default().sample_size(30).configure_from_args();
    decisions(&mut criterion);
    slices(&mut criterion);
    criterion.final_summary();
}
