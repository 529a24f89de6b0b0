//! The way of docs/guides/ci.md, played with real git: policies in a repository, checked and applied from a fresh clone at
//! every merge, while people approve and now and then change something by hand.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use super::ci::{put, read};
use super::{Place, Ran, Server};

const ADMINS: &str = "@id(\"admins\")\npermit (\n  principal in Ok::Role::\"admin\",\n  action,\n  resource\n);\n";
const FOUR_EYES: &str = "@id(\"four-eyes\")\n@reason(\"a change needs a second admin\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"change.promote\",\n  resource\n)\nunless { context.approvals.contains(Ok::ApprovalKind::\"admin\") };\n";
const CASES: &str = "actors:\n  - {id: ana, role: admin}\ncases:\n  - {actor: ana, op: health.read, expect: allow}\n";

/// A company with a server, its repository, and somebody's clone of it.
struct Shop {
    place: Place,
    server: Server,
    token: String,
    merges: usize,
}

impl Shop {
    fn new() -> Shop {
        let place = Place::with_company();
        assert_eq!(place.ana("actor add-human abe --role admin").code, 0);
        let issued = place.ana("token issue --for ana --scope policy --scope read --format json");
        let token = serde_json::from_str::<Value>(&issued.stdout).unwrap()["token"].as_str().unwrap().to_owned();
        git(&place, ".", "init --quiet --bare repo");
        git(&place, ".", "clone --quiet repo dev");
        assert_eq!(place.ana("policy source repo https://git.example.org/acme/policies --auto").code, 0);
        let server = place.serve();
        Shop { place, server, token, merges: 0 }
    }

    /// Commits what stands in the clone, and plays the pipeline of the guide: checked, then applied, from a fresh clone.
    fn merge(&mut self) -> (Ran, Ran) {
        self.merges += 1;
        git(&self.place, "dev", "add --all");
        git(&self.place, "dev", &format!("commit --quiet --message change-{}", self.merges));
        git(&self.place, "dev", "push --quiet origin HEAD");
        let (checked, applied) = (self.pipeline("ci policies"), self.apply());
        (checked, applied)
    }

    /// Plays the pipeline of what is committed already.
    fn merged(&self) -> Ran {
        git(&self.place, "dev", "push --quiet origin HEAD");
        self.apply()
    }

    fn apply(&self) -> Ran {
        let commit = git(&self.place, "dev", "rev-parse HEAD");
        self.pipeline(&format!("policy apply policies --commit {commit} --reason merged"))
    }

    /// The job of an earlier merge, once more.
    fn rerun(&self, back: usize) -> Ran {
        let commit = git(&self.place, "dev", &format!("rev-parse HEAD~{back}"));
        self.pipeline_of(&commit, &format!("policy apply policies --commit {commit} --reason again"))
    }

    /// Runs a command in a fresh clone.
    fn pipeline(&self, line: &str) -> Ran {
        self.pipeline_of("HEAD", line)
    }

    fn pipeline_of(&self, commit: &str, line: &str) -> Ran {
        let clone = self.place.path().join("clone");
        let _ = fs::remove_dir_all(&clone);
        git(&self.place, ".", "clone --quiet repo clone");
        git(&self.place, "clone", &format!("checkout --quiet {commit}"));
        let server = format!("http://{}", self.server.address());
        let mut command = self.place.command(&line.split(' ').collect::<Vec<_>>());
        command.current_dir(&clone).env("OK_SERVER", server).env("OK_TOKEN", &self.token);
        super::ran(line.to_owned(), &command.output().unwrap())
    }

    /// Two admins bring what the pipeline proposed into force.
    fn agree(&self, waits: &Ran) {
        let change = word(waits, "chg_");
        let asked = self.place.ana(&format!("changes promote {change}"));
        assert_eq!(asked.code, 4, "{asked}");
        let agreed = self.place.ok(&format!("--as abe approve {}", word(&asked, "apr_")));
        assert_eq!(agreed.code, 0, "{agreed}");
    }

    fn version(&self) -> i64 {
        let applied = self.place.ana("policy list --limit 1 --format json");
        serde_json::from_str::<Value>(&applied.stdout).unwrap()[0]["version"].as_i64().unwrap()
    }

    /// Another comment, so that the files differ.
    fn edit(&self, word: &str) {
        put(&self.place, "dev/policies/admins.cedar", &format!("// {word}\n\n{ADMINS}"));
    }
}

fn git(place: &Place, folder: &str, line: &str) -> String {
    let mut command = Command::new("git");
    command.args(line.split(' ')).current_dir(place.path().join(folder)).env("GIT_CONFIG_GLOBAL", "/dev/null");
    for name in ["GIT_AUTHOR", "GIT_COMMITTER"] {
        command.env(format!("{name}_NAME"), "ana").env(format!("{name}_EMAIL"), "ana@example.org");
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "git {line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn path(place: &Place, name: &str) -> PathBuf {
    place.path().join(name)
}

/// The first word that begins so.
fn word(ran: &Ran, begin: &str) -> String {
    let text = format!("{} {}", ran.stdout, ran.stderr);
    let found = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').find(|word| word.starts_with(begin));
    found.unwrap_or_else(|| panic!("{ran}")).to_owned()
}

#[test]
fn many_merges_come_into_force_with_approvals_and_changes_by_hand_in_between() {
    let mut shop = Shop::new();
    // The policies are taken over as they are, with their lock; then they are the company's own.
    assert_eq!(shop.place.ana("policy export --dir dev/policies").code, 0);
    fs::remove_dir_all(path(&shop.place, "dev/policies/base")).unwrap();
    fs::remove_dir_all(path(&shop.place, "dev/policies/tests")).unwrap();
    fs::remove_file(path(&shop.place, "dev/policies/approvals.yaml")).unwrap();
    put(&shop.place, "dev/policies/tests/all.yaml", CASES);
    shop.edit("first");
    let (_, waits) = shop.merge();
    assert_eq!(waits.code, 4, "the default policies want a second admin: {waits}");
    shop.agree(&waits);
    assert_eq!((shop.apply().code, shop.version()), (0, 2), "run again, it is done");
    assert!(read(&shop.place, "dev/policies/policy.lock").contains("version: 1\n"), "the lock in git is the old one");

    for round in 0..4 {
        shop.edit(&format!("round {round}"));
        let (checked, applied) = shop.merge();
        assert_eq!((checked.code, applied.code, shop.version()), (0, 0, 3 + round), "{checked}{applied}");
    }

    // A job that runs once more puts nothing back.
    let again = shop.rerun(2);
    assert!(again.code == 1 && again.stderr.contains("brought version 4 into force before"), "{again}");
    assert!(again.stderr.contains("ok policy rollback 4"), "{again}");
    assert_eq!((shop.rerun(0).code, shop.version()), (0, 6), "but the newest is done");

    put(&shop.place, "dev/policies/four_eyes.cedar", FOUR_EYES);
    put(&shop.place, "dev/policies/approvals.yaml", "kinds:\n  admin:\n    eligible: [{role: admin}]\n");
    assert_eq!(shop.merge().1.code, 0);
    for round in 0..2 {
        shop.edit(&format!("approved {round}"));
        let (_, waits) = shop.merge();
        assert_eq!(waits.code, 4, "{waits}");
        shop.agree(&waits);
        assert_eq!((shop.apply().code, shop.version()), (0, 8 + round));
    }

    // Something is changed on the server: the repository does not know it, and must not undo it.
    assert_eq!(shop.place.ana("policy export --dir byhand").code, 0);
    put(&shop.place, "byhand/more.cedar", "// By hand.\n");
    let waits = shop.place.ana("policy apply byhand");
    assert_eq!(shop.place.ok(&format!("--as abe approve {}", word(&waits, "apr_"))).code, 0);
    shop.edit("does not know");
    let (checked, conflict) = shop.merge();
    assert_eq!((checked.code, conflict.code, shop.version()), (2, 1, 10), "{checked}{conflict}");
    assert!(conflict.stderr.contains("version 10 is in force, applied by ana with chg_"), "{conflict}");
    assert!(conflict.stderr.contains("no commit brought it. Take it over with `ok policy export --dir`"), "{conflict}");
    assert!(conflict.stderr.contains("more.cedar") && !conflict.stderr.contains("four_eyes"), "{conflict}");

    // Taken over, it is in git, and the way is free.
    assert_eq!(shop.place.ana("policy export --dir dev/policies --force").code, 0);
    let (checked, same) = shop.merge();
    assert_eq!((checked.code, same.code), (0, 0), "{checked}{same}");
    assert!(checked.stdout.contains("taken over"), "{checked}");
    shop.edit("knows");
    let (checked, waits) = shop.merge();
    assert_eq!((checked.code, waits.code), (0, 4), "{checked}{waits}");
    assert!(checked.stdout.contains("drift       in sync"), "{checked}");
    shop.agree(&waits);
    shop.edit("and goes on");
    let (checked, waits) = shop.merge();
    assert_eq!((checked.code, waits.code, shop.version()), (0, 4, 11), "{checked}");
}

#[test]
fn whoever_applied_by_hand_goes_on_after_their_change_was_approved() {
    let place = Place::with_company();
    assert_eq!(place.ana("actor add-human abe --role admin").code, 0);
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    for round in 0..2 {
        put(&place, "policies/more.cedar", &format!("// Round {round}.\n"));
        let waits = place.ana("policy apply");
        assert_eq!(waits.code, 4, "{waits}");
        assert_eq!(place.ok(&format!("--as abe approve {}", word(&waits, "apr_"))).code, 0);
    }
    // Somebody else's change in between is a conflict all the same.
    assert_eq!(place.ana("policy export --dir other").code, 0);
    put(&place, "other/other.cedar", "// Other.\n");
    let waits = place.ok("--as abe --format json policy apply other");
    let told: serde_json::Value = serde_json::from_str(&waits.stdout).unwrap_or_else(|_| panic!("{waits}"));
    assert_eq!((waits.code, &told["error"]), (4, &"needs_approval".into()));
    let approval = told["approval"].as_str().unwrap();
    assert_eq!(place.ana(&format!("approve {approval}")).code, 0);
    put(&place, "policies/more.cedar", "// Round 2.\n");
    let conflict = place.ana("policy apply");
    assert!(conflict.code == 1 && conflict.stderr.contains("was made from version 1"), "{conflict}");
}

#[test]
fn a_repository_that_equals_what_is_in_force_is_adopted_and_drift_waits_with_its_proposal() {
    let mut shop = Shop::new();
    assert_eq!(shop.place.ana("policy source repo https://git.example.org/acme/policies").code, 0);
    assert_eq!(shop.place.ana("policy export --dir dev/policies").code, 0);
    let (checked, adopted) = shop.merge();
    assert_eq!((checked.code, adopted.code, shop.version()), (0, 0, 1), "{checked}{adopted}");
    let drift = shop.pipeline("policy drift");
    assert!(drift.code == 0 && drift.stdout.contains("in_sync"), "{drift}");
    let again = shop.apply();
    assert!(again.code == 0 && again.stderr.contains("exactly this already"), "{again}");
    // What the repository wants next waits for people.
    put(&shop.place, "dev/policies/four.cedar", FOUR_EYES);
    let (_, waits) = shop.merge();
    assert_eq!(waits.code, 4, "{waits}");
    let (drift, checked) = (shop.pipeline("policy drift"), shop.pipeline("ci policies"));
    assert!(drift.code == 0 && drift.stdout.contains("waits to come into force"), "{drift}");
    assert!(
        checked.stdout.contains("waits to come into force") && !checked.stdout.contains("drift       FAILED"),
        "{checked}"
    );
}

#[test]
fn a_job_that_is_late_does_not_undo_what_was_merged_after_its_commit() {
    let mut shop = Shop::new();
    put(&shop.place, "dev/policies/tests/all.yaml", CASES);
    shop.edit("first");
    let (_, waits) = shop.merge();
    shop.agree(&waits);
    // The next commit's job is late: the one after it comes first.
    shop.edit("late");
    git(&shop.place, "dev", "commit --quiet --all --message late");
    shop.edit("newest");
    assert_eq!(shop.merge().1.code, 0);
    let version = shop.version();
    let late = shop.rerun(1);
    assert!(late.code == 1 && late.stderr.contains("is in force, and comes after"), "{late}");
    let first = shop.rerun(2);
    assert!(first.code == 1 && first.stderr.contains("into force before"), "{first}");
    let commit = git(&shop.place, "dev", "rev-parse --short HEAD~2");
    let abbreviated = shop.pipeline_of(&commit, &format!("policy apply policies --commit {commit} --reason again"));
    assert!(abbreviated.code == 1 && abbreviated.stderr.contains("into force before"), "{abbreviated}");
    let wrong = shop.pipeline("policy propose policies --commit notahash --reason again");
    assert!(wrong.stderr.contains("must be a commit's hash"), "{wrong}");
    assert_eq!(shop.version(), version);
    // Where the history is not there, that is said.
    let apart = shop.place.ana(&format!("policy apply dev/policies --commit {} --reason apart", "ab".repeat(20)));
    assert!(apart.stderr.contains("git cannot say here"), "{apart}");
}

#[test]
fn a_branch_beside_the_commit_in_force_does_not_undo_it() {
    let mut shop = Shop::new();
    put(&shop.place, "dev/policies/tests/all.yaml", CASES);
    shop.edit("first");
    let (_, waits) = shop.merge();
    shop.agree(&waits);
    git(&shop.place, "dev", "branch beside");
    let main = git(&shop.place, "dev", "rev-parse --abbrev-ref HEAD");
    shop.edit("merged");
    assert_eq!(shop.merge().1.code, 0);
    let version = shop.version();
    git(&shop.place, "dev", "checkout --quiet beside");
    shop.edit("beside");
    git(&shop.place, "dev", "commit --quiet --all --message beside");
    git(&shop.place, "dev", "push --quiet origin HEAD");
    let commit = git(&shop.place, "dev", "rev-parse HEAD");
    let job = format!("policy apply policies --commit {commit} --reason beside");
    let refused = shop.pipeline_of(&commit, &job);
    assert!(refused.code == 1 && refused.stderr.contains("what it brought would be undone"), "{refused}");
    assert_eq!(shop.version(), version);
    // Nor where what is in force went back to what both come from.
    git(&shop.place, "dev", &format!("checkout --quiet {main}"));
    git(&shop.place, "dev", "revert --no-edit HEAD");
    assert_eq!(shop.merged().code, 0);
    git(&shop.place, "dev", "checkout --quiet beside");
    let refused = shop.pipeline_of(&commit, &job);
    assert!(refused.code == 1 && refused.stderr.contains("what it brought would be undone"), "{refused}");
    // Once it has taken over what is in force, the branch goes on from there.
    assert_eq!(shop.place.ana("policy export --dir dev/policies --force").code, 0);
    shop.edit("beside again");
    git(&shop.place, "dev", "add --all");
    git(&shop.place, "dev", "commit --quiet --message again");
    git(&shop.place, "dev", "push --quiet origin HEAD");
    let commit = git(&shop.place, "dev", "rev-parse HEAD");
    let applied = shop.pipeline_of(&commit, &format!("policy apply policies --commit {commit} --reason again"));
    assert_eq!(applied.code, 0, "{applied}");
}

#[test]
fn a_squashed_branch_and_a_cut_history_hold_up_no_job() {
    let mut shop = Shop::new();
    put(&shop.place, "dev/policies/tests/all.yaml", CASES);
    shop.edit("first");
    let (_, waits) = shop.merge();
    shop.agree(&waits);
    let main = git(&shop.place, "dev", "rev-parse --abbrev-ref HEAD");
    // In force from its branch, which is squashed when it is merged.
    git(&shop.place, "dev", "checkout --quiet -b topic");
    shop.edit("topic");
    git(&shop.place, "dev", "commit --quiet --all --message topic");
    git(&shop.place, "dev", "push --quiet origin HEAD");
    let topic = git(&shop.place, "dev", "rev-parse HEAD");
    let job = |commit: &str| format!("policy apply policies --commit {commit} --reason topic");
    let applied = shop.pipeline_of(&topic, &job(&topic));
    assert_eq!(applied.code, 0, "{applied}");
    git(&shop.place, "dev", &format!("checkout --quiet {main}"));
    git(&shop.place, "dev", "merge --quiet --squash topic");
    git(&shop.place, "dev", "commit --quiet --message squashed");
    shop.edit("next");
    let applied = shop.merge().1;
    assert_eq!(applied.code, 0, "{applied}");
    // A clone without the commits between the one in force and this one cannot tell.
    shop.edit("last");
    git(&shop.place, "dev", "commit --quiet --all --message last");
    git(&shop.place, "dev", "commit --quiet --allow-empty --message other");
    git(&shop.place, "dev", "push --quiet origin HEAD");
    let (commit, path) = (git(&shop.place, "dev", "rev-parse HEAD"), shop.place.path().display().to_string());
    git(&shop.place, ".", &format!("clone --quiet --depth 1 file://{path}/repo shallow"));
    let before = git(&shop.place, "dev", "rev-parse HEAD~2");
    git(&shop.place, "shallow", &format!("fetch --quiet --depth 1 origin {before}"));
    let shallow = shop.place.ana(&format!("policy apply shallow/policies --commit {commit} --reason last"));
    assert!(shallow.stderr.contains("git cannot say here") && !shallow.stderr.contains("undone"), "{shallow}");
}

#[test]
fn what_is_applied_as_a_commit_is_what_the_commit_has() {
    let mut shop = Shop::new();
    put(&shop.place, "dev/policies/tests/all.yaml", CASES);
    shop.edit("first");
    shop.merge();
    let commit = git(&shop.place, "dev", "rev-parse HEAD");
    let apply = || {
        let line = format!("policy apply policies --commit {commit} --reason dirty");
        let mut command = shop.place.command(&line.split(' ').collect::<Vec<_>>());
        command.current_dir(path(&shop.place, "dev"));
        command.env("OK_SERVER", format!("http://{}", shop.server.address())).env("OK_TOKEN", &shop.token);
        super::ran(line.clone(), &command.output().unwrap())
    };
    let is_told = |files: &str| {
        let refused = apply();
        assert_eq!(refused.code, 1, "{refused}");
        assert!(refused.stderr.contains(&format!("{commit} has other policies: {files}. Commit what")), "{refused}");
    };
    // What is no policy is no matter.
    put(&shop.place, "dev/policies/README.md", "ours");
    assert_ne!(apply().code, 1);
    shop.edit("not committed");
    is_told("admins.cedar");
    put(&shop.place, "dev/policies/new.cedar", FOUR_EYES);
    is_told("admins.cedar, new.cedar");
    git(&shop.place, "dev", "checkout --quiet policies/admins.cedar");
    fs::remove_file(path(&shop.place, "dev/policies/new.cedar")).unwrap();
    fs::remove_file(path(&shop.place, "dev/policies/tests/all.yaml")).unwrap();
    is_told("tests/all.yaml");
}
