//! The benches, in one binary, so that what they share is compiled once.
//!
//! `cargo bench` runs all of them, each in a process of its own: some measure what their process takes of memory.
//! `cargo bench -- http 5` runs one; what follows its name is told in its file.
#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a bench that cannot go on should stop"
)]

mod append;
mod apply;
mod authzen;
mod brain;
mod decide;
mod directory;
mod http;
mod log;
mod refusals;
mod replay;
mod runs;
mod support;
mod tokens;

use std::process::Command;

const BENCHES: [(&str, fn()); 12] = [
    ("append", append::main),
    ("apply", apply::main),
    ("authzen", authzen::main),
    ("brain", brain::main),
    ("decide", decide::main),
    ("directory", directory::main),
    ("http", http::main),
    ("log", log::main),
    ("refusals", refusals::main),
    ("replay", replay::main),
    ("runs", runs::main),
    ("tokens", tokens::main),
];

fn main() {
    // Cargo adds `--bench` of its own.
    let Some(name) = std::env::args().skip(1).find(|argument| !argument.starts_with('-')) else {
        return each();
    };
    let Some((_, bench)) = BENCHES.iter().find(|(one, _)| *one == name) else {
        eprintln!("There is no bench `{name}`. There are: {}.", BENCHES.map(|(name, _)| name).join(", "));
        std::process::exit(2);
    };
    bench();
}

fn each() {
    for (name, _) in BENCHES {
        println!("== {name}");
        let status = Command::new(std::env::current_exe().unwrap()).args([name, "--bench"]).status().unwrap();
        assert!(status.success(), "{name}: {status}");
    }
}
