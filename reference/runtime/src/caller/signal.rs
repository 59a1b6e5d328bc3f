//! Signals with which a caller gives calls up (C7).

use std::sync::Arc;

use tokio::sync::watch;

/// Aborts every call that was given one of its signals.
#[derive(Debug)]
pub struct AbortController(watch::Sender<Option<Arc<str>>>);

/// Aborts the calls that were given it, once its controller says so.
#[derive(Clone, Debug)]
pub struct AbortSignal(watch::Receiver<Option<Arc<str>>>);

impl AbortController {
    /// A controller that has not aborted anything.
    #[must_use]
    pub fn new() -> Self {
        Self(watch::Sender::new(None))
    }

    /// A signal of this controller.
    #[must_use]
    pub fn signal(&self) -> AbortSignal {
        AbortSignal(self.0.subscribe())
    }

    /// Aborts, with a reason that each of the calls fails with. The first reason stays.
    pub fn abort(&self, reason: impl Into<Arc<str>>) {
        let reason = reason.into();
        self.0.send_if_modified(|aborted| {
            let first = aborted.is_none();
            if first {
                *aborted = Some(reason);
            }
            first
        });
    }
}

impl Default for AbortController {
    fn default() -> Self {
        Self::new()
    }
}

impl AbortSignal {
    /// The reason, once there is one; never, if the controller is gone without having aborted.
    pub(crate) async fn aborted(&mut self) -> Arc<str> {
        let reason = self.0.wait_for(Option::is_some).await.ok().and_then(|reason| reason.clone());
        match reason {
            Some(reason) => reason,
            None => std::future::pending().await,
        }
    }
}
