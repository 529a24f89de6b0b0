//! The file that `OK_SYSTEMS_CONFIG` names. A key that is not known is an error: a misspelt limit must not be no limit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use super::postgres::{self, Postgres};
use super::sqlite::Sqlite;
use super::{Adapter, LONGEST, Secret, System, Systems};
use types::collection::{is_name, is_table};
use types::expected::Format;

/// Which other systems there are.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, expecting = "a map with `systems`")]
struct File {
    /// By a name of your own, which definitions of collections use.
    systems: BTreeMap<String, SystemFile>,
}

#[derive(Deserialize)]
#[serde(tag = "adapter", rename_all = "lowercase", deny_unknown_fields)]
enum SystemFile {
    Postgres {
        host: String,
        #[serde(default)]
        port: Option<u16>,
        database: String,
        user: String,
        /// The variable that holds the password; none where the server asks for none.
        #[serde(default)]
        password_variable: Option<String>,
        /// `require`, unless the host is this machine.
        #[serde(default)]
        tls: Option<Tls>,
        /// The certificates that the server's is checked by, in PEM; those that the machine trusts unless given.
        #[serde(default)]
        ca_file: Option<PathBuf>,
        tables: Vec<String>,
        #[serde(default)]
        timeout_seconds: Option<u64>,
    },
    Sqlite {
        file: PathBuf,
        tables: Vec<String>,
    },
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tls {
    Require,
    Off,
}

pub(super) fn systems(path: &Path, secret: Secret<'_>) -> Result<Systems, String> {
    let text = std::fs::read_to_string(path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let wrong = |error: serde_yaml::Error| format!("{}: {}", path.display(), Format::Yaml.plain(&error.to_string()));
    let file: File = serde_yaml::from_str(&text).map_err(wrong)?;
    let folder = path.parent().unwrap_or(Path::new("."));
    let (mut systems, mut problems) = (BTreeMap::new(), Vec::new());
    for (name, system) in file.systems {
        match system.read(&name, folder, secret) {
            Ok(system) => drop(systems.insert(name, system)),
            Err(problem) => problems.push(format!("systems.{name}.{problem}")),
        }
    }
    if problems.is_empty() { Ok(Systems(systems)) } else { Err(format!("{}: {}", path.display(), problems.join("; "))) }
}

impl SystemFile {
    fn read(self, name: &str, folder: &Path, secret: Secret<'_>) -> Result<System, String> {
        let (adapter, tables): (Box<dyn Adapter>, Vec<String>) = match self {
            SystemFile::Sqlite { file, tables } => (Box::new(Sqlite { file: folder.join(file) }), tables),
            SystemFile::Postgres {
                host,
                port,
                database,
                user,
                password_variable,
                tls,
                ca_file,
                tables,
                timeout_seconds,
            } => {
                let most = LONGEST.as_secs();
                let seconds = timeout_seconds.unwrap_or(most);
                if !(1..=most).contains(&seconds) {
                    return Err(format!("timeout_seconds: must be 1 to {most}"));
                }
                let password = password_variable.map(|variable| {
                    secret(&variable).ok_or_else(|| format!("password_variable: the variable {variable} is not set"))
                });
                let tls = tls.unwrap_or(if is_here(&host) { Tls::Off } else { Tls::Require });
                let ca_file = ca_file.map(|file| folder.join(file));
                if tls == Tls::Off && ca_file.is_some() {
                    return Err("ca_file: has no effect with `tls: off`".into());
                }
                let tls = (tls == Tls::Require).then(|| postgres::tls(ca_file.as_deref())).transpose()?;
                let (password, limit) = (password.transpose()?, Duration::from_secs(seconds));
                let place = postgres::Place { host, port: port.unwrap_or(5432), database, user };
                (Box::new(Postgres::new(place, password, tls, limit)?), tables)
            }
        };
        if !is_name(name) {
            return Err("name: must have 1 to 63 small letters, digits and underscores, and begin with a letter".into());
        }
        if tables.is_empty() {
            return Err("tables: name the tables that may be read".into());
        }
        match tables.iter().find(|table| !is_table(table)) {
            Some(table) => Err(format!("tables: `{}` is no table, such as public.orders", table.escape_debug())),
            None => Ok(System { adapter, tables }),
        }
    }
}

/// Whether what is sent there stays on this machine.
fn is_here(host: &str) -> bool {
    host == "localhost" || host.starts_with('/') || host.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
}
