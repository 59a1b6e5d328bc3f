//! A generator of its own for what a test draws, so that it does not depend on what the runtime draws.

/// Xorshift64 (Marsaglia 2003).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    /// Dice that the seed decides, different ones for each name and life.
    pub(crate) fn new(seed: u64, name: &str, life: u64) -> Self {
        Self(entropy(seed, name, life))
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % sides
    }

    /// One of these.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.roll(from.len() as u64) as usize]
    }
}

/// Bits for one name and life under a seed.
pub(crate) fn entropy(seed: u64, name: &str, life: u64) -> u64 {
    name.bytes().fold(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ life, |bits, byte| {
        (bits ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }) | 1
}

/// Cards that are drawn one after the other and then shuffled again, so that each comes up however short a test is.
#[derive(Clone, Debug)]
pub(crate) struct Deck<T> {
    cards: Vec<T>,
    left: Vec<T>,
}

impl<T: Copy> Deck<T> {
    pub(crate) fn new(cards: impl IntoIterator<Item = T>) -> Self {
        Self { cards: cards.into_iter().collect(), left: Vec::new() }
    }

    pub(crate) fn draw(&mut self, dice: &mut Dice) -> T {
        if self.left.is_empty() {
            self.left.clone_from(&self.cards);
        }
        let index = dice.roll(self.left.len() as u64) as usize;
        self.left.swap_remove(index)
    }
}
