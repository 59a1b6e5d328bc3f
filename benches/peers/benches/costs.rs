//! What a call takes besides time: its size while it is under way, and allocations.

#![allow(clippy::unwrap_used, missing_docs, reason = "a benchmark that cannot go on has failed")]

use std::time::Instant;

use allocation_counter::measure;
use oncemore_peers::calling::{Broken, peers, stopped_clock};
use oncemore_peers::figures::{Aim, Figures, Table, write};
use oncemore_protocol::caller::Call;
use oncemore_protocol::lane::Lane;

const NOTE: &str = "Allocations are counted by an allocator that counts; a call's size is that of the future that makes it, the \
attempt's own included, which is ready at once. `tower`'s and `tokio-retry2`'s calls also hold what makes the next attempt. Aimed \
at: the engine allocates nothing on any path, which `reference/protocol/tests/no_allocation.rs` tests over all that can come back.";

fn main() {
    let runtime = stopped_clock();
    let _entered = runtime.enter();
    let (mut rows, mut engine) = (Vec::new(), 0);
    let all = peers(Instant::now());
    let by_hand = all.iter().find(|peer| peer.name == "by-hand-exact").unwrap().bytes as f64;
    for mut peer in all {
        // What is made once, such as a thread's generator, is not a call's.
        (peer.call)(10).unwrap();
        let mut allocations = |failures| {
            let counted = measure(|| (peer.call)(failures).map(drop).unwrap());
            (counted.count_total, counted.bytes_total)
        };
        let ((none, _), (ten, bytes)) = (allocations(0), allocations(10));
        if peer.name.starts_with("engine") {
            engine += none + ten;
        }
        let size = format!("{} ({:.2}×)", peer.bytes, peer.bytes as f64 / by_hand);
        let row = [peer.name.to_owned(), size, none.to_string(), ten.to_string(), bytes.to_string()];
        rows.push(row.to_vec());
    }
    let columns = [
        "",
        "bytes of a call under way",
        "allocations of a call that succeeds at once",
        "of one that fails ten times",
        "and their bytes",
    ];
    let caption = format!(
        "The engine's call alone takes {} bytes, and its caller's lane {} for all calls to one object. × is \
         beside the loop by hand.",
        size_of::<Call<Broken>>(),
        size_of::<Lane>()
    );
    let table = Table { caption, columns: columns.map(str::to_owned).to_vec(), rows };
    let aims = vec![Aim::at_most("allocations of the engine in a call", engine as f64, 0.0, |count| count.to_string())];
    let section =
        Figures { tables: vec![table], aims, ..Figures::here(14, "A call's size, and its allocations", NOTE) };
    write(&section, "caller-costs").unwrap();
}
