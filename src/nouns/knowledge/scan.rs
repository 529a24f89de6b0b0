//! Scans statements before a person sees them. It finds crude attacks, and proves nothing: what it finds is quarantined with
//! the reason, and what it does not find is still only data (OWASP Agentic AI, ASI06 memory poisoning).

use std::collections::BTreeSet;
use std::sync::LazyLock;

use unicode_security::skeleton;

use store::knowledge::Knowledge;
use types::visible::steers;

/// Phrases with which texts try to steer a model, in lower case with single spaces.
const STEERING: [&str; 7] = [
    "you are now",
    "disregard all",
    "system prompt",
    "do not tell",
    "without approval",
    "act as if",
    "new instructions:",
];

/// Verbs with which a text tells its reader to ignore instructions, in several languages: one of these, ...
const LEAVE: &str = "ignore disregard forget override bypass neglect
    ignoriere ignorieren vergiss vergesst missachte
    ignorez oubliez
    ignora ignorad ignorar olvida olvide
    dimentica ignorate
    ignorem esqueça";
/// ... and within a few words one of these.
const INSTRUCTIONS: &str =
    "previous prior above preceding instruction instructions rule rules policies guidelines prompt everything
    anweisung anweisungen vorherigen bisherigen obigen regeln vorgaben
    précédentes consignes règles
    instrucciones anteriores reglas indicaciones previas
    istruzioni precedenti regole indicazioni
    instruções regras orientações acima";
const NEAR: usize = 5;

/// Programs that fetch something; below, those that run what they are given.
const FETCHES: [&str; 4] = ["curl", "wget", "iwr", "invoke-webrequest"];
const RUNS: [&str; 8] = ["sh", "bash", "zsh", "sudo", "python", "python3", "iex", "node"];

/// Prefixes of keys and tokens of well-known services, in lower case.
const SECRETS: [&str; 15] = [
    "ok_",
    "sk-",
    "sk_live_",
    "rk_live_",
    "ghp_",
    "gho_",
    "ghs_",
    "github_pat_",
    "glpat-",
    "akia",
    "aiza",
    "xoxb-",
    "xoxp-",
    "hf_",
    "npm_",
];
/// The minimum characters after such a prefix.
const SECRET: usize = 12;

/// The percentage of common words above which two statements are about the same thing.
const ALIKE: usize = 50;

/// Returns the reasons to quarantine a text.
pub fn of_text(text: &str) -> Vec<String> {
    // To a model, invisible characters do not separate words.
    let shaped: String = text.chars().filter(|c| !is_shapeless(*c)).collect();
    let plain = shaped.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
    let mut reasons = Vec::new();
    if let Some(words) = steering(&plain) {
        reasons.push(format!("it reads like an instruction to a model: «{words}»"));
    }
    if runs_what_it_fetches(&plain) {
        reasons.push("it contains a command that runs what it fetches".to_owned());
    }
    let words = || text.split(|c: char| !in_secret(c));
    if plain.contains("-----begin") || words().any(|word| is_secret(&word.to_lowercase()) || is_access_key(word)) {
        reasons.push("it may contain a secret".to_owned());
    }
    if ["javascript:", "data:text/"].iter().any(|scheme| plain.contains(scheme)) {
        reasons.push("it contains an address that runs code".to_owned());
    }
    if text.chars().any(is_hidden) {
        reasons.push("it contains invisible characters".to_owned());
    }
    reasons
}

/// Finds where a text tells its reader to ignore instructions. Confusable letters count as those they look like (UTS 39, §4).
fn steering(plain: &str) -> Option<String> {
    if let Some(words) = STEERING.iter().find(|words| plain.contains(**words)) {
        return Some((*words).to_owned());
    }
    // How many more words are searched after a verb, and the words so far.
    let mut open: Option<(usize, Vec<&str>)> = None;
    for word in plain.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let looks = if word.len() <= LONGEST_WORD { look(word) } else { String::new() };
        if let Some((left, words)) = open.as_mut() {
            words.push(word);
            if INSTRUCTION_LOOKS.contains(&looks) {
                return Some(words.join(" "));
            }
            *left -= 1;
            if *left == 0 {
                open = None;
            }
        }
        if LEAVE_LOOKS.contains(&looks) {
            open = Some((NEAR, vec![word]));
        }
    }
    None
}

/// The maximum bytes of such a word.
const LONGEST_WORD: usize = 64;
static LEAVE_LOOKS: LazyLock<BTreeSet<String>> = LazyLock::new(|| looks(LEAVE));
static INSTRUCTION_LOOKS: LazyLock<BTreeSet<String>> = LazyLock::new(|| looks(INSTRUCTIONS));

fn looks(words: &str) -> BTreeSet<String> {
    words.split_whitespace().map(look).collect()
}

fn look(word: &str) -> String {
    skeleton(word).collect()
}

/// Finds `curl … | sh`: whatever is fetched is run.
fn runs_what_it_fetches(plain: &str) -> bool {
    let words =
        |part| str::split(part, |c: char| !c.is_alphanumeric() && c != '-').filter(|word: &&str| !word.is_empty());
    let mut fetches = false;
    for (number, part) in plain.split('|').enumerate() {
        if number > 0 && fetches && words(part).next().is_some_and(|word| RUNS.contains(&word)) {
            return true;
        }
        fetches |= words(part).any(|word| FETCHES.contains(&word));
    }
    false
}

/// Checks for an AWS access key id: 20 capital letters and digits.
fn is_access_key(word: &str) -> bool {
    let is_key = ["AKIA", "ASIA"].iter().any(|start| word.starts_with(start));
    is_key && word.len() == 20 && word.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit())
}

const fn in_secret(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')
}

/// Checks for a key or token by its prefix, or for a JSON Web Token by its three parts (RFC 7519).
fn is_secret(word: &str) -> bool {
    let is_key = SECRETS.iter().filter_map(|start| word.strip_prefix(start)).any(|rest| rest.len() >= SECRET);
    is_key && word.contains(|c: char| c.is_ascii_digit()) || word.starts_with("eyj") && word.split('.').count() == 3
}

/// Checks for invisible characters, and for those that change the direction of a text (Unicode TR36 §3).
fn is_hidden(c: char) -> bool {
    (steers(c) && c != '\r') || is_shapeless(c) && c != '\u{fe0f}'
}

/// Checks for characters that are not rendered (Unicode's Default_Ignorable_Code_Point, except Hangul fillers).
fn is_shapeless(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}')
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e0fff}')
}

/// An accepted entry with the words of its statement.
pub(super) type Said = (Knowledge, BTreeSet<String>);

/// Returns the entry that says the same in the same words.
pub(super) fn said_by<'a>(text: &str, alike: &'a [Said]) -> Option<&'a Knowledge> {
    let said = words(text);
    alike.iter().find(|(_, theirs)| *theirs == said).map(|(entry, _)| entry)
}

/// Reports entries that may contradict the text: similar but different words; at most a few.
pub(super) fn contradicted(text: &str, alike: &[Said], supersedes: Option<&str>) -> Vec<String> {
    let said = words(text);
    let is_otherwise = |(entry, theirs): &&Said| {
        let (both, all) = (said.intersection(theirs).count(), said.union(theirs).count());
        supersedes != Some(&entry.id) && *theirs != said && all > 0 && both * 100 >= all * ALIKE
    };
    alike.iter().filter(is_otherwise).take(3).map(|(entry, _)| format!("{} says otherwise", entry.id)).collect()
}

/// Returns the words of a text, in lower case.
pub(super) fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}
