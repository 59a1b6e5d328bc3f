use core::time::Duration;

/// How a call that retried at least once ended (C10). Metrics are named after these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Ending {
    /// A retry was answered.
    Recovered,
    /// Every attempt that the limits allow has failed (C4.5).
    AttemptsExhausted,
    /// The cutoff came, or the next delay would have reached it (C3, C4.6, C4.7).
    Deadline,
    /// The last failure may not be retried (C4.2, C4.3, E4).
    NotRetryable,
    /// The object's gate rejected a retry (C4.1).
    ClaimRejected,
    /// The caller dropped or aborted the call (C7).
    Cancelled,
}

/// What there is to observe of a call that retried at least once (C10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// Attempts begun, the first included.
    pub attempts: u8,
    /// How it ended.
    pub ending: Ending,
    /// The latency that the failures added: since the first one.
    pub since_disconnect: Duration,
}
