//! Objects that write down each call that runs, and a judge who holds what callers were told against it.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use oncemore::{CallError, Context, Delivery, StorageError, UserError, durable_object};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum LedgerError {
    #[error("the ledger's storage: {0}")]
    Storage(String),
    #[error("thrown as asked, by the run that wrote at {place}")]
    AsAsked { place: u64 },
}

impl UserError for LedgerError {}

impl From<StorageError> for LedgerError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error.to_string())
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

    /// Writes the token down, and throws.
    async fn append_and_throw(&self, token: String, takes_ms: u64) -> Result<u64, LedgerError> {
        let place = self.write(token, takes_ms).await?;
        Err(LedgerError::AsAsked { place })
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Outcome {
    Written {
        place: u64,
    },
    /// What the run threw that wrote there.
    Thrown {
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
            Err(error) => match error.thrown() {
                Some(LedgerError::AsAsked { place }) => Outcome::Thrown { place: *place },
                Some(LedgerError::Storage(_)) | None => Outcome::Failed(error.delivery()),
            },
        };
        Self { token, marked, outcome }
    }
}

/// Everything that is wrong with what callers were told, given what the object wrote down. Every call that anybody
/// made is among `told`.
pub(crate) fn judge(told: &[Told], entries: &[String]) -> Vec<String> {
    let mut written: HashMap<&str, usize> = HashMap::new();
    for token in entries {
        *written.entry(token).or_default() += 1;
    }
    let made: HashSet<&str> = told.iter().map(|call| &*call.token).collect();
    let nobodys = written.keys().filter(|token| !made.contains(*token));
    let nobodys = nobodys.map(|token| format!("nobody made this call to this object, and it took effect: {token}"));
    told.iter()
        .filter_map(|call| wrong(call, written.get(&*call.token).copied().unwrap_or_default(), entries))
        .chain(nobodys)
        .collect()
}

fn wrong(call: &Told, times: usize, entries: &[String]) -> Option<String> {
    let what = match call.outcome {
        _ if !call.marked && times > 1 => "an unmarked call took effect twice (P2)",
        Outcome::Written { .. } | Outcome::Thrown { .. } if times == 0 => "what was acknowledged is lost (P10)",
        Outcome::Written { place } | Outcome::Thrown { place } if entries.get(place as usize) != Some(&call.token) => {
            "the answer is not what a run produced (P10)"
        }
        Outcome::Failed(Delivery::NotDelivered) if times > 0 => "it is said not to have run, and it did (P11)",
        Outcome::Written { .. } | Outcome::Thrown { .. } | Outcome::Failed(_) | Outcome::Untold => return None,
    };
    Some(format!("{what}: {call:?}, written {times} times"))
}

/// A judge that cannot find anything is none.
mod tests {
    use super::*;

    fn verdict(marked: bool, outcome: Outcome, entries: &[&str]) -> String {
        let told = Told { token: "a".into(), marked, outcome };
        let entries: Vec<_> = entries.iter().map(|&token| token.to_owned()).collect();
        judge(&[told], &entries).join("\n")
    }

    #[test]
    fn what_may_be_is_not_held_against_anybody() {
        let failed = Outcome::Failed;
        for marked in [false, true] {
            assert_eq!(verdict(marked, Outcome::Written { place: 0 }, &["a"]), "");
            assert_eq!(verdict(marked, Outcome::Thrown { place: 0 }, &["a"]), "");
            assert_eq!(verdict(marked, failed(Delivery::NotDelivered), &[]), "");
            for outcome in [failed(Delivery::Unknown), failed(Delivery::Delivered), Outcome::Untold] {
                assert_eq!(verdict(marked, outcome, &[]), "");
                assert_eq!(verdict(marked, outcome, &["a"]), "");
            }
        }
        assert_eq!(verdict(true, Outcome::Written { place: 1 }, &["a", "a"]), "");
        assert_eq!(verdict(true, Outcome::Untold, &["a", "a"]), "");
    }

    #[test]
    fn an_unmarked_call_that_ran_twice_is_found_whatever_its_caller_was_told() {
        let failed = Outcome::Failed;
        let told = [failed(Delivery::Unknown), failed(Delivery::Delivered), failed(Delivery::NotDelivered)];
        for outcome in told.into_iter().chain([Outcome::Untold, Outcome::Written { place: 0 }]) {
            assert!(verdict(false, outcome, &["a", "a"]).contains("(P2)"));
        }
    }

    #[test]
    fn a_lost_write_is_found() {
        for marked in [false, true] {
            for outcome in [Outcome::Written { place: 0 }, Outcome::Thrown { place: 0 }] {
                assert!(verdict(marked, outcome, &[]).contains("is lost (P10)"));
            }
        }
    }

    #[test]
    fn an_answer_that_names_a_wrong_place_is_found() {
        let told = [("a", 0), ("b", 0)].map(|(token, place)| Told {
            token: token.into(),
            marked: true,
            outcome: Outcome::Written { place },
        });
        let wrong = judge(&told, &["a".into(), "b".into()]);
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].contains("not what a run produced (P10)") && wrong[0].contains("\"b\""), "{wrong:?}");
    }

    #[test]
    fn a_call_that_is_said_not_to_have_run_and_did_is_found() {
        for marked in [false, true] {
            assert!(verdict(marked, Outcome::Failed(Delivery::NotDelivered), &["a"]).contains("(P11)"));
        }
    }

    #[test]
    fn a_call_that_nobody_made_is_found() {
        assert!(verdict(true, Outcome::Untold, &["b"]).contains("nobody made this call"));
    }
}
