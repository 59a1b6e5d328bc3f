//! What thinking alone says of each cell, and why.
//!
//! Most of it was written down before the cells were explored, and it knows nothing of the model: where the two part, one of
//! them is wrong. What it says of the worlds `all`, duplication and eviction was revised after their results were seen.

use oncemore_protocol::design::{Design, Retention};

use super::{Cell, Trouble};
use crate::property::Property;

impl Cell {
    /// Why the promise is broken in this cell, in one sentence, as far as thinking alone tells; none: it is kept.
    #[must_use]
    pub fn why_violated(&self, property: Property) -> Option<&'static str> {
        if self.does_not_apply().is_some() {
            return None;
        }
        self.why_runs_twice(property)
            .or_else(|| self.why_starts_twice(property))
            .or_else(|| self.why_result_is_lost(property))
            .or_else(|| self.why_undone(property))
    }

    /// An unmarked call takes effect twice. Then its history is no history of single operations, on either field.
    fn why_runs_twice(&self, property: Property) -> Option<&'static str> {
        let trouble = Troubles::of(self.trouble);
        if property == Property::P11 && !self.ends_undelivered(trouble) {
            return None;
        }
        if self.fresh && trouble.duplication {
            return Some("The copy that was rejected is taken for one that never ran, and is sent anew.");
        }
        match self.design {
            Design::None => (trouble.loss || trouble.late || trouble.duplication || trouble.restart)
                .then_some("Nothing is remembered, so a retry runs again, and so does a second copy."),
            Design::VolatileOpen if trouble.restart => {
                Some("The claims are lost with the object's memory, and a retry is let in like a new call.")
            }
            Design::VolatileOpen => (trouble.moves_with(trouble.late) || (trouble.drain && trouble.duplication))
                .then_some("The successor knows nothing of what its predecessor let in."),
            Design::VolatileClock => trouble
                .skew
                .then_some("The caller's clock is ahead, so what it made before the restart looks younger than that."),
            Design::VolatileIncarnation | Design::Durable | Design::DurableResults => None,
        }
    }

    /// Whether a call can end with such a rejection: there must be another failure, and it must be "not delivered" too.
    fn ends_undelivered(&self, trouble: Troubles) -> bool {
        let cannot_connect = self.callers == 1 && self.trouble != Trouble::All;
        // After a restart or a move D2 rejects what was made at that very instant, once more.
        let rejected_again =
            self.design == Design::VolatileClock && (trouble.restart || trouble.drain || trouble.seize);
        self.fresh && trouble.duplication && (cannot_connect || rejected_again)
    }

    /// An unmarked call starts twice, and storage refuses what the first run wrote.
    fn why_starts_twice(&self, property: Property) -> Option<&'static str> {
        let trouble = Troubles::of(self.trouble);
        let both = self.trouble != Trouble::All || self.callers == 1;
        let zombie = self.design == Design::VolatileClock && trouble.seize && trouble.late && both;
        (zombie && property == Property::P1).then_some(
            "A predecessor lets in what was made after its successor began, and then the successor lets in the retry.",
        )
    }

    /// D5, fenced, promises P2 of marked calls too; but not for longer than it keeps their results.
    fn why_result_is_lost(&self, property: Property) -> Option<&'static str> {
        let trouble = Troubles::of(self.trouble);
        let once = self.design == Design::DurableResults && self.fenced;
        (once && trouble.eviction && trouble.late && property == Property::P2)
            .then_some("With its claim the result is forgotten, and the mark lets the call run again.")
    }

    /// A marked call undoes what came after it.
    fn why_undone(&self, property: Property) -> Option<&'static str> {
        if property != Property::P14 || self.design == Design::None {
            return None;
        }
        let trouble = Troubles::of(self.trouble);
        // D1 turns away whoever finds the store full, so there nothing comes later that could be undone.
        let turned_away = self.design == Design::VolatileOpen && self.retention == Retention::Watermark;
        if trouble.eviction && (turned_away || !trouble.late) {
            return None;
        }
        if !self.fenced && (trouble.late || trouble.duplication) {
            return Some("A duplicate runs beside an earlier run, or after a later one, and undoes what came between.");
        }
        let doubts_alone = match self.design {
            Design::VolatileClock => {
                let again = trouble.late || trouble.duplication;
                again && (trouble.restart || trouble.drain || trouble.eviction)
            }
            Design::Durable | Design::DurableResults => trouble.eviction,
            Design::None | Design::VolatileOpen | Design::VolatileIncarnation => false,
        };
        doubts_alone
            .then_some("Only doubt is left of the call, and the mark waives doubt, however late the attempt arrives.")
    }
}

/// The troubles of a world, one by one.
#[derive(Clone, Copy, Default)]
struct Troubles {
    loss: bool,
    late: bool,
    duplication: bool,
    restart: bool,
    drain: bool,
    seize: bool,
    skew: bool,
    eviction: bool,
}

impl Troubles {
    fn of(trouble: Trouble) -> Self {
        let none = Self::default();
        let late = Self { late: true, ..none };
        let duplication = Self { duplication: true, ..none };
        match trouble {
            Trouble::Loss => Self { loss: true, ..none },
            Trouble::Late => late,
            Trouble::Duplication => duplication,
            Trouble::Restart => Self { restart: true, ..none },
            Trouble::Drain => Self { drain: true, ..none },
            Trouble::Seize => Self { seize: true, ..none },
            Trouble::SkewRestart => Self { skew: true, restart: true, ..none },
            Trouble::Eviction => Self { eviction: true, ..none },
            Trouble::Crash => none,
            Trouble::RestartLate => Self { restart: true, ..late },
            Trouble::DrainLate => Self { drain: true, ..late },
            Trouble::SeizeLate => Self { seize: true, ..late },
            Trouble::EvictionLate => Self { eviction: true, ..late },
            Trouble::DuplicationRestart => Self { restart: true, ..duplication },
            Trouble::DuplicationDrain => Self { drain: true, ..duplication },
            Trouble::DuplicationSeize => Self { seize: true, ..duplication },
            // With two callers one at a time, and a duplicate.
            Trouble::All => Self { loss: true, late: true, restart: true, drain: true, seize: true, ..duplication },
        }
    }

    const fn moves_with(self, other: bool) -> bool {
        (self.drain || self.seize) && other
    }
}
