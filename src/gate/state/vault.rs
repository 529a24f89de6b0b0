//! Secrets that others share with the company. None is stored: each is derived from one key whenever it is needed, so
//! no table, event or backup of the state contains one (`docs/decisions/0009`).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signer as _, SigningKey};
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use zeroize::Zeroizing;

use store::webhooks::Webhook;
use types::refusal::Fault;
use types::time::Time;
use types::webhook::SignatureFormat;

/// The key that secrets are made from.
pub struct Vault(Zeroizing<[u8; 32]>);

/// One message as it is signed: Standard Webhooks.
pub struct Signed<'a> {
    pub id: &'a str,
    /// Seconds since 1970.
    pub timestamp: i64,
    pub body: &'a str,
}

impl Signed<'_> {
    fn content(&self) -> String {
        format!("{}.{}.{}", self.id, self.timestamp, self.body)
    }
}

impl Vault {
    pub(crate) fn new(key: Zeroizing<[u8; 32]>) -> Vault {
        Vault(key)
    }

    /// One webhook's secret of one generation. The parts have fixed lengths, so no two secrets are made of one text.
    fn secret(&self, tenant: &str, webhook: &Webhook, generation: u32) -> Result<Zeroizing<[u8; 32]>, Fault> {
        let label: &[u8] = match webhook.format {
            SignatureFormat::V1 => b"ok/webhook/v1\0",
            SignatureFormat::V1a => b"ok/webhook/v1a\0",
        };
        let parts: [&[u8]; 4] = [label, tenant.as_bytes(), webhook.id.as_bytes(), &generation.to_be_bytes()];
        Ok(Zeroizing::new(mac(&*self.0, &parts)?))
    }

    /// What the key is known by, without saying anything of it.
    pub fn fingerprint(&self) -> Result<String, Fault> {
        let [a, b, c, d, e, f, g, h, ..] = mac(&*self.0, &[b"ok/webhook/key\0"])?;
        Ok(hex::encode([a, b, c, d, e, f, g, h]))
    }

    /// What the receiver is given to verify with: the secret, or the public key.
    pub fn shown(&self, tenant: &str, webhook: &Webhook) -> Result<String, Fault> {
        let secret = self.secret(tenant, webhook, webhook.generation)?;
        Ok(match webhook.format {
            SignatureFormat::V1 => format!("whsec_{}", BASE64.encode(*secret)),
            SignatureFormat::V1a => {
                format!("whpk_{}", BASE64.encode(SigningKey::from_bytes(&secret).verifying_key().as_bytes()))
            }
        })
    }

    /// The signatures of a message: one, or two for a while after the secret was changed.
    pub fn sign(&self, tenant: &str, webhook: &Webhook, message: &Signed<'_>, now: Time) -> Result<String, Fault> {
        let both = webhook.both_until.is_some_and(|until| now < until);
        let before = both.then(|| webhook.generation.saturating_sub(1)).filter(|generation| *generation > 0);
        let content = message.content();
        let mut all = Vec::new();
        for generation in [Some(webhook.generation), before].into_iter().flatten() {
            let secret = self.secret(tenant, webhook, generation)?;
            all.push(match webhook.format {
                SignatureFormat::V1 => format!("v1,{}", BASE64.encode(mac(&*secret, &[content.as_bytes()])?)),
                SignatureFormat::V1a => {
                    let signature = SigningKey::from_bytes(&secret).sign(content.as_bytes());
                    format!("v1a,{}", BASE64.encode(signature.to_bytes()))
                }
            });
        }
        Ok(all.join(" "))
    }
}

fn mac(key: &[u8], parts: &[&[u8]]) -> Result<[u8; 32], Fault> {
    let mac = Hmac::<Sha256>::new_from_slice(key).map_err(|error| Fault::Broken(format!("a key: {error}")))?;
    let mac = parts.iter().fold(mac, |mac, part| mac.chain_update(part));
    Ok(mac.finalize().into_bytes().into())
}
