//! Who may ask: pages of this very server, and programs on this machine.
//!
//! A page from elsewhere can make a browser send requests here. It cannot forge `Host` and `Origin`: a name that was pointed
//! at this machine shows in the first, a foreign page in the second.

use axum::extract::Request;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, HOST, HeaderName, HeaderValue, ORIGIN, REFERRER_POLICY,
    X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, uri::Authority};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

/// Only what comes with the page, and no code or style in its text. Pictures are made in the page itself (`blob:`, `data:`).
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Lets a request through if its names are ours, and adds what browsers are to heed.
pub(crate) async fn guard(request: Request, next: Next) -> Response {
    let mut response = match check(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(error) => error.into_response(),
    };
    let headers = response.headers_mut();
    let mut set = |name: HeaderName, value: &'static str| headers.insert(name, HeaderValue::from_static(value));
    set(CONTENT_SECURITY_POLICY, POLICY);
    set(X_CONTENT_TYPE_OPTIONS, "nosniff");
    set(X_FRAME_OPTIONS, "DENY");
    set(REFERRER_POLICY, "no-referrer");
    set(CACHE_CONTROL, "no-store");
    set(HeaderName::from_static("cross-origin-opener-policy"), "same-origin");
    set(HeaderName::from_static("cross-origin-resource-policy"), "same-origin");
    response
}

fn check(headers: &HeaderMap) -> Result<(), ApiError> {
    let host = headers.get(HOST).and_then(|host| host.to_str().ok());
    if !host.is_some_and(is_ours) {
        return Err(ApiError::Forbidden("the Host header must name this machine: 127.0.0.1, localhost or [::1]"));
    }
    match headers.get(ORIGIN).map(|origin| origin.to_str().ok()) {
        None => {}
        Some(Some(origin)) if origin.strip_prefix("http://") == host => {}
        Some(_) => return Err(ApiError::Forbidden("the Origin header must be that of the explorer's own page")),
    }
    let site = headers.get("sec-fetch-site").and_then(|site| site.to_str().ok());
    if site.is_some_and(|site| site != "same-origin" && site != "none") {
        return Err(ApiError::Forbidden("requests of other pages are not answered"));
    }
    Ok(())
}

fn is_ours(host: &str) -> bool {
    let Ok(authority) = host.parse::<Authority>() else { return false };
    !host.contains('@') && matches!(authority.host(), "127.0.0.1" | "localhost" | "[::1]")
}
