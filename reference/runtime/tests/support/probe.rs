//! A class whose objects keep count, in their storage, of what ran.

use std::time::Duration;

use http::StatusCode;
use oncemore::{Context, Kind, Request, Response, StorageError, UserError, durable_object};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub(crate) enum ProbeError {
    #[error("run {run} was told to throw")]
    Told { run: u32 },
    /// Thrown as if the connection had been lost (F3).
    #[error("dressed as a lost connection")]
    Dressed,
    #[error("storage: {0}")]
    Storage(String),
    #[error("inner call: {0}")]
    Inner(String),
}

impl UserError for ProbeError {
    fn kind(&self) -> Kind {
        match self {
            Self::Dressed => Kind::Disconnected,
            Self::Told { .. } | Self::Storage(_) | Self::Inner(_) => Kind::Failed,
        }
    }
}

impl From<StorageError> for ProbeError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error.to_string())
    }
}

/// What a run does.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Plan {
    /// From which run on it throws; 0: never.
    pub(crate) throws_from: u32,
    /// How long it takes, in milliseconds.
    pub(crate) takes_ms: u64,
}

pub(crate) struct Probe {
    context: Context,
}

#[durable_object]
impl Probe {
    #[construct]
    async fn new(context: Context) -> Result<Self, ProbeError> {
        let lives: u32 = context.storage().get("lives")?.unwrap_or_default();
        context.storage().put("lives", &(lives + 1))?;
        Ok(Self { context })
    }

    /// Returns which run of this object it is, counted from 1.
    async fn run(&self, plan: Plan) -> Result<u32, ProbeError> {
        self.act(plan).await
    }

    #[retryable]
    async fn run_marked(&self, plan: Plan) -> Result<u32, ProbeError> {
        self.act(plan).await
    }

    async fn throw_dressed(&self) -> Result<(), ProbeError> {
        self.act(Plan::default()).await?;
        Err(ProbeError::Dressed)
    }

    async fn runs(&self) -> Result<u32, ProbeError> {
        Ok(self.context.storage().get("runs")?.unwrap_or_default())
    }

    async fn lives(&self) -> Result<u32, ProbeError> {
        Ok(self.context.storage().get("lives")?.unwrap_or_default())
    }

    async fn fetch(&self, request: Request) -> Result<Response, ProbeError> {
        let number = |name| {
            let value = request.headers().get(name)?;
            value.to_str().ok()?.parse::<u16>().ok()
        };
        let throws_from = number("throws-from").unwrap_or_default().into();
        let takes_ms = number("takes-ms").unwrap_or_default().into();
        self.act(Plan { throws_from, takes_ms }).await?;
        let mut response = Response::new(request.body().len().to_string().into());
        *response.status_mut() = StatusCode::from_u16(number("status").unwrap_or(200)).unwrap();
        Ok(response)
    }

    #[local]
    async fn act(&self, plan: Plan) -> Result<u32, ProbeError> {
        let run = self.context.storage().get::<u32>("runs")?.unwrap_or_default() + 1;
        self.context.storage().put("runs", &run)?;
        tokio::time::sleep(Duration::from_millis(plan.takes_ms)).await;
        if plan.throws_from != 0 && run >= plan.throws_from {
            return Err(ProbeError::Told { run });
        }
        Ok(run)
    }
}
