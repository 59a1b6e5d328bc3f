//! Two hosts, each a process of its own, and a shop that goes on buying while one of them is killed.
//!
//! `cargo run -p oncemore --example cart` starts all three and shows what becomes of every call. `cart host NAME FOLDER`
//! is what it runs for a host.

mod cart;

use std::error::Error;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use cart::{Cart, CartError};
use futures_util::future::join_all;
use oncemore::{CallError, Delivery, Directory, Host, Namespace};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

type Outcome<T> = Result<T, Box<dyn Error>>;

#[tokio::main]
async fn main() -> Outcome<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["host", name, folder] => host(name, Path::new(folder)).await,
        [] => shop().await,
        _ => Err("usage: cart, or cart host NAME FOLDER".into()),
    }
}

/// Serves carts until somebody kills it.
async fn host(name: &str, folder: &Path) -> Outcome<()> {
    let directory = Directory::open(folder.join("directory.db"))?;
    let data = folder.join("data");
    let host = Host::builder(&directory).name(name).class::<Cart>().storage(data).listen("127.0.0.1:0").start().await?;
    println!("{}", host.address());
    host.stopped().await;
    Ok(())
}

/// Buys, and kills a host in the middle of it.
async fn shop() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let directory = Directory::open(folder.path().join("directory.db"))?;
    let mut hosts = [start("a", folder.path()).await?, start("b", folder.path()).await?];
    let carts: Namespace<Cart> = Namespace::new(&directory);
    let names: Vec<_> = (0..4).map(|user| format!("user-{user}")).collect();

    println!("\nfour users put apples into their carts, and set how many pears they want:");
    for name in &names {
        buy(&carts, name).await;
    }
    println!("\neach has the apples wrapped and weighed, and in the middle of it host a is killed:");
    let orders = join_all(names.iter().map(|name| wrap_and_weigh(&carts, name)));
    let kill = async {
        tokio::time::sleep(Duration::from_millis(500)).await;
        hosts[0].kill().await
    };
    let (_, killed) = tokio::join!(orders, kill);
    killed?;
    println!("\nall go on buying at the host that is left:");
    for name in &names {
        buy(&carts, name).await;
    }
    println!("\nno cart has more apples than were bought:");
    for name in &names {
        let apples = carts.get_by_name(name).quantity("apple".into()).await?;
        println!("  {name}: {apples} apples");
    }
    Ok(())
}

async fn start(name: &str, folder: &Path) -> Outcome<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["host", name]).arg(folder).stdout(Stdio::piped()).kill_on_drop(true);
    let mut child = command.spawn()?;
    let output = child.stdout.take().ok_or("the host has no output")?;
    let address = BufReader::new(output).lines().next_line().await?.ok_or("the host did not start")?;
    println!("host {name} is process {}, listens on {address}", child.id().unwrap_or_default());
    Ok(child)
}

/// Calls an unmarked method and a marked one, and says what became of each.
async fn buy(carts: &Namespace<Cart>, name: &str) {
    let cart = carts.get_by_name(name);
    let began = Instant::now();
    let added = cart.add_one("apple".into()).await;
    report(name, "add_one(apple)", began, added.map(|apples| format!("{apples} apples")));
    let began = Instant::now();
    let set = cart.set_quantity("pear".into(), 3).await;
    report(name, "set_quantity(pear, 3)", began, set.map(|()| "done".into()));
}

async fn wrap_and_weigh(carts: &Namespace<Cart>, name: &str) {
    let cart = carts.get_by_name(name);
    let began = Instant::now();
    let wrap = async {
        let wrapped = cart.wrap("apple".into()).await;
        report(name, "wrap(apple), not marked", began, wrapped);
    };
    let weigh = async {
        let weighed = cart.weigh("apple".into()).await;
        report(name, "weigh(apple), marked", began, weighed.map(|grams| format!("{grams} g")));
    };
    tokio::join!(wrap, weigh);
}

fn report(name: &str, call: &str, began: Instant, outcome: Result<String, CallError<CartError>>) {
    let took = Duration::from_millis(u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX));
    match outcome {
        Ok(answer) => println!("  {name} {call}: {answer}, after {took:?}"),
        Err(error) => {
            let advice = match error.delivery() {
                Delivery::NotDelivered => "it did not run: call again if you like",
                Delivery::Unknown | Delivery::Delivered => "it may have run: look before you call again",
            };
            println!("  {name} {call}: {error}, after {took:?}; {advice}");
        }
    }
}
