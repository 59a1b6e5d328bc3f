//! A class as a host serves it: its type is erased, its settings are kept.

use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use oncemore_protocol::design::{Design, Plan, Retention};
use oncemore_protocol::gate::GateTerms;
use oncemore_protocol::marks::MarkTable;
use oncemore_protocol::rules::Spec;

use crate::context::Context;
use crate::object::{ConstructError, DurableObject, Input, Output};

/// How the objects of a class remember which calls they have let in (section 8).
///
/// The designs D0 and D1, which forget on a restart and say nothing of it, are not offered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remember {
    /// D3: in memory; after a restart or a move, what was born before is refused. The default.
    #[default]
    ByIncarnation,
    /// D2: in memory; what was created before the object began is refused. Callers' wall clocks must not differ from the
    /// object's by more than `margin`.
    ByClock {
        /// What clocks may differ by.
        margin: Duration,
    },
    /// D4: with the object's data, before user code runs. A retry after a restart is refused only if the call was let in.
    Durably,
    /// D5: as D4, and the result too, which a retry is answered with.
    WithResults,
}

/// The settings of a class on a host.
#[derive(Clone, Copy, Debug)]
pub struct ClassOptions {
    plan: Plan,
    queue_max: usize,
}

impl ClassOptions {
    /// D3, fenced, a million claims, and a thousand calls that wait for one object.
    #[must_use]
    pub fn new() -> Self {
        Self { plan: Plan::default(), queue_max: 1000 }
    }

    /// How objects remember what they have let in.
    #[must_use]
    pub fn remember(mut self, how: Remember) -> Self {
        self.plan.retention = Retention::Watermark;
        self.plan.design = match how {
            Remember::ByIncarnation => Design::VolatileIncarnation,
            Remember::ByClock { margin } => {
                self.plan.margin = margin;
                Design::VolatileClock
            }
            Remember::Durably => Design::Durable,
            Remember::WithResults => Design::DurableResults,
        };
        self
    }

    /// Whether a duplicate of a marked call waits for the earlier run, and is refused behind a later one.
    #[must_use]
    pub const fn fenced(mut self, fenced: bool) -> Self {
        self.plan.fenced = fenced;
        self
    }

    /// How many claims and callers one object may remember before it begins a new claim epoch (G6).
    #[must_use]
    pub const fn claims_max(mut self, claims_max: u32) -> Self {
        self.plan.capacity = claims_max;
        self
    }

    /// How many calls may wait for one object; the next one is told that it is overloaded (G11). At least one may, since
    /// each waits until it has been looked at.
    #[must_use]
    pub const fn queue_max(mut self, queue_max: usize) -> Self {
        self.queue_max = if queue_max == 0 { 1 } else { queue_max };
        self
    }

    pub(crate) const fn gate(&self) -> GateTerms {
        GateTerms { store: self.plan, queue_max: self.queue_max, rules: Spec }
    }
}

impl Default for ClassOptions {
    fn default() -> Self {
        Self::new()
    }
}

/// A class, whichever it is.
pub(crate) trait AnyClass: Send + Sync {
    fn marks(&self) -> MarkTable<'static>;

    fn construct(&self, context: Context) -> LocalBoxFuture<'static, Result<Rc<dyn AnyObject>, ConstructError>>;
}

/// An object, of whichever class.
pub(crate) trait AnyObject {
    fn run(self: Rc<Self>, method: Arc<str>, input: Input) -> LocalBoxFuture<'static, Output>;
}

pub(crate) struct Class<C>(pub(crate) PhantomData<fn() -> C>);

impl<C: DurableObject> AnyClass for Class<C> {
    fn marks(&self) -> MarkTable<'static> {
        C::MARKS
    }

    fn construct(&self, context: Context) -> LocalBoxFuture<'static, Result<Rc<dyn AnyObject>, ConstructError>> {
        Box::pin(async { Ok(Rc::new(C::construct(context).await?) as Rc<dyn AnyObject>) })
    }
}

impl<C: DurableObject> AnyObject for C {
    fn run(self: Rc<Self>, method: Arc<str>, input: Input) -> LocalBoxFuture<'static, Output> {
        Box::pin(async move { self.dispatch(&method, input).await })
    }
}
