//! The server: addresses, and how it begins and ends.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware::from_fn;
use axum::routing::{get, post};
use tokio::net::TcpListener;

use super::error::ApiError;
use super::guard::guard;
use super::jobs::Jobs;
use super::views::Start;
use super::{api, assets};
use crate::interrupt;

/// What a server is made with.
#[derive(Debug)]
pub(crate) struct Settings {
    /// 0: any that is free.
    pub(crate) port: u16,
    /// How many threads check, beside those that answer.
    pub(crate) threads: NonZeroUsize,
    /// How far a check may go.
    pub(crate) limits: JobLimits,
    /// Where a page begins.
    pub(crate) start: Option<Start>,
}

/// How far jobs may go.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct JobLimits {
    pub(crate) states_max: Option<u64>,
    pub(crate) depth_max: Option<u32>,
    pub(crate) timeout: Option<Duration>,
    pub(crate) bytes_max: Option<u64>,
    pub(crate) cycle_states_max: u64,
}

/// What all requests share.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) jobs: Arc<Jobs>,
    pub(crate) start: Option<Start>,
}

/// Answers at every address that there is.
pub(crate) fn router(settings: Settings) -> Router {
    let Settings { threads, limits, start, port: _ } = settings;
    let shared = Arc::new(Shared { jobs: Jobs::new(threads, limits), start });
    Router::new()
        .route("/api/about", get(api::about))
        .route("/api/start", get(api::start))
        .route("/api/library", get(api::library))
        .route("/api/scenario", post(api::scenario))
        .route("/api/state", post(api::state))
        .route("/api/import", post(api::import))
        .route("/api/export", post(api::export))
        .route("/api/sample", post(api::sample))
        .route("/api/graph", post(api::graph))
        .route("/api/compare", post(api::compare))
        .route("/api/matrix", get(api::matrix))
        .route("/api/terms", post(api::terms))
        .route("/api/fields", get(api::fields))
        .route("/api/jobs", post(api::begin_job))
        .route("/api/jobs/{id}", get(api::job).delete(api::cancel_job))
        .fallback(assets::asset)
        .method_not_allowed_fallback(|| async { ApiError::Method { allowed: "another method" } })
        .layer(from_fn(guard))
        .with_state(shared)
}

/// Serves until it is interrupted. `ready` is told the address.
pub(crate) fn serve(settings: Settings, ready: impl FnOnce(SocketAddr)) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let served = runtime.block_on(async {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, settings.port)).await?;
        ready(listener.local_addr()?);
        let router = router(settings);
        tokio::select! {
            served = async { axum::serve(listener, router).await } => served,
            () = interrupted() => Ok(()),
        }
    });
    // A check that is under way sees the same interrupt, and nobody waits for it.
    runtime.shutdown_background();
    served
}

async fn interrupted() {
    while !interrupt::is_set() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}
