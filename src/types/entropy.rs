//! Randomness is an input, like time: ids, salts and token secrets come from an `Entropy`.

/// Where random bytes come from.
pub trait Entropy: Send + Sync {
    /// 32 unpredictable bytes.
    fn bytes32(&self) -> [u8; 32];

    /// 128 unpredictable bits, of which an id uses 80.
    fn bits128(&self) -> u128 {
        let bytes = self.bytes32();
        bytes.iter().take(16).fold(0, |sum, byte| (sum << 8) | u128::from(*byte))
    }
}

/// The operating system's generator.
pub struct SystemEntropy;

impl Entropy for SystemEntropy {
    #[allow(clippy::disallowed_methods, reason = "the one place that asks the operating system for randomness")]
    #[allow(clippy::panic, reason = "without randomness no secret may be made; there is nothing to fall back to")]
    fn bytes32(&self) -> [u8; 32] {
        let mut bytes = [0; 32];
        if let Err(error) = getrandom::fill(&mut bytes) {
            panic!("the operating system gives no random bytes: {error}");
        }
        bytes
    }
}
