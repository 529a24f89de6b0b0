//! A PostgreSQL of the tests' own, where one is installed.

use std::io::Write as _;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use nix::unistd::{Uid, User};
use tempfile::TempDir;

pub struct Postgres {
    dir: TempDir,
    pub port: u16,
}

/// Where a program of PostgreSQL's is.
fn program(name: &str) -> Option<PathBuf> {
    let versions = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let debian = versions.map(|version| version.path().join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).chain(debian).map(|folder| folder.join(name)).find(|program| program.exists())
}

/// It refuses to work as root, and ends with the thread that started it.
fn as_somebody(program: PathBuf) -> Command {
    let mut command = Command::new("setpriv");
    if Uid::effective().is_root() {
        command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]);
    }
    command.args(["--pdeathsig", "KILL"]).arg(program);
    command
}

impl Postgres {
    /// The one that all tests share, or none where it is not installed; CI must have it.
    pub fn shared() -> Option<&'static Postgres> {
        static SHARED: OnceLock<Option<Postgres>> = OnceLock::new();
        SHARED.get_or_init(Postgres::start).as_ref()
    }

    /// One of the caller's own.
    pub fn start() -> Option<Postgres> {
        if program("initdb").is_none() || program("postgres").is_none() {
            assert!(std::env::var_os("CI_POSTGRES").is_none(), "no PostgreSQL is installed");
            let _ = writeln!(
                std::io::stderr(),
                "Not tested with PostgreSQL, which is not installed: apt install postgresql"
            );
            return None;
        }
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        if Uid::effective().is_root() {
            let nobody = User::from_name("nobody").unwrap().unwrap();
            nix::unistd::chown(dir.path(), Some(nobody.uid), Some(nobody.gid)).unwrap();
        }
        let data = dir.path().join("data");
        let made = as_somebody(program("initdb").unwrap())
            .args(["-A", "trust", "-U", "ok", "-N", "-E", "UTF8", "--locale=C.UTF-8", "-D"])
            .arg(&data)
            .current_dir(dir.path())
            .output()
            .unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let postgres = Postgres { dir, port: TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port() };
        postgres.run();
        Some(postgres)
    }

    /// Starts the server, which ends with this process: with the thread that started it, so that thread stays.
    pub fn run(&self) {
        let (data, folder, port) = (self.dir.path().join("data"), self.dir.path().to_owned(), self.port.to_string());
        std::thread::spawn(move || {
            let mut command = as_somebody(program("postgres").unwrap());
            command.arg("-D").arg(data).args([
                "-p",
                &port,
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "fsync=off",
                "-k",
            ]);
            let server = command.arg(&folder).current_dir(&folder).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
            let _ = server.unwrap().wait();
        });
        for _ in 0..400 {
            if self.try_sql("SELECT 1") {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("PostgreSQL does not start");
    }

    pub fn sql(&self, text: &str) {
        assert!(self.try_sql(text), "{text}");
    }

    /// Whether it goes through.
    pub fn try_sql(&self, text: &str) -> bool {
        let port = self.port.to_string();
        let mut psql = Command::new(program("psql").unwrap())
            .args(["-q", "-v", "ON_ERROR_STOP=1", "-h", "127.0.0.1", "-U", "ok", "-p", &port, "postgres"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        psql.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
        psql.wait().unwrap().success()
    }

    /// Sends a signal to the server: `STOP`, `CONT`, `INT` (it ends at once).
    pub fn signal(&self, signal: &str) {
        let pids = std::fs::read_to_string(self.dir.path().join("data/postmaster.pid")).unwrap();
        let pid = pids.lines().next().unwrap();
        let children = Command::new("pgrep").args(["-P", pid]).output().unwrap();
        let children = String::from_utf8_lossy(&children.stdout).into_owned();
        let mut kill = Command::new("kill");
        kill.arg(format!("-{signal}")).arg(pid).args(children.lines().filter(|_| signal != "INT"));
        assert!(kill.status().unwrap().success());
        let there = self.dir.path().join("data/postmaster.pid");
        while signal == "INT" && there.exists() {
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}
