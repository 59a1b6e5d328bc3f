//! A request's body: JSON, and not too much of it.

use axum::body::{Body, to_bytes};
use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_TYPE;
use serde::de::DeserializeOwned;

use super::error::ApiError;

/// The most that is read of a body, in bytes.
pub(crate) const BYTES_MAX: usize = 4 << 20;

/// What a request says.
pub(crate) struct Said<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Said<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request<Body>, _: &S) -> Result<Self, ApiError> {
        let kind = request.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
        if kind.split(';').next().is_none_or(|kind| !kind.trim().eq_ignore_ascii_case("application/json")) {
            return Err(ApiError::NotJson);
        }
        let bytes = to_bytes(request.into_body(), BYTES_MAX).await;
        let bytes = bytes.map_err(|_| ApiError::TooLarge { most: BYTES_MAX })?;
        let said = serde_json::from_slice(&bytes).map_err(|error| ApiError::Malformed {
            line: error.line(),
            column: error.column(),
            message: error.to_string(),
        })?;
        Ok(Self(said))
    }
}
