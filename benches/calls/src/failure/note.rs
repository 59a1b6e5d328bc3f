//! The section in words. What it says of virtual time does not depend on the machine.

pub(crate) const NOTE: &str = "\
**A restart.** A host, a process of its own, is killed (SIGKILL) with so many calls in flight, and started again at once. Each run \
writes its call's token with its object's data, and afterwards what callers were told is held against what is there: the command \
fails if an unmarked call took effect twice, if one was answered and left no effect, or if one was said not to have been delivered \
and did. Times are from the kill on; *undisturbed* is how long as many calls take to which nothing happens. Without retries all \
calls in flight are lost. With them no marked call is. An unmarked one can only be answered by an object that remembers durably \
(D4, D5), and then those are lost that were running, which is at most one for each object, and with D4, which keeps no results, \
those that had run and whose answer had not yet arrived; by incarnation (D3, the default), the object's next life can't tell which \
of them ran, and refuses all.

**An outage.** The caller's machine alone, on virtual time. A call's first attempt is lost when the outage begins; until it is over, \
nothing can be connected to. The four delays of the default schedule are between 3 and 8.5 s together: it bridges every outage of up \
to 3 s, half of those of 5.75 s, and none of more than 8.5 s. *Predicted* is the distribution of that sum. A fixed interval that \
waits as long on average bridges 5.7 s always and then nothing; of outages of a second, 100 ms doubled before each retry, \
with full jitter, bridges one in five. Ten retries within 60 s bridge 15 s for sure.

**The load.** The same machines, a thousand. With the default's jitter the most that an object sees in 50 ms once it is back is a few \
times an even spread; without jitter, or at a fixed interval, all thousand reach for it in the same instant, and the whole of them \
again for each retry. What jitter costs: the last answer comes later.

**Retries around retries (M5).** The runtime over its in-process link, on virtual time: how many attempts reach for an object that is \
down. A loop by hand around a stub multiplies, as predicted. Objects that call objects do not: what an object's code throws is never \
retried, whatever it is dressed as (F3), so a failure that is passed on ends the outer call at once. An object that dies of the \
failure does multiply, since its callers see a connection drop, and then the outer call's timeout is what bounds it: the inner call \
takes 3 to 8.5 s to give up, and within ten seconds that happens once or twice.";
