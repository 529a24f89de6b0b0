//! A disk that others have filled to the last byte: a small file system of its own, mounted where only this test sees it.

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use super::request;
use crate::cli::{Ran, Server, ran};

/// Keeps the file system, and its namespace, as long as it lives.
struct Disk {
    keeper: Child,
    _folder: tempfile::TempDir,
    path: PathBuf,
}

impl Disk {
    /// None where the system lets nobody mount.
    fn mounted() -> Option<Disk> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("disk");
        std::fs::create_dir(&path).unwrap();
        let script = format!("mount -t tmpfs -o size=160m tmpfs {} && echo mounted && exec sleep 600", path.display());
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", &script]).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut keeper = command.spawn().ok()?;
        let mut line = String::new();
        BufReader::new(keeper.stdout.take()?).read_line(&mut line).ok()?;
        let disk = Disk { keeper, _folder: folder, path };
        (line.trim() == "mounted").then_some(disk)
    }

    /// A command that runs on it.
    fn command(&self, script: &str) -> Command {
        let pid = self.keeper.id().to_string();
        let mut command = Command::new("nsenter");
        let script = format!("cd {} && {script}", self.path.display());
        command.args(["-t", &pid, "-U", "-m", "--preserve-credentials", "sh", "-c", &script]).stdin(Stdio::null());
        command.env("OK", assert_cmd::cargo::cargo_bin!("ok")).env("OK_STATE", self.path.join("ok/state.db"));
        command
    }

    fn run(&self, script: &str) -> Ran {
        ran(script.to_owned(), &self.command(script).output().unwrap())
    }

    fn ana(&self, line: &str) -> Ran {
        self.run(&format!("$OK --as ana {line}"))
    }

    fn token(&self, holder: &str) -> String {
        let issued: Value =
            serde_json::from_str(&self.ana(&format!("token issue --for {holder} --format json")).stdout).unwrap();
        issued["token"].as_str().unwrap().to_owned()
    }

    fn serve(&self) -> Server {
        Server::start(self.command("exec $OK serve --bind 127.0.0.1:0"))
    }

    /// Writes until nothing more fits.
    fn fill(&self, name: &str) {
        let filled = self.run(&format!("dd if=/dev/zero of={name} bs=4k; df --output=avail . | tail -1"));
        assert_eq!(filled.stdout.trim(), "0");
    }

    /// What the reserve takes, in KiB.
    fn reserve(&self) -> u64 {
        self.run("du -k ok/state.db.reserve | cut -f1").stdout.trim().parse().unwrap()
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        let _ = self.keeper.kill();
        let _ = self.keeper.wait();
    }
}

#[test]
fn on_a_disk_that_others_have_filled_one_can_read_kill_and_revoke_and_start() {
    let Some(disk) = Disk::mounted() else {
        eprintln!("SKIPPED: no file system can be mounted here");
        return;
    };
    assert_eq!(disk.run("$OK init --admin ana").code, 0);
    disk.ana("actor add-human bob --role member");
    let (ana, bob) = (disk.token("ana"), disk.token("bob"));
    let whole = disk.reserve();
    assert_eq!(whole, 8 << 10, "5 % of the disk, which is small");

    let server = disk.serve();
    disk.fill("one");
    let more = request(server.address(), &ana, "POST", "/tokens", "more", "{}").unwrap();
    assert_eq!((more.0, more.1["error"].as_str()), (503, Some("audit_unavailable")), "{}", more.1);
    assert_eq!(request(server.address(), &ana, "GET", "/me", "", "").unwrap().0, 200);
    for tool in 0..3 {
        let body = format!("{{\"scope\":\"tool:mail.send\",\"reason\":\"{tool}\"}}");
        let killed = request(server.address(), &ana, "POST", "/kill", &format!("k{tool}"), &body).unwrap();
        assert_eq!(killed.0, 200, "{}", killed.1);
    }
    assert!((1..whole).contains(&disk.reserve()), "given back in parts");
    server.signal("-KILL");
    server.ended();

    // A start on a disk on which nothing is free.
    disk.fill("two");
    let server = disk.serve();
    assert_eq!(request(server.address(), &ana, "GET", "/actors", "", "").unwrap().0, 200);
    let revoked = request(server.address(), &ana, "DELETE", "/tokens/bob", "out", "").unwrap();
    assert_eq!(revoked.0, 200, "{}", revoked.1);
    assert_eq!(request(server.address(), &bob, "GET", "/me", "", "").unwrap().0, 401);
    assert_eq!(server.stop().code, 0);

    // Commands without a server too.
    disk.fill("three");
    assert_eq!(disk.run("$OK audit verify").code, 0);
    assert_eq!(disk.ana("kill actor:bob --reason now").code, 0);
    assert_eq!(disk.ana("token issue").code, 1);

    disk.run("rm one two three");
    assert_eq!(disk.ana("token issue").code, 0);
    assert_eq!(disk.reserve(), whole, "whole again");
    assert_eq!(disk.run("$OK audit verify").code, 0);
}
