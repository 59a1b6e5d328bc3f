// How long a step takes at depth 200, alone and beside a large check, and how large the first page is.
//
//   node measure.js [--memory 8GiB]          (ONCEMORE: the command, best a release build)

import { explorer } from "./browser.js";

const server = await explorer(...process.argv.slice(2));
const ask = async (path, body, method = body ? "POST" : "GET") => {
  const response = await fetch(`${server.address}api/${path}`, { method, headers: { "content-type": "application/json" }, body: body && JSON.stringify(body) });
  const said = await response.json();
  if (said.error) throw new Error(said.error.message);
  return said;
};

/** Three callers, each of whose calls uses up many attempts: runs of some hundred steps. */
const LONG = {
  toml: `name = "long"
[limits]
retries_max = 10
[world]
clock = false
[faults]
unreachable = 9
lose_reply = 9
cut = 9
duplicate = 9
lose_request = 9
restart = 9
drain = 9
seize = 9
${Array.from({ length: 3 }, (_, caller) => `[[caller]]
concurrent = true
${Array.from({ length: 2 }, (_, call) => `[[caller.call]]
name = "call-${caller}-${call}"
marked = ${call === 0}
awaits = true
writes = ["x"]
`).join("")}`).join("")}`,
};

async function longest() {
  let best = [];
  for (let seed = 0; seed < 100 && best.length < 200; seed += 1) {
    const { runs } = await ask("sample", { scenario: LONG, runs: 60, seed });
    for (const run of runs) if (run.path.length > best.length) best = run.path;
  }
  return best.slice(0, 200);
}

async function measure(path, times = 40) {
  const took = [];
  let bytes = 0;
  for (let time = 0; time < times; time += 1) {
    const began = performance.now();
    const response = await fetch(`${server.address}api/state`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify({ scenario: LONG, path, at: path.length - (time % 5) }) });
    bytes = (await response.text()).length;
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  return `median ${took[times >> 1].toFixed(1)} ms, slowest ${took.at(-1).toFixed(1)} ms, ${(bytes / 1000).toFixed(0)} kB`;
}

try {
  const page = await (await fetch(server.address)).text();
  const names = [...page.matchAll(/(?:href|src)="([a-z]+\.[a-z]+)"/g)].map(([, name]) => name);
  const seen = new Set(["", ...names]);
  let bytes = 0;
  for (const name of seen) {
    const text = await (await fetch(server.address + name)).text();
    bytes += text.length;
    for (const [, other] of text.matchAll(/^import .*"\.\/([a-z]+\.js)";$/gm)) seen.add(other);
  }
  const library = (await (await fetch(`${server.address}api/library`)).text()).length;
  console.log(`first page: ${bytes} bytes in ${seen.size} files, and ${library} of the library`);
  const path = await longest();
  console.log(`a step at depth ${path.length}: ${await measure(path)}`);
  const { id } = await ask("jobs", { kind: "check", scenario: { name: "deep" } });
  let status = await ask(`jobs/${id}`);
  for (const states of [1e6, 5e6, 10e6, 20e6]) {
    while (status.states < states && (status.stage === "waiting" || status.stage === "running")) {
      await new Promise((resolve) => setTimeout(resolve, 500));
      status = await ask(`jobs/${id}`);
    }
    console.log(`beside a check at ${status.states.toLocaleString("en-GB")} states: ${await measure(path, 100)}`);
  }
  console.log(`the check: ${status.stage}, ${Math.round(status.states_per_second / 1000)} k/s`);
  await ask(`jobs/${id}`, undefined, "DELETE");
} finally {
  await server.end();
}
