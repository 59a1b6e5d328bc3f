//! Writes `docs/benchmarks.md` and its drawings from what the benchmarks have left in the target folders.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sections = oncemore_peers::report::write()?;
    println!("{sections} sections, in docs/benchmarks.md");
    Ok(())
}
