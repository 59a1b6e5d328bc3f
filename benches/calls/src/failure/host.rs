//! A host as a process of its own, which is killed; and the objects that it serves.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use oncemore::{ClassOptions, Context, Directory, Host, Remember, StorageError, UserError, durable_object};
use rustix::process::{Signal, set_parent_process_death_signal};
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::Failure;

/// Writes down each run.
pub(crate) struct Ledger {
    context: Context,
}

#[derive(Clone, Debug, Serialize, Deserialize, thiserror::Error)]
#[error("the ledger's storage: {0}")]
pub(crate) struct LedgerError(String);

impl UserError for LedgerError {}

impl From<StorageError> for LedgerError {
    fn from(error: StorageError) -> Self {
        Self(error.to_string())
    }
}

#[durable_object]
impl Ledger {
    #[construct]
    fn new(context: Context) -> Self {
        Self { context }
    }

    /// Not marked: never twice.
    async fn run(&self, token: String, takes_ms: u64) -> Result<(), LedgerError> {
        self.write(token, takes_ms).await
    }

    /// Marked: may be twice.
    #[retryable]
    async fn run_marked(&self, token: String, takes_ms: u64) -> Result<(), LedgerError> {
        self.write(token, takes_ms).await
    }

    /// How often each token was written.
    #[retryable]
    async fn runs(&self) -> Result<BTreeMap<String, u32>, LedgerError> {
        Ok(self.context.storage().list("")?.into_iter().collect())
    }

    #[local]
    async fn write(&self, token: String, takes_ms: u64) -> Result<(), LedgerError> {
        if takes_ms > 0 {
            tokio::time::sleep(Duration::from_millis(takes_ms)).await;
        }
        let storage = self.context.storage();
        let before: u32 = storage.get(&token)?.unwrap_or_default();
        Ok(storage.put(&token, &(before + 1))?)
    }
}

/// How the ledgers remember what they have let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum How {
    ByIncarnation,
    Durably,
    WithResults,
}

impl How {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::ByIncarnation => "by incarnation (D3)",
            Self::Durably => "durably (D4)",
            Self::WithResults => "with results (D5)",
        }
    }

    const fn argument(self) -> &'static str {
        match self {
            Self::ByIncarnation => "by-incarnation",
            Self::Durably => "durably",
            Self::WithResults => "with-results",
        }
    }

    const fn remember(self) -> Remember {
        match self {
            Self::ByIncarnation => Remember::ByIncarnation,
            Self::Durably => Remember::Durably,
            Self::WithResults => Remember::WithResults,
        }
    }
}

pub(crate) fn directory(folder: &Path) -> Result<Directory, Failure> {
    Ok(Directory::open(folder.join("directory.db"))?)
}

/// Serves until it is killed, or until whoever started it is gone.
pub(crate) async fn serve(folder: &Path, how: How) -> Result<(), Box<dyn Error>> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // More than are in flight: nobody is to be told that an object is overloaded.
    let options = ClassOptions::new().remember(how.remember()).queue_max(4096);
    let builder = Host::builder(&directory(folder)?).name("host").class_with::<Ledger>(options);
    let host = builder.storage(folder.join("data")).listen("127.0.0.1:0").start().await?;
    println!("serves");
    host.stopped().await;
    Ok(())
}

/// Starts a host; once this returns, it serves.
pub(crate) async fn start(folder: &Path, how: How) -> Result<Child, Failure> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("host").arg(folder).arg(how.argument()).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let output = child.stdout.take().ok_or("the host has no output")?;
    let said = BufReader::new(output).lines().next_line().await?;
    if said.as_deref() == Some("serves") { Ok(child) } else { Err("the host did not start".into()) }
}
