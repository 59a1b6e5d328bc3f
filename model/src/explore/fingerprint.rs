//! The 64 bits that stand for a state.
//!
//! A state's `Hash` is written out as bytes, and the bytes are hashed in one go with rapidhash V3.
//! The detour is faster than mixing field by field, since a state is made of many small integers,
//! and it makes the fingerprint a function of the written bytes alone: the same in every run and
//! on every little-endian machine, so that processes may share a search. (The standard library
//! writes slices of integers as they lie in memory, which no hasher can undo.)

use std::hash::{Hash, Hasher};

use rapidhash::v3::rapidhash_v3;

/// What an engine remembers of a state: 64 bits, never below [`Fingerprint::LEAST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Fingerprint(u64);

impl Fingerprint {
    /// The least value a fingerprint has. Those below are kept free for the visited set, which
    /// marks its empty slots and the initial states with them.
    pub(crate) const LEAST: u64 = 2 << 8;

    /// The fingerprint for these 64 hashed bits.
    #[inline]
    pub(crate) const fn from_hash(hash: u64) -> Self {
        // The few reserved values move to where the top bit keeps them off the others' way.
        Self(if hash < Self::LEAST { hash | 1 << 63 } else { hash })
    }

    /// The fingerprint as a number.
    #[inline]
    pub(crate) const fn get(self) -> u64 {
        self.0
    }
}

/// Takes fingerprints, reusing one buffer from state to state.
#[derive(Debug, Default)]
pub(crate) struct Fingerprinter {
    room: Option<Box<[u8; ROOM + WIDEST]>>,
}

/// What nearly every state fits into when it is written out, in bytes: a power of two.
const ROOM: usize = 1 << 12;

/// The widest integer, in bytes.
const WIDEST: usize = 16;

impl Fingerprinter {
    /// The fingerprint of `state`.
    #[inline]
    pub(crate) fn of<T: Hash>(&mut self, state: &T) -> Fingerprint {
        let room = self.room.get_or_insert_with(|| Box::new([0; ROOM + WIDEST]));
        let mut writer = Writer { room: Short(room), end: 0 };
        state.hash(&mut writer);
        let end = writer.end;
        if end <= ROOM { Fingerprint::from_hash(rapidhash_v3(&room[..end])) } else { Self::of_long(state) }
    }

    /// The fingerprint of a state that did not fit.
    #[cold]
    fn of_long<T: Hash>(state: &T) -> Fingerprint {
        let mut writer = Writer { room: Long(Vec::new()), end: 0 };
        state.hash(&mut writer);
        Fingerprint::from_hash(rapidhash_v3(&writer.room.0))
    }
}

/// Writes down what a `Hash` implementation feeds it, least significant byte first.
///
/// Enum discriminants and lengths come as whole words though they are nearly always small, so
/// small ones take one byte. The encoding stays injective: where two values first differ they
/// write different bytes.
///
/// The end is kept apart from the room, so that it can stay in a register from one small write to the next.
struct Writer<R> {
    room: R,
    end: usize,
}

/// Where a writer writes.
trait Room {
    fn put<const N: usize>(&mut self, end: usize, bytes: [u8; N]);
    fn put_all(&mut self, end: usize, bytes: &[u8]);
}

/// A room of fixed size. What is written beyond it is lost, and the writer's end tells.
struct Short<'a>(&'a mut [u8; ROOM + WIDEST]);

/// A room that grows.
struct Long(Vec<u8>);

impl Room for Short<'_> {
    #[inline]
    fn put<const N: usize>(&mut self, end: usize, bytes: [u8; N]) {
        const { assert!(N <= WIDEST) };
        // Always within the room, so that nothing has to be compared.
        let place = end % ROOM;
        self.0[place..place + N].copy_from_slice(&bytes);
    }

    #[inline]
    fn put_all(&mut self, end: usize, bytes: &[u8]) {
        if let Some(place) = self.0.get_mut(end..).and_then(|rest| rest.get_mut(..bytes.len())) {
            place.copy_from_slice(bytes);
        }
    }
}

impl Room for Long {
    fn put<const N: usize>(&mut self, _end: usize, bytes: [u8; N]) {
        self.0.extend_from_slice(&bytes);
    }

    fn put_all(&mut self, _end: usize, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

impl<R: Room> Writer<R> {
    #[inline]
    fn put<const N: usize>(&mut self, bytes: [u8; N]) {
        self.room.put(self.end, bytes);
        self.end += N;
    }
}

/// Announces a discriminant that does not fit one byte.
const WIDE_DISCRIMINANT: u8 = 0x80;

/// Announces a length that does not fit one byte.
const WIDE_LENGTH: u8 = 0xff;

impl<R: Room> Hasher for Writer<R> {
    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        self.room.put_all(self.end, bytes);
        self.end += bytes.len();
    }

    #[inline]
    fn write_u8(&mut self, value: u8) {
        self.put([value]);
    }

    #[inline]
    fn write_u16(&mut self, value: u16) {
        self.put(value.to_le_bytes());
    }

    #[inline]
    fn write_u32(&mut self, value: u32) {
        self.put(value.to_le_bytes());
    }

    #[inline]
    fn write_u64(&mut self, value: u64) {
        self.put(value.to_le_bytes());
    }

    #[inline]
    fn write_u128(&mut self, value: u128) {
        self.put(value.to_le_bytes());
    }

    #[inline]
    fn write_usize(&mut self, value: usize) {
        match u8::try_from(value) {
            Ok(small) if small != WIDE_LENGTH => self.put([small]),
            _ => {
                self.put([WIDE_LENGTH]);
                self.write_u64(value as u64);
            }
        }
    }

    #[inline]
    fn write_isize(&mut self, value: isize) {
        match i8::try_from(value) {
            Ok(small) if small != i8::MIN => self.put([small.cast_unsigned()]),
            _ => {
                self.put([WIDE_DISCRIMINANT]);
                self.write_u64((value as i64).cast_unsigned());
            }
        }
    }

    /// Not asked for: the written bytes are hashed in one go.
    fn finish(&self) -> u64 {
        0
    }
}

/// The odds that among `states` different states some two share a fingerprint, so that the second
/// was taken for known and neither judged nor explored.
///
/// It is the birthday bound for 64 ideal bits, about n² / 2⁶⁵: 3·10⁻⁸ for a million states,
/// 3·10⁻⁴ for a hundred million. The hash is not keyed and is not ideal, so read it as an order of
/// magnitude; and it speaks of distinct states seen, which a collision makes smaller than the
/// states there are.
#[must_use]
pub fn collision_odds(states: u64) -> f64 {
    let pairs = states as f64 * (states.saturating_sub(1)) as f64 / 2.0;
    -f64::exp_m1(-pairs / 2f64.powi(64))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn written(value: &impl Hash) -> Vec<u8> {
        let mut writer = Writer { room: Long(Vec::new()), end: 0 };
        value.hash(&mut writer);
        writer.room.0
    }

    #[test]
    fn fingerprints_are_the_same_in_every_run() {
        let mut fingerprinter = Fingerprinter::default();
        let state = (7u8, Some(3u16), [1u32, 2], vec![9u64], -1i64);
        assert_eq!(
            written(&state),
            [7, 1, 3, 0, 2, 1, 0, 0, 0, 2, 0, 0, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255]
        );
        assert_eq!(fingerprinter.of(&state).get(), 13_153_638_883_475_748_502);
    }

    #[test]
    fn small_and_wide_words_never_look_alike() {
        let lengths = [0usize, 1, 127, 128, 254, 255, 256, 1 << 40, usize::MAX];
        let distinct: HashSet<_> = lengths.iter().map(written).collect();
        assert_eq!(distinct.len(), lengths.len());
        let words = [0isize, 1, -1, 127, -127, -128, 128, isize::MIN, isize::MAX];
        let distinct: HashSet<_> = words.iter().map(written).collect();
        assert_eq!(distinct.len(), words.len());
    }

    #[test]
    fn the_reserved_values_are_never_a_fingerprint() {
        for hash in [0, 1, 2, 255, 256, Fingerprint::LEAST - 1, Fingerprint::LEAST, u64::MAX] {
            assert!(Fingerprint::from_hash(hash).get() >= Fingerprint::LEAST);
        }
        assert_eq!(Fingerprint::from_hash(Fingerprint::LEAST).get(), Fingerprint::LEAST);
    }

    #[test]
    fn flipping_any_one_bit_moves_about_half_of_the_fingerprint() {
        let mut fingerprinter = Fingerprinter::default();
        let base = [0u8; 40];
        let zero = fingerprinter.of(&base).get();
        for bit in 0..320 {
            let mut flipped = base;
            flipped[bit / 8] ^= 1 << (bit % 8);
            let moved = (fingerprinter.of(&flipped).get() ^ zero).count_ones();
            assert!((10..=54).contains(&moved), "bit {bit} moved {moved}");
        }
    }

    #[test]
    fn collision_odds_follow_the_birthday_bound() {
        assert_eq!(collision_odds(0), 0.0);
        assert_eq!(collision_odds(1), 0.0);
        let million = collision_odds(1_000_000);
        assert!((million / 2.710_5e-8 - 1.0).abs() < 1e-4, "{million}");
        assert!(collision_odds(1 << 32) > 0.39 && collision_odds(1 << 32) < 0.40);
        assert_eq!(collision_odds(u64::MAX), 1.0);
    }
}
