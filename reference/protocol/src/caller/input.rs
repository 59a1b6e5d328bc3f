use crate::failure::{Failure, Refusal};

/// What can happen to a call. Each speaks of the attempt that began last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input<P> {
    /// The response head or the return value arrived; an HTTP error status is a response (F4, F5).
    Answered,
    /// The attempt failed: resolving, connecting, a dropped connection, or an error that the object's code threw.
    Failed(Failure<P>),
    /// The object's gate answered that it did not run the attempt.
    Refused(Refusal, P),
    /// The deadline that [`Call::deadline`](super::Call::deadline) named has come.
    Timer,
    /// The pending result was used for a further call (E4).
    PipelinedUse,
    /// The caller's abort signal fired, with its reason (C7).
    Abort(P),
    /// The caller dropped the call's future (C7).
    Drop,
}
