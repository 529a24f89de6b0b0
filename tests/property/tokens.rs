//! What is nearly a token is none.

use ok::types::entropy::Entropy;
use ok::types::token::{Plain, TokenKind, masked, parse};
use sha2::{Digest as _, Sha256};

/// A generator that repeats from run to run.
struct Seeded(std::sync::atomic::AtomicU64);

impl Entropy for Seeded {
    fn bytes32(&self) -> [u8; 32] {
        Sha256::digest(self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed).to_be_bytes()).into()
    }
}

impl Seeded {
    fn below(&self, end: usize) -> usize {
        usize::try_from(self.bits128() % end as u128).unwrap()
    }
}

const CHARACTERS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// One, two or three changes, each a character replaced, swapped with the next, dropped or doubled.
fn near(token: &str, random: &Seeded) -> String {
    let mut bytes = token.as_bytes().to_vec();
    for _ in 0..=random.below(3) {
        let at = random.below(bytes.len() - 1);
        match random.below(8) {
            0 => bytes.swap(at, at + 1),
            1 => drop(bytes.remove(at)),
            2 => bytes.insert(at, bytes[at]),
            _ => bytes[at] = CHARACTERS[random.below(62)],
        }
    }
    String::from_utf8(bytes).unwrap()
}

#[test]
fn no_text_that_is_masked_tells_a_token_or_half_of_one() {
    let random = Seeded(8.into());
    for number in 0..2_000 {
        let kind = [TokenKind::Api, TokenKind::Agent, TokenKind::Operator][number % 3];
        let plain = Plain::new(kind, &random);
        let whole = plain.reveal();
        let part = whole.split_at(whole.len() - random.below(25)).0;
        let (before, after) =
            [("", ""), ("actor:", "'"), ("x%3A", "_"), ("\\t", "\n"), ("ok_ ok_snake ", " ok_")][number % 5];
        let text = format!("{before}{part}{after}");
        let shown = masked(&text);
        assert_eq!(shown, format!("{before}{}…{after}", kind.prefix()));
    }
    for harmless in [
        "/tmp/ok_Demo contains no policies",
        "ok_ or ok_ag_ and 49 letters and digits",
        "ok_snake_case_names",
        "no token",
        "not found: id `tok_01M7A0000000000000000000ZZ`",
    ] {
        assert_eq!(masked(harmless), harmless);
    }
}

#[test]
fn of_100_000_near_misses_none_is_read_as_the_token_and_hardly_any_as_one_at_all() {
    let random = Seeded(7.into());
    let mut tried = 0;
    let mut well_formed = 0;
    while tried < 100_000 {
        let kind = [TokenKind::Api, TokenKind::Agent, TokenKind::Operator][tried % 3];
        let plain = Plain::new(kind, &random);
        let (read, hash) = parse(plain.reveal()).unwrap();
        assert_eq!((read, hash), (kind, plain.hash()));
        for _ in 0..100 {
            let miss = near(plain.reveal(), &random);
            tried += 1;
            if miss != plain.reveal()
                && let Some((_, found)) = parse(&miss)
            {
                assert_ne!(found, plain.hash(), "{miss}");
                well_formed += 1;
            }
        }
    }
    // A checksum of 32 bits lets one in four billion through.
    assert_eq!(well_formed, 0, "the checksum does not check");
}

#[test]
fn every_single_replaced_character_is_noticed() {
    let plain = Plain::new(TokenKind::Api, &Seeded(1.into()));
    for at in 0..plain.reveal().len() {
        for character in CHARACTERS.iter().chain(b"_-. \0") {
            let mut bytes = plain.reveal().as_bytes().to_vec();
            if bytes[at] != *character {
                bytes[at] = *character;
                assert!(parse(std::str::from_utf8(&bytes).unwrap()).is_none());
            }
        }
    }
}
