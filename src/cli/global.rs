//! The options of every command, and the context that they give it.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use super::exit::Failure;
use super::show::Format;
use super::{Context, settings, show};
use crate::config;

/// What every command takes. Their ids are none that the field of an input could have.
#[derive(clap::Args)]
#[command(next_help_heading = "Global options")]
pub(super) struct Global {
    #[arg(id = "global.state", long = "state", global = true, value_name = "PATH", hide_short_help = true, help = help_of(&config::STATE))]
    state: Option<PathBuf>,
    #[arg(id = "global.as", long = "as", global = true, value_name = "ID", hide_short_help = true, help = help_of(&config::AS))]
    pub(super) acting: Option<String>,
    #[arg(id = "global.delegation", long = "delegation", global = true, value_name = "DELEGATION", hide_short_help = true, help = help_of(&config::DELEGATION))]
    delegation: Option<String>,
    #[arg(id = "global.tenant", long = "tenant", global = true, value_name = "NAME", hide_short_help = true, help = help_of(&config::TENANT))]
    tenant: Option<String>,
    #[arg(id = "global.tenants-dir", long = "tenants-dir", global = true, value_name = "DIR", hide_short_help = true, help = help_of(&config::TENANTS_DIR))]
    tenants_dir: Option<PathBuf>,
    #[arg(id = "global.dev-echo-tools", long = "dev-echo-tools", global = true, hide_short_help = true, help = help_of(&config::DEV_ECHO_TOOLS))]
    dev_echo_tools: bool,
    /// How answers are printed
    #[arg(id = "global.format", long = "format", global = true, value_name = "FORMAT", hide_short_help = true, value_parser = show::common(), default_value = "human")]
    pub(super) format: Format,
}

pub(super) fn help_of(setting: &config::Setting) -> String {
    format!("{} [env: {}] [default: {}]", setting.doc, setting.variable, setting.default)
}

impl Global {
    /// Whether a state file is named, as a file or as a tenant's.
    pub(super) fn names_a_file(&self) -> bool {
        self.state.is_some() || self.tenant.is_some()
    }

    /// `anybody`: whether it matters who acts.
    pub(super) fn context(self, anybody: bool) -> Result<Context, Failure> {
        let named = self.names_a_file() || config::STATE.path().is_some() || config::TENANT.value().is_some();
        let said = self.acting.or_else(|| config::AS.value());
        let by_login = said.is_none();
        let known = said.or_else(config::login_name);
        let nobody = || Failure::Usage(format!("the login name is not known: give --as or {}", config::AS.variable));
        let tenant = if self.state.is_some() { None } else { self.tenant.clone().or_else(|| config::TENANT.value()) };
        Ok(Context {
            tenant,
            actor: known.or_else(|| anybody.then(String::new)).ok_or_else(nobody)?,
            by_login,
            delegation: self.delegation.or_else(|| config::DELEGATION.value()),
            named,
            state: settings::state(self.state, self.tenant, self.tenants_dir)?,
            format: self.format,
            dev_auth: settings::is_on(&config::DEV_AUTH, false)?,
            dev_echo: settings::is_on(&config::DEV_ECHO_TOOLS, false)? || self.dev_echo_tools,
            loopback: false,
            ports: settings::ports()?,
            low_water: settings::low_water()?,
            secrets: settings::secrets()?,
            server: None,
            systems: config::SYSTEMS_CONFIG.path(),
            mail: settings::mail()?,
            web: settings::is_on(&config::WEB_READ, false)?,
            models: OnceLock::new(),
            ids: Arc::default(),
        })
    }
}
