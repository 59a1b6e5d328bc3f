//! Processes that talk with the test in lines, and end with it.

use std::os::unix::process::ExitStatusExt;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// What the lines that are meant for the test begin with: the test harness writes there too.
const SAID: &str = "@ ";

/// How long a process may take to say what is expected of it, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(60);

/// Another life of this very program, in which only one test runs. It is killed when it is dropped.
pub(crate) struct Process {
    what: String,
    child: Child,
    input: ChildStdin,
    lines: mpsc::UnboundedReceiver<String>,
}

impl Process {
    pub(crate) fn start(what: String, test: &str, environment: &[(&str, String)]) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "--nocapture", "--test-threads=1", test]).kill_on_drop(true);
        command.envs(environment.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap_or_else(|error| panic!("{what} cannot be started: {error}"));
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (said, lines) = mpsc::unbounded_channel();
        tokio::spawn(async move {
            let mut output = BufReader::new(output).lines();
            while let Ok(Some(line)) = output.next_line().await {
                if let Some((_, line)) = line.split_once(SAID)
                    && said.send(line.to_owned()).is_err()
                {
                    return;
                }
            }
        });
        Self { what, child, input, lines }
    }

    pub(crate) fn id(&self) -> i32 {
        self.child.id().unwrap().try_into().unwrap()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        let status = self.child.try_wait().unwrap();
        status.inspect(|status| self.ended(*status)).is_some()
    }

    /// Tells it something; if it is no more, nobody hears.
    pub(crate) async fn tell(&mut self, line: &str) {
        self.input.write_all(format!("{line}\n").as_bytes()).await.ok();
    }

    /// The next line that it says; none if it has ended.
    pub(crate) async fn line(&mut self) -> Option<String> {
        self.lines.recv().await
    }

    /// Waits until it says a line that begins so, and returns the rest; none if it ends before.
    pub(crate) async fn hear(&mut self, begins: &str) -> Option<String> {
        let heard = async {
            loop {
                let line = self.lines.recv().await?;
                if let Some(rest) = line.strip_prefix(begins) {
                    return Some(rest.trim().to_owned());
                }
            }
        };
        let heard = timeout(PATIENCE, heard).await;
        heard.unwrap_or_else(|_| panic!("{} has not said {begins:?} within {PATIENCE:?}", self.what))
    }

    /// Fails if it has panicked.
    fn ended(&self, status: ExitStatus) {
        let good = status.success() || status.signal() == Some(Signal::KILL.as_raw());
        assert!(good, "{} has ended, and nobody wanted that: {status}", self.what);
    }

    /// Waits for its end.
    pub(crate) async fn end(&mut self) {
        let ended = timeout(PATIENCE, self.child.wait()).await;
        let ended = ended.unwrap_or_else(|_| panic!("{} has not ended within {PATIENCE:?}", self.what));
        self.ended(ended.unwrap());
    }

    /// SIGKILL.
    pub(crate) async fn kill(&mut self) {
        self.child.start_kill().ok();
        self.end().await;
    }
}

/// Says something to the test that started this process.
pub(crate) fn say(line: &str) {
    // The harness may have written the beginning of a line; in one piece, so that lines of several threads stay apart.
    println!("\n{SAID}{line}");
}

/// What the test that started this process says, line by line. When it is gone, so is this process.
pub(crate) fn told() -> mpsc::UnboundedReceiver<String> {
    // A panic on any thread is one that the test must see.
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        report(panic);
        std::process::abort();
    }));
    let (said, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines() {
            match line {
                Ok(line) => drop(said.send(line)),
                Err(_) => break,
            }
        }
        std::process::exit(0);
    });
    lines
}
