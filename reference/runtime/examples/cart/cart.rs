//! A shopping cart: one object for each user.

#![allow(unreachable_pub, reason = "in a shop of your own this is a library of its own")]

use std::time::Duration;

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

    /// Takes a second. Not marked: nobody wants two parcels.
    async fn wrap(&self, item: String) -> Result<String, CartError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let parcels = self.context.storage().get("parcels")?.unwrap_or(0) + 1;
        self.context.storage().put("parcels", &parcels)?;
        Ok(format!("{item} in parcel {parcels}"))
    }

    /// Takes a second. To weigh twice does no harm.
    #[retryable]
    async fn weigh(&self, item: String) -> Result<u32, CartError> {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(self.context.storage().get(&item)?.unwrap_or(0) * 150)
    }

    /// Reading is idempotent.
    #[retryable]
    async fn quantity(&self, item: String) -> Result<u32, CartError> {
        Ok(self.context.storage().get(&item)?.unwrap_or(0))
    }
}
