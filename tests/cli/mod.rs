//! The command line as its users have it: the real binary in a folder of its own. A snapshot holds exit code, stdout and
//! stderr together.

mod audit;
mod backup;
mod behaviours;
mod brain;
mod ci;
mod commands;
mod damage;
mod data_between;
mod demo;
mod elsewhere;
mod entity;
mod examples;
mod gitops;
pub mod guides;
mod models;
#[cfg(feature = "pdf")]
mod pdf;
mod people;
mod policy;
mod reference;
mod restored;
mod rollout;
mod server;
mod steering;
mod tokens;
mod usage;
mod webhooks;

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

/// Longer than any command may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// A folder to work in.
pub struct Place {
    folder: tempfile::TempDir,
}

/// What a command did.
pub struct Ran {
    pub shown: String,
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Place {
    pub fn new() -> Place {
        Place { folder: tempfile::tempdir().unwrap() }
    }

    /// A folder with a company whose admin is ana: a copy of one that was made once.
    pub fn with_company() -> Place {
        static MADE: LazyLock<Place> = LazyLock::new(Place::with_another_company);
        let place = Place::new();
        std::fs::create_dir(place.path().join(".ok")).unwrap();
        // What else is beside it is made again.
        for file in ["state.db", "state.db.key", "state.db.secrets"] {
            std::fs::copy(MADE.path().join(".ok").join(file), place.path().join(".ok").join(file)).unwrap();
        }
        place
    }

    /// A folder with a company that is no other's copy, and all files of its own.
    pub fn with_another_company() -> Place {
        let place = Place::new();
        assert_eq!(place.ok("init --admin ana").code, 0);
        place
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    pub fn state(&self) -> PathBuf {
        self.path().join(".ok/state.db")
    }

    /// `ok` with nothing in its environment but a login name that nobody in the company has.
    pub fn command(&self, args: &[impl AsRef<OsStr>]) -> Command {
        let mut command = Command::new(assert_cmd::cargo::cargo_bin!("ok"));
        command.args(args).current_dir(self.path()).env_clear().env("LOGNAME", "stranger").stdin(Stdio::null());
        command
    }

    /// Runs `ok` with arguments separated by blanks; `'…'` keeps one together.
    pub fn ok(&self, line: &str) -> Ran {
        self.ok_with(line, &[])
    }

    /// The same as ana.
    pub fn ana(&self, line: &str) -> Ran {
        self.ok(&format!("--as ana {line}"))
    }

    pub fn ok_with(&self, line: &str, variables: &[(&str, &str)]) -> Ran {
        let args = words(line);
        let output = self.command(&args).envs(variables.iter().copied()).output().unwrap();
        let set: String = variables.iter().map(|(name, value)| format!("{name}={value} ")).collect();
        ran(format!("{set}ok {line}"), &output)
    }

    /// Starts a server and waits until it listens.
    pub fn serve(&self) -> Server {
        self.serve_with(&[])
    }

    /// The same, with variables.
    pub fn serve_with(&self, variables: &[(&str, &str)]) -> Server {
        let mut command = self.command(&["serve", "--bind", "127.0.0.1:0"]);
        command.envs(variables.iter().copied());
        Server::start(command)
    }
}

pub fn ran(shown: String, output: &Output) -> Ran {
    let code = output.status.code().unwrap_or_else(|| -output.status.signal().unwrap());
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Ran { shown, code, stdout: text(&output.stdout), stderr: text(&output.stderr) }
}

fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (number, part) in line.split('\'').enumerate() {
        match number % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_owned)),
            _ => words.push(part.to_owned()),
        }
    }
    words
}

impl std::fmt::Display for Ran {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        writeln!(f, "$ {}", self.shown)?;
        writeln!(f, "exit {}", self.code)?;
        for (name, text) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !text.is_empty() {
                writeln!(f, "--- {name}\n{}", text.trim_end_matches('\n'))?;
            }
        }
        Ok(())
    }
}

/// Commands one after the other, as one text.
pub fn session(runs: impl IntoIterator<Item = Ran>) -> String {
    runs.into_iter().fold(String::new(), |mut text, ran| {
        writeln!(text, "{ran}").unwrap();
        text
    })
}

/// Compares with `snapshots/cli/<name>.snap`; what differs from run to run is replaced.
pub fn assert_snapshot(name: &str, text: impl std::fmt::Display) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(concat!(env!("CARGO_MANIFEST_DIR"), "/snapshots/cli"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (pattern, replacement) in [
        (r"ok_[0-9A-Za-z]{49}", "<token>"),
        (r"tok_[0-9A-Z]{26}", "<tok>"),
        (r"apr_[0-9A-Z]{26}", "<apr>"),
        (r"chg_[0-9A-Z]{26}", "<chg>"),
        (r"dlg_[0-9A-Z]{26}", "<dlg>"),
        (r"bgl_[0-9A-Z]{26}", "<bgl>"),
        (r"rsv_[0-9A-Z]{26}", "<rsv>"),
        (r"whk_[0-9A-Z]{26}", "<whk>"),
        (r"msg_[0-9A-Z]{26}", "<msg>"),
        (r"whsec_[0-9A-Za-z+/]{43}=", "<secret>"),
        (r"ok\.local/[0-9A-Z]{26}/1\+[0-9a-f]{8}\+[0-9A-Za-z+/=]+", "<vkey>"),
        (r"ok\.local/[0-9A-Z]{26}/1", "<origin>"),
        (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z *", "<time> "),
        // A time on the second is shorter.
        (r"\bAT {2,}", "AT  "),
        (r"[0-9A-Za-z+/]{90,}={0,2}", "<signature>"),
        (r"[0-9A-Za-z+/]{43}= *", "<root> "),
        (r"\b[0-9a-f]{64}\b", "<sha256>"),
        (r"\([0-9a-f]{12}\)", "(<hash>)"),
        (r"-> [0-9a-f]{12}\b", "-> <hash>"),
        (r#""key_id":"[0-9a-f]{8}""#, r#""key_id":"<key id>""#),
        (r"(?m)^bytes .*$", "bytes   <bytes>"),
        (r"process \d+", "process <pid>"),
        (r"127\.0\.0\.1:\d{4,5}", "<address>"),
        (r"/tmp/\.tmp[0-9A-Za-z]{6}", "<folder>"),
        (r"(?m)[ \t]+$", ""),
    ] {
        settings.add_filter(pattern, replacement);
    }
    settings.bind(|| insta::assert_snapshot!(name, text.to_string()));
}

/// A running server; it is killed if the test leaves it.
pub struct Server {
    child: Child,
    pub lines: Vec<String>,
    address: String,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Server {
    pub fn start(mut command: Command) -> Server {
        command.stdout(Stdio::null());
        Server::begin(command)
    }

    /// The same; stdout is where the command has it.
    pub fn begin(mut command: Command) -> Server {
        let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        let mut server = Server { child, lines: Vec::new(), address: String::new(), stderr };
        while server.address.is_empty() {
            let mut line = String::new();
            assert!(server.stderr.read_line(&mut line).unwrap() > 0, "it did not start: {:?}", server.lines);
            if let Some((_, address)) = line.split_once("listening on http://") {
                server.address = address.trim().to_owned();
            }
            // Whether the workspace was built before is no business of these tests.
            if !line.contains("built without the workspace") {
                server.lines.push(line.trim_end().to_owned());
            }
        }
        server
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().unwrap().success());
    }

    /// Waits for its end and tells how it ended.
    pub fn ended(mut self) -> Ran {
        let begun = Instant::now();
        while self.child.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "the server does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
        let status = self.child.wait().unwrap();
        let mut stderr = Vec::new();
        std::io::Read::read_to_end(&mut self.stderr, &mut stderr).unwrap();
        ran("ok serve".into(), &Output { status, stdout: Vec::new(), stderr })
    }

    /// The next line that it says on stderr.
    pub fn says(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub fn stop(self) -> Ran {
        self.signal("-TERM");
        self.ended()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
