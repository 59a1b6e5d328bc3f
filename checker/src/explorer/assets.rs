//! The page: plain modules, a style and a picture, part of the program.

use axum::http::{Method, Uri, header::CONTENT_TYPE};
use axum::response::{IntoResponse, Response};

use super::error::ApiError;

macro_rules! assets {
    ($($path:literal $kind:ident $file:literal,)*) => {
        /// Every address with what is there.
        pub(crate) const ASSETS: &[(&str, &str, &str)] =
            &[$(($path, $kind, include_str!(concat!("assets/", $file))),)*];
    };
}

const HTML: &str = "text/html; charset=utf-8";
const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";
const SVG: &str = "image/svg+xml";

assets! {
    "/" HTML "index.html",
    "/style.css" CSS "style.css",
    "/icon.svg" SVG "icon.svg",
    "/main.js" JS "main.js",
    "/net.js" JS "net.js",
    "/dom.js" JS "dom.js",
    "/address.js" JS "address.js",
    "/library.js" JS "library.js",
    "/explore.js" JS "explore.js",
    "/diagram.js" JS "diagram.js",
    "/layout.js" JS "layout.js",
    "/next.js" JS "next.js",
    "/understand.js" JS "understand.js",
    "/tree.js" JS "tree.js",
    "/find.js" JS "find.js",
    "/check.js" JS "check.js",
    "/share.js" JS "share.js",
    "/keys.js" JS "keys.js",
    "/matrix.js" JS "matrix.js",
    "/compare.js" JS "compare.js",
    "/form.js" JS "form.js",
    "/around.js" JS "around.js",
    "/player.js" JS "player.js",
}

/// A part of the page.
pub(crate) async fn asset(method: Method, uri: Uri) -> Response {
    if uri.path().starts_with("/api/") {
        return ApiError::NotFound.into_response();
    }
    let Some((_, kind, text)) = ASSETS.iter().find(|(path, ..)| *path == uri.path()) else {
        return ApiError::NotFound.into_response();
    };
    if method != Method::GET && method != Method::HEAD {
        return ApiError::Method { allowed: "GET" }.into_response();
    }
    ([(CONTENT_TYPE, *kind)], *text).into_response()
}
