//! Settings that are read before a command runs; errors name the setting.

use std::path::PathBuf;

use zeroize::Zeroizing;

use super::exit::Failure;
use crate::background::mail::Mail;
use crate::config;
use crate::gate::state::keys;
use crate::types::mail::Address;

/// Returns whether a setting is switched on, or `usual` if it is not set.
pub fn is_on(setting: &config::Setting, usual: bool) -> Result<bool, Failure> {
    Ok(setting.switch().map_err(Failure::Usage)?.unwrap_or(usual))
}

/// The ports that webhooks may be at.
pub fn ports() -> Result<Vec<u16>, Failure> {
    let text = config::EGRESS_PORTS.value().unwrap_or_else(|| config::EGRESS_PORTS.default.into());
    let read = |port: &str| port.trim().parse::<u16>().ok().filter(|port| *port != 0);
    let ports: Option<std::collections::BTreeSet<u16>> = text.split(',').map(read).collect();
    let wrong = || {
        let name = config::EGRESS_PORTS.variable;
        Failure::Usage(format!("{name} must contain ports, separated by commas, such as 443,8443; not `{text}`"))
    };
    ports.map(Vec::from_iter).ok_or_else(wrong)
}

/// Returns the server that delivers agents' mail, and the sender's address. Errors never contain the server's password.
pub fn mail() -> Result<Option<Mail>, Failure> {
    let (server, sender) = (config::SMTP_URL, config::MAIL_FROM);
    match (server.value().map(Zeroizing::new), sender.value()) {
        (None, None) => Ok(None),
        (None, Some(_)) => {
            Err(Failure::Usage(format!("{} has no effect without {}", sender.variable, server.variable)))
        }
        (Some(_), None) => {
            Err(Failure::Usage(format!("{} needs {}: the address that mail is from", server.variable, sender.variable)))
        }
        (Some(url), Some(from)) => {
            let wrong =
                |(setting, why): (config::Setting, String)| Failure::Usage(format!("{}: {why}", setting.variable));
            let from = Address::try_from(from).map_err(|why| wrong((sender, why)))?;
            Mail::read(&url, from).map(Some).map_err(|why| wrong((server, why)))
        }
    }
}

/// MiB that must be free on the disk.
pub fn low_water() -> Result<Option<u64>, Failure> {
    let Some(text) = config::DISK_LOW_WATER.value() else { return Ok(None) };
    let wrong = |_| {
        let name = config::DISK_LOW_WATER.variable;
        Failure::Usage(format!("{name} must be a whole number of MiB, such as 256, or 0; not `{text}`"))
    };
    text.trim().parse().map(Some).map_err(wrong)
}

/// Returns the key that secrets are derived from. Errors never contain the key.
pub fn secrets() -> Result<Option<Zeroizing<[u8; 32]>>, Failure> {
    let Some(text) = config::SECRETS_KEY.value().map(Zeroizing::new) else { return Ok(None) };
    let wrong = || {
        Failure::Usage(format!(
            "{} must contain 32 bytes: 64 hex digits, or 43 characters of base64 (A-Z, a-z, 0-9, + and /), with or without a = behind them; `openssl rand -base64 32` makes some",
            config::SECRETS_KEY.variable
        ))
    };
    keys::parse(&text).map(Some).ok_or_else(wrong)
}

/// Returns the path of the state file: the named one, a tenant's, or the default. Flags take precedence over the
/// environment.
pub fn state(named: Option<PathBuf>, tenant: Option<String>, folder: Option<PathBuf>) -> Result<PathBuf, Failure> {
    let (named, tenant, folder) = match (named, tenant, folder) {
        (Some(named), None, None) => return Ok(named),
        (None, None, None) => (config::STATE.path(), config::TENANT.value(), config::TENANTS_DIR.path()),
        (named, tenant, folder) => {
            (named, tenant.or_else(|| config::TENANT.value()), folder.or_else(|| config::TENANTS_DIR.path()))
        }
    };
    match (named, tenant, folder) {
        (named, None, None) => Ok(named.unwrap_or_else(|| config::STATE.default.into())),
        (None, Some(tenant), Some(folder)) if is_tenant(&tenant) => Ok(folder.join(tenant).join("state.db")),
        (None, Some(tenant), Some(_)) => Err(Failure::Usage(format!(
            "`{tenant}` is not an organization's name: use a-z, 0-9 and `-`, at most 63 characters, beginning with a letter or digit"
        ))),
        (Some(_), ..) => Err(Failure::Usage("give either --state or --tenant and --tenants-dir".into())),
        (None, ..) => Err(Failure::Usage("--tenant and --tenants-dir go together".into())),
    }
}

fn is_tenant(name: &str) -> bool {
    let known = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
    (1..=63).contains(&name.len()) && !name.starts_with('-') && name.bytes().all(known)
}
