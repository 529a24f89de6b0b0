//! Commands beside a server, and servers beside each other.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use super::{Place, Server, assert_snapshot, session};

#[test]
fn commands_reach_a_running_server() {
    let place = Place::with_company();
    let server = place.serve();
    let runs = [
        place.ana("actor add-human bob --role member"),
        place.ana("actor list"),
        place.ok("--as bob kill global"),
        place.ok("--as nobody kill global"),
        place.ok("--as nobody log --since 4"),
        place.ok("init --admin eve"),
        place.ana("token issue --for bob"),
        place.ok("audit verify"),
        place.ok("audit head"),
        server.stop(),
        place.ana("actor list"),
        place.ok("audit verify"),
    ];
    assert_snapshot("commands_reach_a_running_server", session(runs));
}

#[test]
fn a_document_of_several_megabytes_reaches_a_running_server() {
    let place = Place::with_company();
    let server = place.serve();
    let page = format!("<p>A refund is paid within 30 days.</p><!-- {} -->", "picture ".repeat(500_000));
    std::fs::write(place.path().join("handbook.html"), page).unwrap();
    let sent = place.ana("brain upload handbook.html --topic refunds");
    assert_eq!((sent.code, server.stop().code), (0, 0), "{}", sent.shown);
}

#[test]
fn a_second_server_says_who_serves() {
    let place = Place::with_company();
    let server = place.serve();
    let second = place.ok("serve --bind 127.0.0.1:0");
    assert_eq!(second.code, 75);
    assert_snapshot("a_second_server_says_who_serves", session([second, server.stop()]));
}

#[test]
fn an_address_in_use_is_told() {
    let (place, other) = (Place::with_company(), Place::with_another_company());
    let server = place.serve();
    let refused = other.ok_with("serve", &[("OK_BIND", server.address())]);
    assert_eq!(refused.code, 1);
    assert_snapshot("an_address_in_use_is_told", session([refused, other.ok("serve --bind nowhere")]));
    assert!(!other.path().join(".ok/state.db.sock").exists());
}

#[test]
fn a_killed_server_is_followed_by_another() {
    let place = Place::with_company();
    let server = place.serve();
    place.ana("actor add-human bob --role member");
    server.signal("-KILL");
    assert_eq!(server.ended().code, -9);
    assert!(place.path().join(".ok/state.db.sock").exists());
    let by_command = place.ana("actor show bob");
    let server = place.serve();
    let by_server = place.ana("actor add-human eve --role member");
    assert_eq!((by_command.code, by_server.code), (0, 0));
    assert_eq!(server.stop().code, 0);
    assert!(!place.path().join(".ok/state.db.sock").exists());
    assert_eq!(place.ok("audit verify").code, 0);
}

#[test]
fn a_server_that_stands_still_is_told() {
    let place = Place::with_company();
    let server = place.serve();
    server.signal("-STOP");
    let runs = [place.ana("tick"), place.ok("audit verify")];
    server.signal("-CONT");
    assert_eq!(server.stop().code, 0);
    assert_snapshot("a_server_that_stands_still_is_told", session(runs));
}

#[test]
fn interrupt_and_terminate_both_stop_a_server() {
    let place = Place::with_company();
    for signal in ["-INT", "-TERM"] {
        let server = place.serve();
        server.signal(signal);
        assert_eq!(server.ended().code, 0, "{signal}");
    }
}

/// A peer that asks much and reads nothing, so that the server is busy with it.
fn greedy(place: &Place) -> UnixStream {
    let mut talk = UnixStream::connect(place.path().join(".ok/state.db.sock")).unwrap();
    let ask = r#"{"op":"openapi.read","input":{},"as":"ana"}"#;
    talk.write_all(format!("{ask}\n").repeat(200).as_bytes()).unwrap();
    std::thread::sleep(Duration::from_millis(300));
    talk
}

#[test]
fn a_second_signal_does_not_wait() {
    let place = Place::with_company();
    let server = place.serve();
    let _greedy = greedy(&place);
    server.signal("-TERM");
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    server.signal("-INT");
    assert_eq!(server.ended().code, 130);
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert_eq!(place.ana("tick").code, 0);
}

#[test]
fn a_peer_that_does_not_read_keeps_no_server_from_stopping() {
    let place = Place::with_company();
    let server = place.serve();
    let _greedy = greedy(&place);
    assert_eq!(place.ana("tick").code, 0);
    assert_eq!(server.stop().code, 0);
}

#[test]
fn commands_wait_for_each_other() {
    let place = Place::with_company();
    std::thread::scope(|scope| {
        for number in 0..6 {
            let place = &place;
            scope.spawn(move || {
                let ran = place.ana(&format!("actor add-human p{number} --role member"));
                assert_eq!(ran.code, 0, "{ran}");
            });
        }
    });
    assert_eq!(place.ana("actor list").stdout.lines().count(), 8);
    assert_eq!(place.ok("audit verify").code, 0);
}

#[test]
fn the_admin_socket_takes_anything_and_goes_on() {
    let place = Place::with_company();
    let server = place.serve();
    let path = place.path().join(".ok/state.db.sock");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let lines = [
        "",
        "nonsense",
        "[]",
        r#"{"op":"tick"}"#,
        r#"{"op":"nothing","input":{},"as":"ana"}"#,
        r#"{"op":"tick","input":{},"as":null}"#,
        r#"{"op":"tick","input":{},"as":"Not An Id"}"#,
        r#"{"op":"tick","input":7,"as":"ana"}"#,
        r#"{"op":"company.init","input":{"id":"eve"},"as":"ana"}"#,
        r#"{"op":"audit.key","input":{},"as":"ana"}"#,
    ];
    let mut text = String::new();
    let mut talk = BufReader::new(UnixStream::connect(&path).unwrap());
    for line in lines {
        talk.get_mut().write_all(format!("{line}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        talk.read_line(&mut answer).unwrap();
        text += &format!("> {line}\n< {answer}");
    }
    let mut endless = BufReader::new(UnixStream::connect(&path).unwrap());
    endless.get_mut().write_all(&vec![b'x'; 16 << 20]).unwrap();
    let mut answer = String::new();
    endless.read_line(&mut answer).unwrap();
    text += &format!("> 16 MiB without an end\n< {answer}");
    assert_eq!(place.ana("tick").code, 0);
    assert_eq!(server.stop().code, 0);
    assert_snapshot("the_admin_socket_takes_anything", text);
}

#[test]
fn a_deep_folder_has_its_socket_elsewhere() {
    let place = Place::new();
    let deep = format!("{}/state.db", "deep/".repeat(30));
    assert_eq!(place.ok(&format!("--state {deep} init --admin ana")).code, 0);
    let temporary = place.path().join("t");
    std::fs::create_dir(&temporary).unwrap();
    let mut command = place.command(&["--state", &deep, "serve", "--bind", "127.0.0.1:0"]);
    command.env("TMPDIR", &temporary);
    let server = Server::start(command);
    let folder = std::fs::read_dir(&temporary).unwrap().next().unwrap().unwrap();
    assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(place.ok(&format!("--state {deep} --as ana tick")).code, 0);
    assert_eq!(server.stop().code, 0);
    assert_eq!(std::fs::read_dir(&temporary).unwrap().count(), 0);
}

#[test]
fn another_user_gets_no_answer() {
    use std::os::unix::process::CommandExt as _;
    if !nix::unistd::geteuid().is_root() {
        return; // Nobody else can be played.
    }
    let place = Place::with_company();
    let server = place.serve();
    let open = |name: &str, mode| {
        std::fs::set_permissions(place.path().join(name), std::fs::Permissions::from_mode(mode)).unwrap();
    };
    for (name, mode) in [("", 0o755), (".ok", 0o777), (".ok/state.db.lock", 0o666), (".ok/state.db.sock", 0o666)] {
        open(name, mode);
    }
    let mut command = place.command(&["--as", "ana", "kill", "actor:ana"]);
    let output = command.uid(65_534).gid(65_534).output().unwrap();
    let refused = super::ran("ok --as ana kill actor:ana".into(), &output);
    assert_eq!(place.ok("log --type kill_switch").stdout, "no events\n");
    assert_snapshot("another_user_gets_no_answer", session([refused, server.stop()]));
}

#[test]
fn a_key_or_state_file_that_others_may_read_is_told_at_start() {
    let place = Place::with_company();
    let quiet = place.serve();
    assert!(!quiet.lines.iter().any(|line| line.contains("open to others")), "{:?}", quiet.lines);
    quiet.stop();
    for (suffix, mode) in [("", 0o640), (".key", 0o604), (".secrets", 0o660), (".key.part", 0o644)] {
        let path = place.path().join(format!(".ok/state.db{suffix}"));
        drop(std::fs::OpenOptions::new().append(true).create(true).open(&path).unwrap());
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        let server = place.serve();
        let told = format!("state.db{suffix} is open to others (mode {mode:o}); make it its owner's alone: chmod 600");
        assert!(server.lines.iter().any(|line| line.contains(&told)), "{:?}", server.lines);
        server.stop();
    }
}

#[test]
fn a_lock_that_is_a_link_is_not_followed() {
    let place = Place::with_another_company();
    let (lock, elsewhere) = (place.path().join(".ok/state.db.lock"), place.path().join("elsewhere"));
    std::fs::write(&elsewhere, "precious").unwrap();
    std::fs::remove_file(&lock).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &lock).unwrap();
    let refused = place.ana("actor list");
    assert!(refused.code == 1 && refused.stderr.contains("cannot lock"), "{refused}");
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "precious");
}

#[test]
fn a_hard_link_of_a_live_state_file_is_not_served_beside_it() {
    let place = Place::with_company();
    let server = place.serve();
    let (folder, other) = (place.path().join(".ok"), place.path().join("other"));
    std::fs::create_dir(&other).unwrap();
    for name in ["state.db", "state.db.key", "state.db.secrets"] {
        std::fs::hard_link(folder.join(name), other.join(name)).unwrap();
    }
    for line in ["--state other/state.db serve --bind 127.0.0.1:0", "--state other/state.db --as ana actor list"] {
        let refused = place.ok(line);
        assert!(refused.code == 75 && refused.stderr.contains("is in use under another name"), "{refused}");
    }
    assert_eq!(place.ana("actor add-human bob --role member").code, 0);
    server.stop();
    assert_eq!(place.ok("--state other/state.db --as ana actor show bob").code, 0, "it is nobody's now");
    assert_eq!(place.ok("audit verify").code, 0);
}

/// A forbid that cannot be evaluated: each refusal by it is told on standard error, by the thread that writes.
const FAULTY: &str = "@id(\"faulty\")\n@reason(\"cannot be evaluated\")\nforbid (\n  principal is Ok::Actor,\n  action == Ok::Action::\"actor.add\",\n  resource\n)\nwhen { principal.trust + 9223372036854775807 > 0 };\n";

/// A company that tells of each refusal, and whose server tells it to nobody.
fn serves_with(stderr: impl Into<std::process::Stdio>) {
    let place = Place::with_company();
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    std::fs::remove_dir_all(place.path().join("policies/tests")).unwrap();
    std::fs::write(place.path().join("policies/faulty.cedar"), FAULTY).unwrap();
    let case = "cases:\n  - {actor: zoe, op: me.read, expect: allow}\nactors:\n  - {id: zoe}\n";
    std::fs::create_dir(place.path().join("policies/tests")).unwrap();
    std::fs::write(place.path().join("policies/tests/a.yaml"), case).unwrap();
    let applied = place.ana("policy apply --reason test");
    assert_eq!(applied.code, 0, "{applied}");
    let mut command = place.command(&["serve", "--bind", "127.0.0.1:0"]);
    let mut server = command.stderr(stderr).env("OK_LOG", "debug").stdout(std::process::Stdio::null()).spawn().unwrap();
    let socket = place.path().join(".ok/state.db.sock");
    let begun = Instant::now();
    while UnixStream::connect(&socket).is_err() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
    for _ in 0..4 {
        let refused = place.ana("actor add-human bob --role member");
        assert!(refused.code == 1 && refused.stderr.contains("policy denied actor.add"), "{refused}");
    }
    assert_eq!(place.ana("kill tool:mail.send").code, 0);
    server.kill().unwrap();
    server.wait().unwrap();
    assert_eq!(place.ok("audit verify").code, 0);
}

#[test]
fn a_standard_error_that_cannot_be_written_stops_nothing() {
    serves_with(std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
}

#[test]
fn a_standard_error_that_nobody_reads_stops_nothing() {
    let (reader, mut writer) = std::io::pipe().unwrap();
    let room = nix::fcntl::fcntl(&writer, nix::fcntl::FcntlArg::F_GETPIPE_SZ).unwrap();
    writer.write_all(&vec![b'.'; room as usize]).unwrap();
    serves_with(writer);
    drop(reader);
}

#[test]
fn a_server_says_that_nobody_is_there_and_that_others_reach_it() {
    let place = Place::new();
    let server = Server::start(place.command(&["serve", "--bind", "0.0.0.0:0"]));
    let told = server.lines.join("\n");
    assert!(told.contains("this company has no actors yet: `ok init --admin <id>`"), "{told}");
    assert!(told.contains("put a proxy with TLS before it"), "{told}");
    assert_eq!(place.ok("init --admin ana").code, 0, "while it serves");
    assert_eq!(server.stop().code, 0);
    let told = place.serve().lines.join("\n");
    assert!(told.starts_with("listening on"), "{told}");
}

#[test]
fn what_makes_a_server_open_to_others_and_what_has_no_effect_is_said() {
    let place = Place::with_company();
    let mut command = place.command(&["serve", "--bind", "0.0.0.0:0"]);
    command.env("OK_DEV_AUTH", "1").env("OK_TRUSTED_PROXIES", "::/0").env("OK_TRUSTED_PROXY", "10.0.0.1");
    let server = Server::start(command);
    let told = server.lines.join("\n");
    for said in [
        "what travels is not encrypted",
        "OK_DEV_AUTH is on and others reach this address",
        "OK_TRUSTED_PROXIES trusts every address",
        "OK_TRUSTED_PROXY is no setting and has no effect; did you mean OK_TRUSTED_PROXIES?",
    ] {
        assert!(told.contains(said), "{said}: {told}");
    }
    assert_eq!(place.ok("audit rekey").code, 75, "one process has the file");
    // A command says so, too: it may be on another company's file.
    let listed = place.ok_with("actor list", &[("OK_AS", "ana"), ("OK_STAET", "/elsewhere")]);
    assert!(listed.code == 0 && listed.stderr.contains("did you mean OK_STATE?"), "{listed}");
}

/// Policies that take minutes to compare: each is about every operation.
fn export_many(place: &Place) {
    assert_eq!(place.ana("policy export --dir policies").code, 0);
    let many = (0..400).map(|number| {
        format!(
            "@id(\"many-{number}\")\n@reason(\"x\")\nforbid (\n  principal is Ok::Actor,\n  action,\n  resource\n)\nwhen {{ context.now.toTime() == duration(\"{number}ms\") }};\n\n"
        )
    });
    std::fs::write(place.path().join("policies/many.cedar"), many.collect::<String>()).unwrap();
}

#[test]
fn long_work_for_a_command_ends_with_the_command_or_soon_after_a_stop() {
    let place = Place::with_company();
    export_many(&place);
    let server = place.serve();
    let begin = || {
        let mut command = place.command(&["--as", "ana", "policy", "diff", "policies", "--no-impact"]);
        let command = command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        command
    };
    // More than have places at once. (Each keeps both processors busy.)
    for _ in 0..4 {
        let mut left = begin();
        assert!(left.try_wait().unwrap().is_none(), "it takes longer");
        left.kill().unwrap();
        left.wait().unwrap();
    }
    let same = place.ana("policy diff --no-impact --no-answers");
    assert_eq!(same.code, 2, "{same}");
    let waiting = begin();
    assert_eq!(server.stop().code, 0);
    let told = waiting.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&told.stderr).contains("the server is stopping"), "{told:?}");
}
