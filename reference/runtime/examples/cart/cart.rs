//! A shopping cart: one object for each user.

use oncemore::{Context, StorageError, UserError, durable_object};
use serde::{Deserialize, Serialize};

/// Why a cart could not do what it was asked.
#[derive(Debug, Serialize, Deserialize, thiserror::Error)]
pub enum CartError {
    /// Somebody asked for more than there is.
    #[error("a cart holds at most {max} of one item, and {asked} were asked for")]
    TooMany {
        /// How many there may be.
        max: u32,
        /// How many were asked for.
        asked: u32,
    },
    /// The cart's storage failed.
    #[error("the cart's storage failed: {0}")]
    Storage(String),
}

impl UserError for CartError {}

impl From<StorageError> for CartError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error.to_string())
    }
}

const QUANTITY_MAX: u32 = 1_000_000;

/// A cart.
pub struct Cart {
    context: Context,
}

#[durable_object]
impl Cart {
    /// Nothing is kept in memory, so there is nothing to load.
    #[construct]
    fn new(context: Context) -> Self {
        Self { context }
    }

    /// Idempotent: a second run sets the same quantity.
    #[retryable]
    async fn set_quantity(&self, item: String, quantity: u32) -> Result<(), CartError> {
        if quantity > QUANTITY_MAX {
            return Err(CartError::TooMany { max: QUANTITY_MAX, asked: quantity });
        }
        Ok(self.context.storage().put(&item, &quantity)?)
    }

    /// Not idempotent, so not marked: a retry never runs it a second time.
    async fn add_one(&self, item: String) -> Result<u32, CartError> {
        let quantity = self.context.storage().get(&item)?.unwrap_or(0) + 1;
        self.context.storage().put(&item, &quantity)?;
        Ok(quantity)
    }

    /// Reading is idempotent.
    #[retryable]
    async fn quantity(&self, item: String) -> Result<u32, CartError> {
        Ok(self.context.storage().get(&item)?.unwrap_or(0))
    }
}
