//! Writes `src/oncemore_capnp.rs` from `schema/oncemore.capnp`; with `--check`, only says whether it is current.
//!
//! Needs the `capnp` compiler, which is why what it writes is committed.

use std::error::Error;
use std::path::Path;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    let committed = package.join("src/oncemore_capnp.rs");
    let fresh = generated(package)?;
    if env::args().any(|argument| argument == "--check") {
        if without_comments(&fs::read_to_string(&committed)?) != without_comments(&fresh) {
            return Err("src/oncemore_capnp.rs is not what schema/oncemore.capnp says: run this without --check".into());
        }
        println!("src/oncemore_capnp.rs is current");
    } else {
        fs::write(&committed, fresh)?;
    }
    Ok(())
}

fn generated(package: &Path) -> Result<String, Box<dyn Error>> {
    let out = tempfile::tempdir()?;
    let schema = package.join("schema");
    capnpc::CompilerCommand::new()
        .src_prefix(&schema)
        .file(schema.join("oncemore.capnp"))
        .output_path(out.path())
        .run()?;
    Ok(fs::read_to_string(out.path().join("oncemore_capnp.rs"))?)
}

/// The tools write their names and versions into comments, and those may differ.
fn without_comments(source: &str) -> String {
    source.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}
