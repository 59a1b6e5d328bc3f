//! Which object a call is for.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use sha2::{Digest, Sha256};

/// An object's identity: its class and 256 bits, which are made from its name or drawn at random.
///
/// Equal names of one class make equal ids, on every machine. The text form is 64 hexadecimal digits.
#[derive(Clone)]
pub struct ObjectId {
    class: Arc<str>,
    key: [u8; 32],
    name: Option<Arc<str>>,
}

impl ObjectId {
    /// The id of the object that this class knows under a name.
    #[must_use]
    pub fn named(class: &str, name: &str) -> Self {
        let mut hash = Sha256::new();
        // The length keeps ("ab", "c") and ("a", "bc") apart.
        hash.update((class.len() as u64).to_le_bytes());
        hash.update(class);
        hash.update(name);
        Self { class: class.into(), key: hash.finalize().into(), name: Some(name.into()) }
    }

    /// The id with these bits, which were drawn at random or come from [`ObjectId::key`].
    #[must_use]
    pub fn from_key(class: &str, key: [u8; 32]) -> Self {
        Self { class: class.into(), key, name: None }
    }

    /// The id that [`ObjectId`] wrote as text.
    ///
    /// # Errors
    /// [`IdError`] if it is not 64 hexadecimal digits.
    pub fn parse(class: &str, text: &str) -> Result<Self, IdError> {
        let digits = text.as_bytes();
        if digits.len() != 64 {
            return Err(IdError { length: digits.len() });
        }
        let mut key = [0; 32];
        for (byte, pair) in key.iter_mut().zip(digits.chunks_exact(2)) {
            let digit = |digit: u8| char::from(digit).to_digit(16).ok_or(IdError { length: digits.len() });
            *byte = u8::try_from(digit(pair[0])? << 4 | digit(pair[1])?).unwrap_or_default();
        }
        Ok(Self::from_key(class, key))
    }

    /// The object's class, by the name under which hosts serve it.
    #[must_use]
    pub fn class(&self) -> &str {
        &self.class
    }

    /// The 256 bits.
    #[must_use]
    pub const fn key(&self) -> &[u8; 32] {
        &self.key
    }

    /// The name that the id was made from, if its maker still knew it.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    pub(crate) fn with_name(mut self, name: Option<&str>) -> Self {
        self.name = name.map(Arc::from);
        self
    }
}

impl PartialEq for ObjectId {
    /// The name tells how an id was made, not which object it is.
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key && self.class == other.class
    }
}

impl Eq for ObjectId {}

impl Hash for ObjectId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.key.hash(state);
        self.class.hash(state);
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.key.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "{}({name:?})", self.class),
            None => write!(f, "{}({self})", self.class),
        }
    }
}

/// A text that is no object id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an object id is 64 hexadecimal digits, and this is something else ({length} bytes long)")]
pub struct IdError {
    length: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_makes_the_same_id_everywhere_and_a_class_tells_them_apart() {
        let id = ObjectId::named("Cart", "user-123");
        assert_eq!(id, ObjectId::named("Cart", "user-123"));
        assert_ne!(id, ObjectId::named("Cart", "user-124"));
        assert_ne!(id.key(), ObjectId::named("Carts", "user-123").key());
        assert_ne!(ObjectId::named("ab", "c").key(), ObjectId::named("a", "bc").key());
    }

    #[test]
    fn what_an_id_writes_it_reads() {
        let id = ObjectId::named("Cart", "user-123");
        assert_eq!(ObjectId::parse("Cart", &id.to_string()), Ok(id));
        for bad in ["", "ab", &"g".repeat(64), &"é".repeat(32)] {
            assert!(ObjectId::parse("Cart", bad).is_err(), "{bad}");
        }
    }
}
