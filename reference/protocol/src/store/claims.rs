use core::time::Duration;

use super::expiry::Expiry;
use super::{Ask, Birth, Claim, ClaimStore, Doubt, Key, Recall, Slot, Value, Visitor, Window, Writes};
use crate::design::{Design, Plan, Retention};
use crate::few::{Few, Table};
use crate::identity::{CallerId, Identity, Incarnation, Number};
use crate::rule::{Branch, Fired};
use crate::rules::{AtBound, Rules};
use crate::time::{Time, WallTime};

/// The designs D0 to D5, with either retention.
#[derive(Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Claims {
    /// D3: this incarnation; what was born for another is doubted.
    here: Incarnation,
    /// D2: when this incarnation or claim epoch began, by the object's clock; what is older is doubted.
    began: WallTime,
    /// D4, D5: what was born before this incarnation is doubted, since claims were forgotten when it began (G6).
    epoch: Incarnation,
    claims: Table<Key, Claim, 2>,
    callers: Table<CallerId, Window, 1>,
    /// Retention `time`: which claims expire first.
    #[cfg_attr(feature = "serde", serde(skip))]
    expiry: Expiry,
}

impl Clone for Claims {
    fn clone(&self) -> Self {
        let Self { here, began, epoch, claims, callers, expiry } = self;
        let (claims, callers, expiry) = (claims.clone(), callers.clone(), expiry.clone());
        Self { here: *here, began: *began, epoch: *epoch, claims, callers, expiry }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { here, began, epoch, claims, callers, expiry } = self;
        (*here, *began, *epoch) = (source.here, source.began, source.epoch);
        claims.clone_from(&source.claims);
        callers.clone_from(&source.callers);
        expiry.clone_from(&source.expiry);
    }
}

impl ClaimStore for Claims {
    type Plan = Plan;

    /// What is damaged, or more than fits, is taken for claims that were forgotten: everything born before this incarnation
    /// is doubted. A store that is full from the start begins a claim epoch once it is to hold anything new (G6).
    fn open(plan: &Plan, birth: Birth, stored: impl Iterator<Item = (Slot, Value)>) -> Self {
        let mut store = Self {
            here: birth.incarnation,
            began: birth.wall,
            epoch: Incarnation::default(),
            claims: Table::default(),
            callers: Table::default(),
            expiry: Expiry::default(),
        };
        for (slot, value) in stored {
            let room = store.len() < Self::capacity(plan);
            match (slot, value) {
                (Slot::Epoch, Value::Epoch(epoch)) => store.epoch = store.epoch.max(epoch),
                (Slot::Caller(caller), Value::Caller(window)) if room => store.callers.insert(caller, window),
                (Slot::Claim(key), Value::Claim(claim)) if room => {
                    store.claims.insert(key, claim);
                    if plan.retention == Retention::Time {
                        store.expiry.recorded(&store.claims, key, None, claim.expires);
                    }
                }
                // A value in another's slot is damage, and doubting everything is the safe way to read it.
                (Slot::Epoch | Slot::Caller(_) | Slot::Claim(_), _) => store.epoch = birth.incarnation,
            }
        }
        store
    }

    fn recall<R: Rules>(&mut self, plan: &Plan, rules: R, ask: &Ask, now: Time) -> (Recall, Fired) {
        if plan.design == Design::None {
            return (Recall::Untracked, Fired::NONE);
        }
        let mut fired = match plan.retention {
            Retention::Time => self.expire(now),
            Retention::Watermark => Fired::NONE,
        };
        if plan.retention == Retention::Watermark {
            let (settled, forgot) = self.told(rules, ask);
            fired = fired.union(forgot);
            if settled {
                return (Recall::Settled, fired);
            }
        }
        (self.known(plan, rules, ask), fired)
    }

    fn bound<R: Rules>(&self, plan: &Plan, rules: R, ask: &Ask) -> Option<AtBound> {
        if plan.design == Design::None {
            return None;
        }
        let claim = usize::from(self.claims.get(&rules.key(ask.identity)).is_none());
        let caller =
            usize::from(plan.retention == Retention::Watermark && self.callers.get(&ask.identity.caller).is_none());
        rules.exceeds_bound(self.len() + claim + caller, Self::capacity(plan)).then(|| rules.at_bound(plan.design))
    }

    fn record<R: Rules>(&mut self, plan: &Plan, rules: R, ask: &Ask, now: Time) -> Writes {
        let mut writes = Writes::default();
        if plan.design == Design::None {
            return writes;
        }
        let key = rules.key(ask.identity);
        let before = self.claims.get(&key).copied();
        let claim = Claim {
            highest: before.map_or(ask.ordinal, |before| before.highest.max(ask.ordinal)),
            finished: false,
            digest: if plan.design == Design::DurableResults { ask.digest } else { super::Digest(0) },
            expires: match plan.retention {
                Retention::Time => now.after(rules.window(plan.window)),
                Retention::Watermark => Time::ORIGIN,
            },
        };
        self.claims.insert(key, claim);
        if plan.retention == Retention::Time {
            self.expiry.recorded(&self.claims, key, before.map(|before| before.expires), claim.expires);
        }
        if plan.retention == Retention::Watermark && self.callers.get(&key.caller).is_none() {
            let mut window = Window::default();
            window.told(ask.identity.number, rules.unsettled(ask.identity.number, ask.unsettled));
            self.callers.insert(key.caller, window);
        }
        if plan.design.durable() {
            writes.push((Slot::Claim(key), Some(Value::Claim(claim))));
            if let Some(window) = self.callers.get(&key.caller) {
                writes.push((Slot::Caller(key.caller), Some(Value::Caller(*window))));
            }
        }
        writes
    }

    fn finish<R: Rules>(&self, plan: &Plan, rules: R, identity: Identity) -> Writes {
        let mut writes = Writes::default();
        let key = rules.key(identity);
        if let (Design::DurableResults, Some(claim)) = (plan.design, self.claims.get(&key)) {
            writes.push((Slot::Claim(key), Some(Value::Claim(Claim { finished: true, ..*claim }))));
        }
        writes
    }

    fn on_record<R: Rules>(&mut self, plan: &Plan, rules: R, identity: Identity) {
        if let (Design::DurableResults, Some(claim)) = (plan.design, self.claims.get_mut(&rules.key(identity))) {
            claim.finished = true;
        }
    }

    fn begin_epoch(&mut self, plan: &Plan, birth: Birth) -> Writes {
        let mut writes = Writes::default();
        if plan.design.durable() {
            writes.push((Slot::Epoch, Some(Value::Epoch(birth.incarnation))));
        }
        self.forget();
        self.here = birth.incarnation;
        self.began = birth.wall;
        self.epoch = birth.incarnation;
        writes
    }

    fn forget(&mut self) {
        self.claims = Table::default();
        self.callers = Table::default();
        self.expiry = Expiry::default();
    }

    fn durable(plan: &Plan) -> bool {
        plan.design.durable()
    }

    fn fenced(plan: &Plan) -> bool {
        plan.fenced
    }

    fn checks_address(plan: &Plan) -> bool {
        plan.design.checks_address()
    }

    fn len(&self) -> usize {
        self.claims.len() + self.callers.len()
    }

    fn capacity(plan: &Plan) -> usize {
        usize::try_from(plan.capacity).unwrap_or(usize::MAX)
    }

    fn deadline(&self, plan: &Plan) -> Option<Time> {
        match plan.retention {
            Retention::Time => self.expiry.next(&self.claims),
            Retention::Watermark => None,
        }
    }

    fn claims(&self) -> impl Iterator<Item = Key> {
        self.claims.iter().map(|(key, _)| key)
    }

    fn retain(&mut self, claim: impl Fn(Key) -> bool, caller: impl Fn(CallerId) -> bool) {
        self.claims.retain(|key, _| claim(*key));
        self.callers.retain(|id, _| caller(*id));
    }

    fn rebase(&mut self, plan: &Plan, elapsed: Duration) {
        if plan.design == Design::VolatileClock {
            self.began = self.began.rebased(elapsed);
        }
        self.claims.for_each_mut(|_, claim| claim.expires = claim.expires.rebased(elapsed));
        self.expiry.rebuild(&self.claims);
    }

    fn visit(&mut self, visitor: &mut impl Visitor) {
        visitor.incarnation(&mut self.here);
        visitor.incarnation(&mut self.epoch);
        self.claims.for_each_mut(|key, _| visitor.number(key.caller, &mut key.number));
        self.expiry.rebuild(&self.claims);
        self.callers.for_each_mut(|caller, window| visitor.window(*caller, window));
    }
}

impl Claims {
    /// Retention `time`: forgets what has had its time.
    fn expire(&mut self, now: Time) -> Fired {
        let before = self.claims.len();
        self.expiry.expire(&mut self.claims, now);
        if self.claims.len() < before { Branch::ClaimExpires.into() } else { Fired::NONE }
    }

    /// Retention `watermark`: learns what the caller has settled, forgets those claims, and says whether the attempt's
    /// own number is among them. A caller that was never let in takes no room: there is nothing of it to forget.
    fn told<R: Rules>(&mut self, rules: R, ask: &Ask) -> (bool, Fired) {
        let Identity { caller, number, .. } = ask.identity;
        let Some(window) = self.callers.get_mut(&caller) else {
            return (false, Fired::NONE);
        };
        let settled = !window.open(number);
        window.told(number, rules.unsettled(number, ask.unsettled));
        let window = *window;
        let mut forgotten = Few::<Key, 8>::default();
        for (key, _) in self.claims.range(Key { caller, number: Number(0) }, Key { caller, number: Number(u64::MAX) }) {
            if !window.open(key.number) {
                forgotten.push(key);
            }
        }
        for key in forgotten.iter() {
            self.claims.remove(key);
        }
        (settled, if forgotten.is_empty() { Fired::NONE } else { Branch::WatermarkForgets.into() })
    }

    /// What the claims say of an identity that is not settled.
    fn known<R: Rules>(&self, plan: &Plan, rules: R, ask: &Ask) -> Recall {
        match self.claims.get(&rules.key(ask.identity)) {
            Some(claim) if plan.design != Design::DurableResults => Recall::Claimed { highest: claim.highest },
            Some(claim) if !rules.same_request(claim.digest, ask.digest) => Recall::OtherRequest,
            Some(claim) if claim.finished => Recall::Finished,
            Some(claim) => Recall::Claimed { highest: claim.highest },
            None => self.doubts(plan, rules, ask.identity).map_or(Recall::Never, Recall::MayHave),
        }
    }

    /// Whether an identity without a record may have been let in before (G4).
    fn doubts<R: Rules>(&self, plan: &Plan, rules: R, identity: Identity) -> Option<Doubt> {
        let doubtful = match plan.design {
            Design::None | Design::VolatileOpen => return None,
            Design::VolatileClock => identity.created <= self.began.after(rules.margin(plan.margin)),
            Design::VolatileIncarnation => identity.born != self.here,
            Design::Durable | Design::DurableResults => identity.born < self.epoch,
        };
        let doubt = match plan.design {
            Design::VolatileClock => Doubt::BornBefore,
            Design::VolatileIncarnation => Doubt::BornElsewhere,
            Design::None | Design::VolatileOpen | Design::Durable | Design::DurableResults => Doubt::BeforeEpoch,
        };
        doubtful.then_some(doubt)
    }
}
