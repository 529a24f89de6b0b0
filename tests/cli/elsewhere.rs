//! OK_SERVER is set, and a command works on a state file.

use std::io::{Read as _, Write as _};
use std::net::TcpListener;

use super::Place;

const SERVER: &[(&str, &str)] = &[("OK_SERVER", "https://ok.example.org")];

#[test]
fn what_works_on_a_state_file_says_so_and_kill_wants_it_named() {
    let place = Place::with_company();
    let told = "works on the state file ./.ok/state.db, not on OK_SERVER (https://ok.example.org)";
    for line in ["actor list", "--format json token list", "log", "changes list --in proposed"] {
        let ran = place.ok_with(&format!("--as ana {line}"), SERVER);
        assert!(ran.code == 0 && ran.stderr.trim_end() == told, "{ran}");
        assert!(!place.ana(line).stderr.contains("works on"));
    }
    for line in ["kill global", "kill global --off"] {
        for variables in [SERVER, &[SERVER[0], ("OK_STATE", ".ok/state.db")]] {
            let ran = place.ok_with(&format!("--as ana {line}"), variables);
            assert_eq!(ran.code, 64, "{ran}");
            assert!(ran.stderr.contains("give --state to stop the company in"), "{ran}");
        }
    }
    assert!(!place.ana("log").stdout.contains("kill_engaged"), "nothing was stopped");
    let named = place.ok_with("--as ana kill global --state .ok/state.db", SERVER);
    assert!(named.code == 0 && named.stderr.contains("works on the state file .ok/state.db"), "{named}");
    for line in ["schemas", "completions bash", "policy check --state .ok/state.db nowhere"] {
        assert!(!place.ok_with(line, SERVER).stderr.contains("works on"), "{line}");
    }
}

#[test]
fn a_flag_of_a_command_is_not_taken_for_a_global_one() {
    let place = Place::with_company();
    for line in
        ["changes list --state .ok/state.db", "--state .ok/state.db changes list", "changes --state .ok/state.db list"]
    {
        let ran = place.ana(line);
        assert_eq!((ran.code, ran.stderr.as_str()), (0, ""), "{ran}");
    }
}

#[test]
fn an_address_that_answers_with_pages_is_told_apart_from_a_server() {
    let place = Place::with_company();
    let issued = place.ana("token issue --for ana --format json");
    let token =
        serde_json::from_str::<serde_json::Value>(issued.stdout.trim()).unwrap()["token"].as_str().unwrap().to_owned();
    let asked = |address: &str| {
        let ran = place.ok_with("policy list", &[("OK_SERVER", address), ("OK_TOKEN", &token)]);
        assert_eq!((ran.code, ran.stdout.as_str()), (1, ""), "{ran}");
        ran.stderr
    };
    let pages = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", pages.local_addr().unwrap());
    std::thread::spawn(move || {
        let page = "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\ncontent-length: 4\r\nconnection: close\r\n\r\n<p>x";
        for mut stream in pages.incoming().flatten() {
            let _ = stream.read(&mut [0; 4096]);
            let _ = stream.write_all(page.as_bytes());
        }
    });
    let told = asked(&address);
    assert!(told.contains(&format!("{address}/ answers with a web page and not as the API")), "{told}");
    // A server of ours, under a path that it does not have.
    let server = place.serve();
    let told = asked(&format!("http://{}/company", server.address()));
    assert!(told.contains("no such route; the API is under /api"), "{told}");
}
