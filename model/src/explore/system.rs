//! What the engines need to know of a system in order to explore it.

use std::fmt::Debug;
use std::hash::Hash;

use super::Tags;

/// A finite transition system with safety properties and progress goals.
///
/// Every method must be a function of its arguments alone: an engine calls them from several
/// threads, in any order, and calls them again to rebuild a trace. A system that answers
/// differently the second time makes trace reconstruction fail with
/// [`ExploreError`](super::ExploreError), never with a wrong trace.
///
/// Safety properties and goals are numbered by bit, at most 64 of each; what they are called is
/// the caller's business.
pub trait System: Sync {
    /// One state. Two states that are equal must hash alike, and what is left out of the hash does
    /// not tell states apart: engines compare fingerprints, not states.
    type State: Clone + Eq + Hash + Debug + Send + Sync;

    /// One step that the system, its environment or a fault may take.
    type Action: Clone + Eq + Debug + Send + Sync;

    /// What one thread keeps at hand from step to step: memory to use again, say, or parts of states that it saw lately. It
    /// makes no difference to any answer; `()` if there is nothing to keep.
    type Desk: Default + Send;

    /// The states in which a run may begin, always in the same order.
    fn initial(&self) -> Vec<Self::State>;

    /// Appends every action enabled in `state`, always in the same order.
    fn actions(&self, state: &Self::State, actions: &mut Vec<Self::Action>);

    /// The state that `action` leads to, or `None` where it changes nothing that matters and so is
    /// no transition (nor does it count as enabled).
    ///
    /// Adds to `fired` the tags of the rule branches which this transition took. They are ignored
    /// when the answer is `None`. A state equal to `state` is a transition like any other: a cycle
    /// of length one.
    fn next(&self, state: &Self::State, action: &Self::Action, fired: &mut Tags) -> Option<Self::State>;

    /// The same as [`System::next`], for an engine that takes millions of steps: the state that `action` leads to is put
    /// into `next`, and the answer says whether there is one. Without one, `next` may hold anything or nothing.
    ///
    /// What `next` holds before makes no difference; a system whose states own memory can use that memory again.
    fn next_into(
        &self,
        _desk: &mut Self::Desk,
        state: &Self::State,
        action: &Self::Action,
        fired: &mut Tags,
        next: &mut Option<Self::State>,
    ) -> bool {
        *next = self.next(state, action, fired);
        next.is_some()
    }

    /// Appends to `bytes` what [`System::unpack`] makes the same state of, and says that it did; for all states or none.
    ///
    /// An engine keeps in this form the states that have to wait. Without it, it keeps them in full. States are packed one
    /// after the other, and unpacked in the same order, at another desk perhaps. Unless the state is the `first` of such a
    /// series, it may be told by what sets it apart from the state that was packed before it at this desk.
    fn pack(&self, _desk: &mut Self::Desk, _first: bool, _state: &Self::State, _bytes: &mut Vec<u8>) -> bool {
        false
    }

    /// Takes a state that [`System::pack`] has appended off the front of `bytes`, into `state`, which holds the state before
    /// it; anything or nothing if this is the first. False: `bytes` does not begin with a state.
    fn unpack(&self, _desk: &mut Self::Desk, _bytes: &mut &[u8], _state: &mut Option<Self::State>) -> bool {
        false
    }

    /// Bit i is set where safety property i is violated in this very state.
    fn violated(&self, state: &Self::State) -> u64;

    /// Bit i is set where progress goal i (say, "call i has settled") is not reached in this state.
    fn pending(&self, state: &Self::State) -> u64;

    /// The weak-fairness class of `action`, or `None` for one that need never happen: a fault.
    ///
    /// What a class promises is written down in [`liveness`](super::liveness).
    fn fairness(&self, action: &Self::Action) -> Option<FairClass>;
}

/// The actions that fairness treats as one: while some action of the class stays enabled, an
/// action of the class is taken sooner or later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FairClass(u8);

impl FairClass {
    /// How many classes there can be.
    pub const COUNT: u8 = 128;

    /// The class with this number.
    ///
    /// # Panics
    ///
    /// If `index` is not below [`FairClass::COUNT`].
    #[must_use]
    pub const fn new(index: u8) -> Self {
        assert!(index < Self::COUNT, "a fairness class is a number below 128");
        Self(index)
    }

    /// The number of this class, below [`FairClass::COUNT`].
    #[must_use]
    pub const fn index(self) -> u8 {
        self.0
    }
}
