//! What somebody is, what stops them, and the company's settings.

use super::{Place, assert_snapshot, session};

#[test]
fn roles_teams_names_and_leads_change_and_an_empty_team_is_removed() {
    let place = Place::with_company();
    for line in
        ["add-human bob --role member", "add-team team:ops --lead bob", "add-human eve --role member --team team:ops"]
    {
        place.ana(&format!("actor {line}"));
    }
    let lines = [
        "actor set bob --role lead --name 'Bob B'",
        "actor set team:ops --lead eve",
        "actor offboard team:ops",
        "actor set eve --no-team",
        "actor set eve --team team:ops --no-team",
        "actor set eve",
        "actor set ana --role member",
        "actor offboard team:ops",
        "actor show eve",
    ];
    assert_snapshot("actor_set", session(lines.map(|line| place.ana(line))));
}

#[test]
fn what_is_stopped_is_listed_and_shown_where_it_is_looked_for() {
    let place = Place::with_company();
    for line in [
        "actor add-human bob --role lead",
        "actor add-team team:ops --lead bob",
        "actor add-agent clerk --team team:ops --owner bob",
    ] {
        place.ana(line);
    }
    let lines = [
        "--as ana kill actor:clerk --reason 'pays twice'",
        "--as bob kill team:ops",
        "--as bob kill --list",
        "--as ana actor show clerk",
        "--as clerk actor list",
        "--as ana kill --list --off",
        "--as ana kill",
    ];
    assert_snapshot("kill_list", session(lines.map(|line| place.ok(line))));
}

#[test]
fn the_company_s_settings_are_shown_and_changed() {
    let place = Place::with_company();
    place.ana("actor add-human bob --role member");
    let lines = [
        "--as bob company show",
        "--as ana company set --name Acme --timezone Europe/Berlin --hours 08:00-16:00 --approval-hours 24 --budget 500",
        "--as ana company set --no-budget --record all",
        "--as ana company set --hours 8",
        "--as ana company set --timezone Mars/Olympus",
        "--as ana company set",
        "--as bob company set --name Bobs",
    ];
    assert_snapshot("company", session(lines.map(|line| place.ok(line))));
}
