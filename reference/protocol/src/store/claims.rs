use core::time::Duration;

use super::doomed::Doomed;
use super::expiry::Expiry;
use super::heard::Heard;
use super::{Ask, Birth, Claim, ClaimStore, Digest, Doubt, Key, Recall, Slot, Value, Visitor, Window, Writes};
use crate::design::{Design, Plan, Retention};
use crate::few::{Few, Table};
use crate::identity::{CallerId, Identity, Incarnation, Number};
use crate::rule::{Branch, Fired};
use crate::rules::{AtBound, Rules};
use crate::time::{Time, WallTime};

/// The designs D0 to D5, with either retention.
///
/// The tables are B-trees: no admission pays for the growth of a table, callers who choose their ids cannot make it slow,
/// and what the store holds comes in one order, whatever happened before.
#[derive(Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Claims {
    /// D3: this incarnation; what was born for another is doubted.
    here: Incarnation,
    /// D2: when this incarnation or claim epoch began, by the object's clock; what is older is doubted.
    began: WallTime,
    /// D4, D5: what was born before this incarnation is doubted, since claims were forgotten when it began (G6).
    epoch: Incarnation,
    /// Retention `watermark`: what each caller told, and its [`Claim::FIRST`]s.
    callers: Table<CallerId, Heard, 1>,
    /// How many [`Claim::FIRST`]s there are.
    first: usize,
    /// All other claims.
    claims: Table<Key, Claim, 1>,
    /// Retention `time`: which claims expire first.
    #[cfg_attr(feature = "serde", serde(skip))]
    expiry: Expiry,
    #[cfg_attr(feature = "serde", serde(skip))]
    doomed: Doomed,
}

impl Clone for Claims {
    fn clone(&self) -> Self {
        let Self { here, began, epoch, callers, first, claims, expiry, doomed } = self;
        let (callers, claims, expiry, doomed) = (callers.clone(), claims.clone(), expiry.clone(), doomed.clone());
        Self { here: *here, began: *began, epoch: *epoch, callers, first: *first, claims, expiry, doomed }
    }

    fn clone_from(&mut self, source: &Self) {
        let Self { here, began, epoch, callers, first, claims, expiry, doomed } = self;
        (*here, *began, *epoch, *first) = (source.here, source.began, source.epoch, source.first);
        callers.clone_from(&source.callers);
        claims.clone_from(&source.claims);
        expiry.clone_from(&source.expiry);
        doomed.clone_from(&source.doomed);
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
            callers: Table::default(),
            first: 0,
            claims: Table::default(),
            expiry: Expiry::default(),
            doomed: Doomed::default(),
        };
        for (slot, value) in stored {
            let room = store.len() < Self::capacity(plan);
            match (slot, value) {
                (Slot::Epoch, Value::Epoch(epoch)) => store.epoch = store.epoch.max(epoch),
                (Slot::Caller(caller), Value::Caller(window)) if room => {
                    store.callers.insert(caller, Heard::new(window));
                }
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
        store.settle_in();
        store
    }

    fn recall<R: Rules>(&mut self, plan: &Plan, rules: R, ask: &Ask, now: Time) -> (Recall, Fired) {
        if plan.design == Design::None {
            return (Recall::Untracked, Fired::NONE);
        }
        match plan.retention {
            Retention::Time => {
                let fired = self.expire(now);
                let claim = self.claims.get(&rules.key(ask.identity)).filter(|claim| claim.expires > now).copied();
                (self.known(plan, rules, ask, claim), fired)
            }
            Retention::Watermark => self.told(plan, rules, ask),
        }
    }

    fn bound<R: Rules>(&self, plan: &Plan, rules: R, ask: &Ask) -> Option<AtBound> {
        if plan.design == Design::None {
            return None;
        }
        let exceeds = |entries| rules.exceeds_bound(entries, Self::capacity(plan));
        // What fits with a claim and a caller more fits in any case, and is not worth looking anything up.
        if !exceeds(self.len() + 2) {
            return None;
        }
        let claim = usize::from(self.get(&rules.key(ask.identity)).is_none());
        let caller =
            usize::from(plan.retention == Retention::Watermark && self.callers.get(&ask.identity.caller).is_none());
        exceeds(self.len() + claim + caller).then(|| rules.at_bound(plan.design))
    }

    fn record<R: Rules>(&mut self, plan: &Plan, rules: R, ask: &Ask, now: Time) -> Writes {
        if plan.design == Design::None {
            return Writes::default();
        }
        self.doomed.free_some();
        let key = rules.key(ask.identity);
        let digest = if plan.design == Design::DurableResults { ask.digest } else { Digest(0) };
        let claim = Claim { highest: ask.ordinal, finished: false, digest, expires: Time::ORIGIN };
        let (claim, window) = match plan.retention {
            Retention::Time => (self.record_for(rules.window(plan.window), key, claim, now), None),
            Retention::Watermark => {
                let told = rules.unsettled(ask.identity.number, ask.unsettled);
                let (claim, window) =
                    self.record_until_settled(key, claim, |window| window.told(ask.identity.number, told));
                (claim, Some(window))
            }
        };
        let mut writes = Writes::default();
        if plan.design.durable() {
            writes.push((Slot::Claim(key), Some(Value::Claim(claim))));
            if let Some(window) = window {
                writes.push((Slot::Caller(key.caller), Some(Value::Caller(window))));
            }
        }
        writes
    }

    fn finish<R: Rules>(&self, plan: &Plan, rules: R, identity: Identity) -> Writes {
        let mut writes = Writes::default();
        let key = rules.key(identity);
        if plan.design.records_results()
            && let Some(claim) = self.get(&key)
        {
            writes.push((Slot::Claim(key), Some(Value::Claim(Claim { finished: true, ..claim }))));
        }
        writes
    }

    fn on_record<R: Rules>(&mut self, plan: &Plan, rules: R, identity: Identity) {
        let key = rules.key(identity);
        if plan.design.records_results()
            && let Some(claim) = self.get(&key)
        {
            self.put(key, Claim { finished: true, ..claim });
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
        self.doomed.add(self.callers.take(), self.claims.take(), self.expiry.take());
        self.first = 0;
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
        self.first + self.claims.len() + self.callers.len()
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
        let firsts =
            self.callers.iter().flat_map(|(caller, heard)| heard.numbers().map(move |number| Key { caller, number }));
        firsts.chain(self.claims.iter().map(|(key, _)| key))
    }

    fn retain(&mut self, claim: impl Fn(Key) -> bool, caller: impl Fn(CallerId) -> bool) {
        self.claims.retain(|key, _| claim(*key));
        self.callers.for_each_mut(|id, heard| {
            for number in heard.numbers().filter(|number| !claim(Key { caller: *id, number: *number })) {
                heard.unclaim(number);
            }
        });
        self.callers.retain(|id, heard| caller(*id) || heard.claims() > 0);
        self.count_firsts();
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
        let mut outside = Few::<Key, 2>::default();
        self.callers.for_each_mut(|caller, heard| {
            let numbers = heard.numbers();
            let mut window = *heard.window();
            let mut shown = Few::<Number, 8>::default();
            for mut number in numbers {
                visitor.number(*caller, &mut number);
                shown.push(number);
            }
            visitor.window(*caller, &mut window);
            *heard = Heard::new(window);
            for number in shown.iter().filter(|number| !heard.claim(**number)) {
                outside.push(Key { caller: *caller, number: *number });
            }
        });
        outside.iter().for_each(|key| self.claims.insert(*key, Claim::FIRST));
        self.count_firsts();
    }
}

impl Claims {
    /// The claim under `key`, wherever it is kept.
    fn get(&self, key: &Key) -> Option<Claim> {
        let first = self.callers.get(&key.caller).is_some_and(|heard| heard.claimed(key.number));
        if first { Some(Claim::FIRST) } else { self.claims.get(key).copied() }
    }

    /// Keeps `claim` under `key`, instead of what was there.
    fn put(&mut self, key: Key, claim: Claim) {
        if let Some(heard) = self.callers.get_mut(&key.caller) {
            self.first -= heard.claims();
            heard.unclaim(key.number);
            let kept = claim == Claim::FIRST && heard.claim(key.number);
            self.first += heard.claims();
            if kept {
                self.claims.remove(&key);
                return;
            }
        }
        self.claims.insert(key, claim);
    }

    /// Every [`Claim::FIRST`] that has a place beside its caller's window goes there.
    fn settle_in(&mut self) {
        let firsts: alloc::vec::Vec<Key> =
            self.claims.iter().filter(|(_, claim)| *claim == Claim::FIRST).map(|(key, _)| key).collect();
        firsts.into_iter().for_each(|key| self.put(key, Claim::FIRST));
    }

    fn count_firsts(&mut self) {
        self.first = self.callers.iter().map(|(_, heard)| heard.claims()).sum();
    }

    /// Retention `time`: forgets what has had its time.
    fn expire(&mut self, now: Time) -> Fired {
        let before = self.claims.len();
        self.expiry.expire(&mut self.claims, now);
        if self.claims.len() < before { Branch::ClaimExpires.into() } else { Fired::NONE }
    }

    /// Retention `time`: the claim stands for so long from now.
    fn record_for(&mut self, window: Duration, key: Key, claim: Claim, now: Time) -> Claim {
        let before = self.claims.get(&key).copied();
        let known = before.filter(|before| before.expires > now);
        let highest = known.map_or(claim.highest, |known| known.highest.max(claim.highest));
        let claim = Claim { highest, expires: now.after(window), ..claim };
        self.claims.insert(key, claim);
        self.expiry.recorded(&self.claims, key, before.map(|before| before.expires), claim.expires);
        claim
    }

    /// Retention `watermark`: the claim stands until its caller settles it. A caller that is let in for the first time has
    /// its window from now on.
    fn record_until_settled(&mut self, key: Key, claim: Claim, tell: impl FnOnce(&mut Window)) -> (Claim, Window) {
        let heard = self.callers.get_or_insert_with(key.caller, || {
            let mut window = Window::default();
            tell(&mut window);
            Heard::new(window)
        });
        let window = *heard.window();
        let before = if heard.claimed(key.number) { Some(Claim::FIRST) } else { self.claims.get(&key).copied() };
        let claim =
            Claim { highest: before.map_or(claim.highest, |before| before.highest.max(claim.highest)), ..claim };
        if before.is_none() && claim == Claim::FIRST && heard.claim(key.number) {
            self.first += 1;
        } else if before != Some(claim) {
            self.put(key, claim);
        }
        (claim, window)
    }

    /// Retention `watermark`: learns what the caller has settled, forgets those claims, and says what is known of the
    /// attempt's own. A caller that was never let in takes no room: there is nothing of it to forget.
    fn told<R: Rules>(&mut self, plan: &Plan, rules: R, ask: &Ask) -> (Recall, Fired) {
        let Identity { caller, number, .. } = ask.identity;
        let Some(heard) = self.callers.get_mut(&caller) else {
            let claim = self.claims.get(&rules.key(ask.identity)).copied();
            return (self.known(plan, rules, ask, claim), Fired::NONE);
        };
        let settled = !heard.window().open(number);
        let before = heard.claims();
        heard.told(number, rules.unsettled(number, ask.unsettled));
        let (heard, gone) = (*heard, before - heard.claims());
        self.first -= gone;
        let gone = gone + self.forget_settled(caller, heard.window());
        let fired = if gone > 0 { Branch::WatermarkForgets.into() } else { Fired::NONE };
        if settled {
            return (Recall::Settled, fired);
        }
        let key = rules.key(ask.identity);
        let first = key.caller == caller && heard.claimed(key.number);
        let claim = if first { Some(Claim::FIRST) } else { self.claims.get(&key).copied() };
        (self.known(plan, rules, ask, claim), fired)
    }

    /// Forgets what the window has closed, but for [`Claim::FIRST`]s, and says how many those were.
    fn forget_settled(&mut self, caller: CallerId, window: &Window) -> usize {
        if self.claims.is_empty() {
            return 0;
        }
        let mut settled = Few::<Key, 8>::default();
        for (key, _) in self.claims.range(Key { caller, number: Number(0) }, Key { caller, number: Number(u64::MAX) }) {
            if !window.open(key.number) {
                settled.push(key);
            }
        }
        for key in &settled {
            self.claims.remove(key);
        }
        settled.len()
    }

    /// What the claims say of an identity that is not settled.
    fn known<R: Rules>(&self, plan: &Plan, rules: R, ask: &Ask, claim: Option<Claim>) -> Recall {
        match claim {
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
