//! The log's signature: a C2SP tlog-checkpoint as a signed note (c2sp.org/tlog-checkpoint, c2sp.org/signed-note).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signer as _, SigningKey};
use sha2::{Digest, Sha256};

use super::tree::Hash;

const ED25519: u8 = 1;

/// The log's name and its key.
#[derive(Clone)]
pub struct Signer {
    origin: String,
    key: SigningKey,
    key_id: [u8; 4],
}

impl Signer {
    pub fn new(origin: String, secret: &[u8; 32]) -> Signer {
        let key = SigningKey::from_bytes(secret);
        let digest = Sha256::new()
            .chain_update(origin.as_bytes())
            .chain_update([b'\n', ED25519])
            .chain_update(key.verifying_key().as_bytes())
            .finalize();
        let mut key_id = [0; 4];
        key_id.iter_mut().zip(digest).for_each(|(to, byte)| *to = byte);
        Signer { origin, key, key_id }
    }

    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The verifier key, to be given to auditors: `<origin>+<key id>+<base64>`.
    pub fn vkey(&self) -> String {
        let mut public = vec![ED25519];
        public.extend(self.key.verifying_key().as_bytes());
        format!("{}+{}+{}", self.origin, hex::encode(self.key_id), BASE64.encode(public))
    }

    /// The signature under the number of the state file's owner.
    pub fn sign_owner(&self, epoch: i64) -> [u8; 64] {
        self.key.sign(owner(&self.origin, epoch).as_bytes()).to_bytes()
    }

    /// The signed checkpoint of a tree.
    pub fn sign(&self, size: u64, root: &Hash) -> String {
        format!("{}\n{}", self.text(size, root), self.signature(size, root))
    }

    /// The line that signs it.
    pub fn signature(&self, size: u64, root: &Hash) -> String {
        let mut signature = self.key_id.to_vec();
        signature.extend(self.key.sign(self.text(size, root).as_bytes()).to_bytes());
        format!("— {} {}\n", self.origin, BASE64.encode(signature))
    }

    fn text(&self, size: u64, root: &Hash) -> String {
        format!("{}\n{size}\n{}\n", self.origin, BASE64.encode(root))
    }
}

/// What is signed of an owner: no checkpoint reads like it.
pub fn owner(origin: &str, epoch: i64) -> String {
    format!("{origin}\nowner {epoch}\n")
}
