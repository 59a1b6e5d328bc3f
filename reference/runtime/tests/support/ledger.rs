//! Objects that write down each call that runs, and a judge who holds what callers were told against it.

use std::collections::HashMap;
use std::time::Duration;

use oncemore::{CallError, Context, Delivery, StorageError, UserError, durable_object};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[error("the ledger's storage: {0}")]
pub(crate) struct LedgerError(String);

impl UserError for LedgerError {}

impl From<StorageError> for LedgerError {
    fn from(error: StorageError) -> Self {
        Self(error.to_string())
    }
}

pub(crate) struct Ledger {
    context: Context,
}

#[durable_object]
impl Ledger {
    #[construct]
    fn new(context: Context) -> Self {
        Self { context }
    }

    /// Writes the token down, and returns its place.
    async fn append(&self, token: String, takes_ms: u64) -> Result<u64, LedgerError> {
        self.write(token, takes_ms).await
    }

    #[retryable]
    async fn append_marked(&self, token: String, takes_ms: u64) -> Result<u64, LedgerError> {
        self.write(token, takes_ms).await
    }

    /// Everything that was written, in order.
    #[retryable]
    async fn entries(&self) -> Result<Vec<String>, LedgerError> {
        let entries = self.context.storage().list::<String>("entry/")?;
        Ok(entries.into_iter().map(|(_, token)| token).collect())
    }

    #[local]
    async fn write(&self, token: String, takes_ms: u64) -> Result<u64, LedgerError> {
        let place: u64 = self.context.storage().get("count")?.unwrap_or_default();
        self.context.storage().put("count", &(place + 1))?;
        self.context.storage().put(&format!("entry/{place:08}"), &token)?;
        tokio::time::sleep(Duration::from_millis(takes_ms)).await;
        Ok(place)
    }
}

/// What became of one call, as its caller was told.
#[derive(Clone, Debug)]
pub(crate) struct Told {
    pub(crate) token: String,
    pub(crate) marked: bool,
    pub(crate) outcome: Outcome,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Written {
        place: u64,
    },
    Failed(Delivery),
    /// The caller gave it up, or died, before it was told anything.
    Untold,
}

impl Told {
    pub(crate) fn new(token: String, marked: bool, result: &Result<u64, CallError<LedgerError>>) -> Self {
        let outcome = match result {
            Ok(place) => Outcome::Written { place: *place },
            Err(error) => Outcome::Failed(error.delivery()),
        };
        Self { token, marked, outcome }
    }
}

/// Everything that is wrong with what callers were told, given what the object wrote down.
pub(crate) fn judge(told: &[Told], entries: &[String]) -> Vec<String> {
    let mut written: HashMap<&str, usize> = HashMap::new();
    for token in entries {
        *written.entry(token).or_default() += 1;
    }
    told.iter()
        .filter_map(|call| wrong(call, written.get(&*call.token).copied().unwrap_or_default(), entries))
        .collect()
}

fn wrong(call: &Told, times: usize, entries: &[String]) -> Option<String> {
    let what = match call.outcome {
        _ if !call.marked && times > 1 => "an unmarked call took effect twice (P2)",
        Outcome::Written { .. } if times == 0 => "what was acknowledged is lost (P10)",
        Outcome::Written { place } if entries.get(place as usize) != Some(&call.token) => {
            "the answer is not what a run produced (P10)"
        }
        Outcome::Failed(Delivery::NotDelivered) if times > 0 => "it is said not to have run, and it did (P11)",
        Outcome::Written { .. } | Outcome::Failed(_) | Outcome::Untold => return None,
    };
    Some(format!("{what}: {call:?}, written {times} times"))
}
