use crate::scenario::Faults;

/// The faults that have a budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    LoseRequest,
    LoseReply,
    Cut,
    Restart,
    Drain,
    Seize,
    Stale,
    Overload,
    Throw,
    Crash,
    GiveUp,
    Abort,
    Reuse,
    Forget,
    /// Outside the common budget: it only uses up an attempt.
    Unreachable,
    /// Outside the common budget.
    Duplicate,
}

const KINDS: usize = 16;
const COMMON: usize = Fault::Unreachable as usize;

/// How many faults may still strike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Budget {
    left: [u8; KINDS],
    common: u8,
}

impl Budget {
    pub(crate) fn new(faults: &Faults) -> Self {
        let left = [
            faults.lose_request,
            faults.lose_reply,
            faults.cut,
            faults.restart,
            faults.drain,
            faults.seize,
            faults.stale,
            faults.overload,
            faults.throw,
            faults.crash,
            faults.give_up,
            faults.abort,
            faults.reuse,
            faults.forget,
            faults.unreachable,
            faults.duplicate,
        ];
        let mut budget = Self { left, common: faults.max.unwrap_or(u8::MAX) };
        budget.level();
        budget
    }

    pub(crate) const fn none() -> Self {
        Self { left: [0; KINDS], common: 0 }
    }

    pub(crate) fn to_bytes(self) -> [u8; KINDS + 1] {
        let mut bytes = [self.common; KINDS + 1];
        bytes[..KINDS].copy_from_slice(&self.left);
        bytes
    }

    pub(crate) fn from_bytes(bytes: [u8; KINDS + 1]) -> Self {
        Self { left: std::array::from_fn(|kind| bytes[kind]), common: bytes[KINDS] }
    }

    /// No kind has more left than all of them together: states that differ in that alone are the same.
    fn level(&mut self) {
        let sum = self.left[..COMMON].iter().fold(0, |sum: u8, &left| sum.saturating_add(left));
        self.common = self.common.min(sum);
        for left in &mut self.left[..COMMON] {
            *left = (*left).min(self.common);
        }
    }

    pub(crate) const fn allows(&self, fault: Fault) -> bool {
        self.left[fault as usize] > 0
    }

    /// Uses one up; the caller has asked [`Budget::allows`].
    pub(crate) fn spend(&mut self, fault: Fault) {
        self.left[fault as usize] -= 1;
        if (fault as usize) < COMMON {
            self.common -= 1;
            self.level();
        }
    }

    /// These faults can never strike again.
    pub(crate) fn close(&mut self, faults: &[Fault]) {
        for fault in faults {
            self.left[*fault as usize] = 0;
        }
        self.level();
    }

    /// No fault can ever strike again.
    pub(crate) const fn close_all(&mut self) {
        *self = Self::none();
    }

    pub(crate) const fn left(&self, fault: Fault) -> u8 {
        self.left[fault as usize]
    }
}
