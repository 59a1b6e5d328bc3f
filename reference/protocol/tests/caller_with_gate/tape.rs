//! Where all choices come from.

use oncemore_protocol::time::Time;

/// A finite list of choices; once it is used up, every choice is the first and kindest.
pub(crate) struct Tape {
    choices: Vec<u8>,
    at: usize,
}

impl Tape {
    pub(crate) const fn new(choices: Vec<u8>) -> Self {
        Self { choices, at: 0 }
    }

    fn next(&mut self) -> u8 {
        let choice = self.choices.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        choice
    }

    /// One of `0..count`.
    pub(crate) fn one_of(&mut self, count: u8) -> u8 {
        self.next() % count
    }

    /// True in about so many of a hundred cases.
    pub(crate) fn chance(&mut self, percent: u8) -> bool {
        u16::from(self.next()) * 100 >= (100 - u16::from(percent)) * 256
    }

    /// Up to about `ms` milliseconds, at least one.
    pub(crate) fn span(&mut self, ms: u64) -> u64 {
        MS + u64::from(self.next()) * ms * MS / 255
    }

    pub(crate) fn draw(&mut self) -> u32 {
        u32::from(self.next()) * 0x0101_0101
    }
}

pub(crate) const MS: u64 = 1_000_000;

/// So many nanoseconds after `now`.
pub(crate) fn later(now: Time, nanos: u64) -> Time {
    Time::from_nanos(now.as_nanos() + nanos)
}
