use oncemore_protocol::design::{Design, Retention};
use oncemore_protocol::rules::FirstRejection;
use serde::Serialize;

use crate::property::Property;
use crate::scenario::{
    CallKind, CallScript, CallerScript, Expect, Faults, Field, LimitSettings, Scenario, StoreSettings, WorldSettings,
};

/// What each cell is asked.
pub const PROPERTIES: [Property; 5] = [Property::P1, Property::P2, Property::P11, Property::P13, Property::P14];

/// What may go wrong in the world of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Trouble {
    /// A request is lost, and a reply.
    #[serde(rename = "loss")]
    Loss,
    /// A connection drops under a request that arrives all the same, however late.
    #[serde(rename = "late")]
    Late,
    /// The network delivers a request twice.
    #[serde(rename = "duplication")]
    Duplication,
    /// The object is restarted where it is.
    #[serde(rename = "restart")]
    Restart,
    /// The object moves, and its predecessor drains.
    #[serde(rename = "drain")]
    Drain,
    /// The object moves, its predecessor does not know, and a resolve may still name it.
    #[serde(rename = "seize")]
    Seize,
    /// The object is restarted, and wall clocks differ by more than D2 allows for.
    #[serde(rename = "skew+restart")]
    SkewRestart,
    /// The store has room for one claim and its caller, or for two claims.
    #[serde(rename = "eviction")]
    Eviction,
    /// The first caller dies, and goes on under a new id.
    #[serde(rename = "crash")]
    Crash,
    /// Both.
    #[serde(rename = "restart+late")]
    RestartLate,
    /// Both.
    #[serde(rename = "drain+late")]
    DrainLate,
    /// Both.
    #[serde(rename = "seize+late")]
    SeizeLate,
    /// Both.
    #[serde(rename = "eviction+late")]
    EvictionLate,
    /// Both.
    #[serde(rename = "duplication+restart")]
    DuplicationRestart,
    /// Both.
    #[serde(rename = "duplication+drain")]
    DuplicationDrain,
    /// Both.
    #[serde(rename = "duplication+seize")]
    DuplicationSeize,
    /// Any two of them with one caller, any one with two, and a duplicate.
    #[serde(rename = "all")]
    All,
}

impl Trouble {
    /// All worlds: one kind of trouble each, then the pairs that break things, then everything.
    pub const ALL: [Self; 17] = [
        Self::Loss,
        Self::Late,
        Self::Duplication,
        Self::Restart,
        Self::Drain,
        Self::Seize,
        Self::SkewRestart,
        Self::Eviction,
        Self::Crash,
        Self::RestartLate,
        Self::DrainLate,
        Self::SeizeLate,
        Self::EvictionLate,
        Self::DuplicationRestart,
        Self::DuplicationDrain,
        Self::DuplicationSeize,
        Self::All,
    ];

    /// The faults that there are, joined by `+`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Loss => "loss",
            Self::Late => "late",
            Self::Duplication => "duplication",
            Self::Restart => "restart",
            Self::Drain => "drain",
            Self::Seize => "seize",
            Self::SkewRestart => "skew+restart",
            Self::Eviction => "eviction",
            Self::Crash => "crash",
            Self::RestartLate => "restart+late",
            Self::DrainLate => "drain+late",
            Self::SeizeLate => "seize+late",
            Self::EvictionLate => "eviction+late",
            Self::DuplicationRestart => "duplication+restart",
            Self::DuplicationDrain => "duplication+drain",
            Self::DuplicationSeize => "duplication+seize",
            Self::All => "all",
        }
    }

    fn faults(self, callers: u8) -> Faults {
        let none = Faults::default();
        let late = Faults { cut: 1, ..none };
        // An attempt that cannot connect leaves the duplicated one to be the last (C5, P11). One caller is enough for that.
        let duplication = Faults { duplicate: 1, unreachable: u8::from(callers == 1), ..none };
        match self {
            Self::Loss => Faults { lose_request: 1, lose_reply: 1, ..none },
            Self::Late | Self::EvictionLate => late,
            Self::Duplication => duplication,
            Self::Restart | Self::SkewRestart => Faults { restart: 1, ..none },
            Self::Drain => Faults { drain: 1, ..none },
            Self::Seize => Faults { seize: 1, stale: 1, ..none },
            Self::Eviction => none,
            Self::Crash => Faults { crash: 1, ..none },
            Self::RestartLate => Faults { restart: 1, ..late },
            Self::DrainLate => Faults { drain: 1, ..late },
            Self::SeizeLate => Faults { seize: 1, stale: 1, ..late },
            Self::DuplicationRestart => Faults { restart: 1, ..duplication },
            Self::DuplicationDrain => Faults { drain: 1, ..duplication },
            Self::DuplicationSeize => Faults { seize: 1, stale: 1, ..duplication },
            Self::All => Faults {
                max: Some(if callers == 1 { 2 } else { 1 }),
                lose_request: 1,
                lose_reply: 1,
                cut: 1,
                restart: 1,
                drain: 1,
                seize: 1,
                stale: 1,
                crash: 1,
                duplicate: 1,
                ..none
            },
        }
    }

    const fn evicts(self) -> bool {
        matches!(self, Self::Eviction | Self::EvictionLate)
    }
}

/// One cell: a claim store, what callers make of a rejected first attempt, and the world that they live in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    /// How the object remembers.
    pub design: Design,
    /// Whether duplicates of marked methods are fenced.
    pub fenced: bool,
    /// How long it remembers.
    pub retention: Retention,
    /// Whether a rejected first attempt is followed by one with a fresh identity (C5); otherwise the call ends.
    pub fresh: bool,
    /// One caller or two.
    pub callers: u8,
    /// What may go wrong.
    pub trouble: Trouble,
}

impl Cell {
    /// Every cell, row by row: those of a design lie together, and those of one setting of it.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut cells = Vec::new();
        for design in Design::ALL {
            for fenced in [true, false] {
                for retention in [Retention::Watermark, Retention::Time] {
                    for fresh in [false, true] {
                        for callers in [1, 2] {
                            let cell = |trouble| Self { design, fenced, retention, fresh, callers, trouble };
                            cells.extend(Trouble::ALL.map(cell));
                        }
                    }
                }
            }
        }
        cells
    }

    /// C5, as it is written in a scenario.
    #[must_use]
    pub const fn first_rejection(&self) -> FirstRejection {
        if self.fresh { FirstRejection::Fresh } else { FirstRejection::Fail }
    }

    /// Why the cell asks nothing, in one sentence; none if it does ask something.
    #[must_use]
    pub fn does_not_apply(&self) -> Option<&'static str> {
        if self.design == Design::None {
            if self.fenced {
                return Some("D0 keeps no claims, so it has nothing to fence by.");
            }
            if self.retention == Retention::Time {
                return Some("D0 keeps no claims, for however long.");
            }
            if self.fresh {
                return Some("D0 rejects nothing, so nobody has to make anything of it.");
            }
            if self.trouble.evicts() {
                return Some("D0 keeps no claims, so none is evicted.");
            }
        }
        if self.trouble == Trouble::SkewRestart && self.design != Design::VolatileClock {
            return Some("Only D2 looks at wall clocks.");
        }
        if self.trouble.evicts() && self.callers == 1 {
            return Some("One caller's calls, one after the other, never fill the smallest store.");
        }
        None
    }

    /// The cell as a scenario: a marked call that overwrites `y`, and an unmarked one that overwrites `x` and `y`, so that
    /// P13 is asked of `x` and P14 of `y`. One caller makes the second when the first has settled, which is what the
    /// object then learns; or another caller makes it, at any time, and the object learns nothing.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        let timed = self.retention == Retention::Time && self.design != Design::None;
        let clock = timed || self.design == Design::VolatileClock;
        Scenario {
            name: self.name(),
            about: format!("A cell of the matrix: {self}."),
            suite: false,
            store: self.store(),
            limits: LimitSettings { retries_max: 1, ..LimitSettings::default() },
            world: WorldSettings { clock, history: true, ..WorldSettings::default() },
            faults: self.trouble.faults(self.callers),
            callers: self.callers(),
            expect: Expect::default(),
        }
    }

    fn store(&self) -> StoreSettings {
        StoreSettings {
            design: self.design,
            fenced: self.fenced,
            retention: self.retention,
            capacity: self.trouble.evicts().then_some(2),
            first_rejection: self.first_rejection(),
            ..StoreSettings::default()
        }
    }

    fn callers(&self) -> Vec<CallerScript> {
        let skew_ms = if self.trouble == Trouble::SkewRestart { SKEW_MS } else { 0 };
        let call = |name: &str, marked, writes: &[Field]| CallScript {
            name: name.to_owned(),
            object: 0,
            marked,
            believed_marked: None,
            writes: writes.to_vec(),
            awaits: true,
            getter: false,
            unknown: false,
            kind: CallKind::Method,
            session_of: None,
            pipelined_on: None,
            inner: Vec::new(),
        };
        let marked = call("k1", true, &[Field::Y]);
        let unmarked = call("k2", false, &[Field::X, Field::Y]);
        let mut calls = vec![vec![marked], vec![unmarked]];
        if self.callers == 1 {
            calls = vec![calls.concat()];
        } else if self.trouble.evicts() {
            // Two claims fit where callers have no entries of their own, and whoever finds the store full may be turned away.
            calls[1].push(call("k3", false, &[Field::X, Field::Y]));
        }
        calls.into_iter().map(|calls| CallerScript { skew_ms, concurrent: false, calls }).collect()
    }

    /// A name as short as the names of scenarios have to be.
    fn name(&self) -> String {
        format!(
            "{}-{}-{}-{}-{}-{}",
            self.design.name().to_lowercase(),
            if self.fenced { 'f' } else { 'u' },
            if self.retention == Retention::Time { 't' } else { 'w' },
            if self.fresh { "fresh" } else { "fail" },
            self.callers,
            self.trouble.name().replace('+', "-"),
        )
    }
}

/// By how much callers' clocks are ahead; D2 allows for nothing here.
const SKEW_MS: i32 = 100;

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let callers = if self.callers == 1 { "one caller" } else { "two callers" };
        write!(f, "{}, {callers}, {}", self.setting(), self.trouble.name())
    }
}

/// What may be chosen of a claim store and its callers; a row of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Setting {
    /// How the object remembers.
    pub design: Design,
    /// Whether duplicates of marked methods are fenced.
    pub fenced: bool,
    /// How long it remembers.
    pub retention: Retention,
    /// Whether a rejected first attempt is followed by one with a fresh identity (C5).
    pub fresh: bool,
}

impl Setting {
    /// What the runtime chooses: D3, fenced, watermark, and `fail`, which is safe on any transport.
    pub const DEFAULT: Self =
        Self { design: Design::VolatileIncarnation, fenced: true, retention: Retention::Watermark, fresh: false };
}

impl Cell {
    /// The row that the cell lies in.
    #[must_use]
    pub const fn setting(&self) -> Setting {
        Setting { design: self.design, fenced: self.fenced, retention: self.retention, fresh: self.fresh }
    }
}

impl std::fmt::Display for Setting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.design == Design::None {
            return f.write_str("D0");
        }
        let fenced = if self.fenced { "fenced" } else { "unfenced" };
        let retention = match self.retention {
            Retention::Time => "time",
            Retention::Watermark => "watermark",
        };
        let rejection = if self.fresh { "fresh" } else { "fail" };
        write!(f, "{} {fenced} {retention} {rejection}", self.design.name())
    }
}
