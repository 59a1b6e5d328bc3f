//! The only place that draws at random.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Where caller ids, object ids and delays are drawn from.
#[derive(Clone)]
pub struct Entropy(Source);

#[derive(Clone)]
enum Source {
    System,
    Seeded(Arc<AtomicU64>),
}

impl Entropy {
    /// The operating system's generator.
    #[must_use]
    pub const fn system() -> Self {
        Self(Source::System)
    }

    /// A sequence that the seed decides, for simulations: two of the same seed draw the same ids.
    #[must_use]
    pub fn seeded(seed: u64) -> Self {
        Self(Source::Seeded(Arc::new(AtomicU64::new(seed))))
    }

    /// # Panics
    /// If the operating system has no randomness to give: without it identities would collide (G10).
    pub(crate) fn bytes<const N: usize>(&self) -> [u8; N] {
        let mut bytes = [0; N];
        match &self.0 {
            Source::System => getrandom::fill(&mut bytes).expect("the operating system gives random bits"),
            Source::Seeded(state) => {
                for chunk in bytes.chunks_mut(8) {
                    chunk.copy_from_slice(&split_mix(state).to_le_bytes()[..chunk.len()]);
                }
            }
        }
        bytes
    }

    pub(crate) fn draw(&self) -> u32 {
        u32::from_le_bytes(self.bytes())
    }
}

/// SplitMix64 (Steele, Lea, Flood 2014).
fn split_mix(state: &AtomicU64) -> u64 {
    const GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut z = state.fetch_add(GAMMA, Ordering::Relaxed).wrapping_add(GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

impl fmt::Debug for Entropy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Source::System => f.write_str("Entropy::system()"),
            Source::Seeded(_) => f.write_str("Entropy::seeded(..)"),
        }
    }
}
