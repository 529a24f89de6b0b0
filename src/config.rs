//! Every setting, once: its flag, its variable, its default and what it is for. Nothing else in the program reads the
//! environment; `docs/reference/config.md` is written from this table.

use std::ffi::OsString;
use std::fmt::Write as _;
use std::path::PathBuf;

use zeroize::Zeroizing;

use crate::types::models::ProviderKind;
use crate::types::near::nearest;

/// One setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Setting {
    pub variable: &'static str,
    /// The flag that stands for it and wins over it.
    pub flag: Option<&'static str>,
    /// What holds when it is not set; a value or, in words, where one comes from.
    pub default: &'static str,
    pub doc: &'static str,
}

pub const STATE: Setting = Setting {
    variable: "OK_STATE",
    flag: Some("state"),
    default: "./.ok/state.db",
    doc: "The state file, which `ok init` creates; without it, commands see an empty company",
};
pub const AS: Setting = Setting {
    variable: "OK_AS",
    flag: Some("as"),
    default: "the login name",
    doc: "The actor to act as: a person's or an agent's id",
};
pub const DELEGATION: Setting = Setting {
    variable: "OK_DELEGATION",
    flag: Some("delegation"),
    default: "none",
    doc: "The delegation to act under: its id",
};
pub const TENANT: Setting = Setting {
    variable: "OK_TENANT",
    flag: Some("tenant"),
    default: "none",
    doc: "The organization to work on, in the tenants folder, instead of a state file",
};
pub const TENANTS_DIR: Setting = Setting {
    variable: "OK_TENANTS_DIR",
    flag: Some("tenants-dir"),
    default: "none",
    doc: "The folder of several organizations; the state file is DIR/TENANT/state.db",
};
pub const DEV_ECHO_TOOLS: Setting = Setting {
    variable: "OK_DEV_ECHO_TOOLS",
    flag: Some("dev-echo-tools"),
    default: "off",
    doc: "Offer running agents the tools `echo.read`, `echo.idempotent`, `echo.reconcilable` and `echo.once`, which return their input and have no effect; for development",
};
pub const SERVER: Setting = Setting {
    variable: "OK_SERVER",
    flag: None,
    default: "none",
    doc: "The server that `ok policy` and `ok ci` work on, instead of a state file: https, or http to a loopback address; also `ok policy --server`",
};
pub const TOKEN: Setting = Setting {
    variable: "OK_TOKEN",
    flag: None,
    default: "none",
    doc: "The API token for that server; never an argument",
};
pub const GITHUB_ACTIONS: Setting = Setting {
    variable: "GITHUB_ACTIONS",
    flag: None,
    default: "off",
    doc: "Set by GitHub: `ok ci` annotates the lines of a pull request, as with `ok ci --github`",
};
pub const GITHUB_STEP_SUMMARY: Setting = Setting {
    variable: "GITHUB_STEP_SUMMARY",
    flag: None,
    default: "none",
    doc: "Set by GitHub: the file to which `ok ci` adds its summary, unless `ok ci --summary` names another",
};
pub const FINDINGS_URL: Setting = Setting {
    variable: "OK_FINDINGS_URL",
    flag: None,
    default: "none",
    doc: "Where you have published [the findings](findings.md), such as `https://docs.example.com/findings`: SARIF links each code to its place there (`helpUri`)",
};
pub const BIND: Setting = Setting {
    variable: "OK_BIND",
    flag: Some("bind"),
    default: "127.0.0.1:8080",
    doc: "The address that `ok serve` listens on",
};
pub const TRUSTED_PROXIES: Setting = Setting {
    variable: "OK_TRUSTED_PROXIES",
    flag: None,
    default: "none",
    doc: "Proxies before `ok serve`, as addresses or networks such as `10.0.0.0/8,::1`: the client's address is taken from their `Forwarded` or `X-Forwarded-For`, and from no other client's",
};
pub const HOSTS: Setting = Setting {
    variable: "OK_HOSTS",
    flag: None,
    default: "",
    doc: "The names that `ok serve` answers to, such as `ok.example.com,ok.internal`, besides addresses and `localhost`; `any` for any. Default: on a loopback address no other names (a trusted proxy may use its own), elsewhere any name. Pages of other names are refused (`Origin`)",
};
pub const DEV_AUTH: Setting = Setting {
    variable: "OK_DEV_AUTH",
    flag: None,
    default: "off",
    doc: "Allow webhooks and `web.read` to go to loopback addresses over plain http, for development; `GET /api/health` shows it",
};
pub const SECRETS_KEY: Setting = Setting {
    variable: "OK_SECRETS_KEY",
    flag: None,
    default: "the file beside the state",
    doc: "The key from which webhook secrets are derived: 32 bytes in base64, with or without its `=`, or hex; unset, it is in a file beside the state, which is created if missing",
};
pub const EGRESS_PORTS: Setting = Setting {
    variable: "OK_EGRESS_PORTS",
    flag: None,
    default: "443",
    doc: "The ports that webhooks and `web.read` may connect to, separated by commas",
};
pub const DISK_LOW_WATER: Setting = Setting {
    variable: "OK_DISK_LOW_WATER",
    flag: None,
    default: "256, or 5 % of a small disk",
    doc: "MiB free on the state file's disk below which only operations that stop or revoke are accepted; 0 for no mark and no reserve",
};
pub const LLM_CONFIG: Setting = Setting {
    variable: "OK_LLM_CONFIG",
    flag: None,
    default: "none",
    doc: "A YAML file that declares the models; the variables below then only supply keys",
};
pub const LLM_CHECK: Setting = Setting {
    variable: "OK_LLM_CHECK",
    flag: None,
    default: "on",
    doc: "`0`: `ok serve` does not check the model providers' keys when it starts",
};
pub const ANTHROPIC: Setting = provider("ANTHROPIC_API_KEY", "The key of the model provider Anthropic");
pub const OPENAI: Setting = provider("OPENAI_API_KEY", "The key of the model provider OpenAI");
pub const GEMINI: Setting = provider("GEMINI_API_KEY", "The key of the model provider Gemini");
pub const GOOGLE: Setting = provider("GOOGLE_API_KEY", "The key of the model provider Gemini, by its other name");
pub const OLLAMA: Setting = provider("OLLAMA_HOST", "The address of a local Ollama");
pub const SYSTEMS_CONFIG: Setting = Setting {
    variable: "OK_SYSTEMS_CONFIG",
    flag: None,
    default: "none",
    doc: "A YAML file that declares the systems that keep collections, such as a PostgreSQL database, and which of their tables may be read",
};
pub const SMTP_URL: Setting = Setting {
    variable: "OK_SMTP_URL",
    flag: None,
    default: "none",
    doc: "The mail server, such as `smtps://user:password@mail.example.com`, or `smtp://…` for STARTTLS: agents whose definitions ask for `mail.send` may be offered it. Without TLS only on this machine",
};
pub const MAIL_FROM: Setting = Setting {
    variable: "OK_MAIL_FROM",
    flag: None,
    default: "none",
    doc: "The sender address of agents' mail; `OK_SMTP_URL` requires it",
};
pub const WEB_READ: Setting = Setting {
    variable: "OK_WEB_READ",
    flag: None,
    default: "off",
    doc: "Agents whose definitions ask for `web.read` may be offered it: pages of public hosts, over https, at the ports of `OK_EGRESS_PORTS`",
};
pub const LOG: Setting = Setting {
    variable: "OK_LOG",
    flag: None,
    default: "warn,ok=info,genai=off,rustls_platform_verifier=off",
    doc: "The log filter for stderr, such as `debug` or `warn,ok::gate=trace`",
};
pub const NO_COLOR: Setting = Setting {
    variable: "NO_COLOR",
    flag: None,
    default: "off",
    doc: "Any value turns off colour on a terminal; other output is never coloured",
};

pub const COLUMNS: Setting = Setting {
    variable: "COLUMNS",
    flag: None,
    default: "the terminal's width",
    doc: "How wide tables may be; ids are shortened and texts wrapped to fit. Outside a terminal, columns take their full width",
};

/// Every setting, in the order of the reference.
pub const ALL: &[Setting] = &[
    STATE,
    AS,
    DELEGATION,
    TENANT,
    TENANTS_DIR,
    DEV_ECHO_TOOLS,
    SERVER,
    TOKEN,
    GITHUB_ACTIONS,
    GITHUB_STEP_SUMMARY,
    FINDINGS_URL,
    BIND,
    TRUSTED_PROXIES,
    HOSTS,
    DEV_AUTH,
    SECRETS_KEY,
    EGRESS_PORTS,
    DISK_LOW_WATER,
    LLM_CONFIG,
    LLM_CHECK,
    ANTHROPIC,
    OPENAI,
    GEMINI,
    GOOGLE,
    OLLAMA,
    SYSTEMS_CONFIG,
    SMTP_URL,
    MAIL_FROM,
    WEB_READ,
    LOG,
    NO_COLOR,
    COLUMNS,
];

/// Variables like those of settings that are none, each with the one that was probably meant.
pub fn mistyped() -> Vec<(String, &'static str)> {
    let known = || ALL.iter().map(|setting| setting.variable);
    let ours =
        std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).filter(|name| name.starts_with("OK_"));
    let unknown = ours.filter(|name| known().all(|one| one != name));
    unknown.filter_map(|name| nearest(&name, known()).map(|meant| (name, meant))).collect()
}

/// The settings that hold the keys of model providers; the first that is set counts.
pub const KEYS: &[(ProviderKind, Setting)] = &[
    (ProviderKind::Anthropic, ANTHROPIC),
    (ProviderKind::OpenAi, OPENAI),
    (ProviderKind::Gemini, GEMINI),
    (ProviderKind::Gemini, GOOGLE),
];

const fn provider(variable: &'static str, doc: &'static str) -> Setting {
    Setting { variable, flag: None, default: "none", doc }
}

impl Setting {
    /// Its value in the environment.
    pub fn value(&self) -> Option<String> {
        Some(variable(self.variable)?.to_string_lossy().into_owned())
    }

    /// Its value in the environment as a path, whatever its bytes.
    pub fn path(&self) -> Option<PathBuf> {
        variable(self.variable).map(PathBuf::from)
    }

    /// Whether it is switched on or off; none where it is not set. What is neither is told by its name.
    pub fn switch(&self) -> Result<Option<bool>, String> {
        let Some(value) = self.value() else { return Ok(None) };
        match value.to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(Some(true)),
            "0" | "false" | "no" | "off" => Ok(Some(false)),
            _ => Err(format!("{} must be 1 or 0 (or true, yes, on; false, no, off), not `{value}`", self.variable)),
        }
    }
}

/// A variable of the environment. An empty one is none.
#[allow(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name).filter(|value| !value.is_empty())
}

/// A secret in a variable that a file names.
pub fn secret(name: &str) -> Option<Zeroizing<String>> {
    variable(name)?.into_string().ok().map(Zeroizing::new)
}

/// The computer's name for whoever runs this.
pub fn login_name() -> Option<String> {
    let from_env = |name| Some(variable(name)?.to_string_lossy().into_owned());
    let known = || Some(nix::unistd::User::from_uid(nix::unistd::Uid::effective()).ok()??.name);
    from_env("LOGNAME").or_else(|| from_env("USER")).or_else(known)
}

/// The system's folder for files that need not last.
pub fn temporary_folder() -> PathBuf {
    std::env::temp_dir()
}

/// `docs/reference/config.md`.
pub fn reference() -> String {
    let mut text = String::from(
        "# Settings\n\nWritten from `src/config.rs`. A flag wins over its variable; an empty variable counts as not set.\n\n\
         | Variable | Flag | Default | Meaning |\n|---|---|---|---|\n",
    );
    for Setting { variable, flag, default, doc } in ALL {
        let flag = flag.map(|flag| format!("`--{flag}`")).unwrap_or_default();
        let _ = writeln!(text, "| `{variable}` | {flag} | {default} | {} |", doc);
    }
    text
}
