// The library: every scenario with its verdicts at a glance.

import { addressOf } from "./address.js";
import { counted, h, notice, prose, replace } from "./dom.js";
import { job, ask } from "./net.js";
import { importFile } from "./share.js";

/** A property that leads to the shortest run that shows it. */
const lead = (entry, id, kind, title) => h("a", { class: ["chip", kind], title: `${title}: see the shortest run`, href: `#/explore?s=${encodeURIComponent(entry.name)}&go=${id}` }, id);

/** @param {string} id @param {string} kind @param {string} title */
const chip = (id, kind, title) => h("span", { class: ["chip", kind], title }, id);

/** What is expected of a scenario, or was found. @param {any} entry */
function verdicts(entry) {
  const found = entry.found;
  const violated = found ? found.violated : entry.violated;
  const reached = found ? found.reached : entry.reached;
  const word = found ? "found" : "expected";
  const surprise = found && !found.as_expected;
  return [
    violated.length
      ? violated.map((id) => lead(entry, id, "bad", `${id} is violated (${word})${entry.because[id] ? `: ${entry.because[id]}` : ""}`))
      : chip(found && !found.exhausted ? "cut" : "all hold", found && !found.exhausted ? "open" : "good", `Nothing is violated (${word})`),
    reached.map((id) => lead(entry, id, "reach", `${id} is reached (${word})`)),
    surprise && chip("not as expected", "bad", "The check found something else than what is expected"),
  ];
}

async function row(entry, watch) {
  const progress = h("span", { class: "quiet progress" });
  const cell = h("td", { class: "chips" }, verdicts(entry));
  const size = entry.found?.unique_states ?? entry.pinned?.unique;
  const states = h("td", { class: "number" }, size === undefined ? "" : size.toLocaleString("en-GB"));
  const button = h("button", { type: "button", class: "small", "aria-label": `Check ${entry.name}`, onclick: check }, "Check");
  let running;
  async function check() {
    if (running) {
      running.cancel();
      return;
    }
    button.textContent = "Cancel";
    running = job({ kind: "check", scenario: { name: entry.name } }, (status) => {
      progress.textContent = status.stage === "waiting" ? "waits" : `${Math.round(status.states_per_second / 1000)} k/s, depth ${status.depth}`;
      states.textContent = status.states.toLocaleString("en-GB");
    });
    watch(running);
    try {
      const status = await running.ended;
      if (status.stage === "failed") notice(status.result.error.message, "bad");
      const { scenarios } = await ask("library");
      replace(cell, verdicts(scenarios.find((it) => it.name === entry.name) ?? entry));
      if (status.result?.unique_states !== undefined) states.textContent = status.result.unique_states.toLocaleString("en-GB");
      progress.textContent = status.stage === "done" ? `checked in ${status.seconds.toFixed(2)} s` : status.stage;
    } catch (error) {
      notice(error.message, "bad");
    }
    running = undefined;
    button.textContent = "Check";
  }
  const href = await addressOf({ page: "explore", scenario: { name: entry.name }, path: [] });
  const node = h("tr", { "data-name": entry.name },
    h("th", { scope: "row" }, h("a", { href }, entry.name), h("p", { class: "about" }, prose(entry.about))),
    h("td", { class: "design" }, entry.design, entry.fenced ? h("small", {}, " fenced") : ""),
    cell, states,
    h("td", { class: "act" }, button, progress));
  return { node, check, suite: entry.suite, text: `${entry.name} ${entry.about} ${entry.design} ${entry.violated.join(" ")}`.toLowerCase() };
}

/** @param {HTMLElement} main */
export async function library(main) {
  document.title = "Scenarios · Oncemore explorer";
  const { scenarios } = await ask("library");
  const running = new Set();
  const watch = (it) => {
    running.add(it);
    it.ended.finally(() => running.delete(it)).catch(() => {});
  };
  const rows = await Promise.all(scenarios.map((entry) => row(entry, watch)));
  const count = h("span", { class: "quiet", role: "status" });
  const filter = (text) => {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const { node, text: of } of rows) {
      node.hidden = !words.every((word) => of.includes(word));
      shown += node.hidden ? 0 : 1;
    }
    count.textContent = counted(shown, "scenario");
  };
  const search = h("input", { type: "search", placeholder: "Filter: a name, D1, P14, late …", "aria-label": "Filter the scenarios", oninput: (event) => filter(event.target.value) });
  const file = h("input", { type: "file", accept: ".json,.toml", class: "hidden-file", "aria-label": "Open a trace or a scenario", onchange: async () => {
    if (file.files[0]) await importFile(file.files[0]).catch((error) => notice(error.message, "bad"));
    file.value = "";
  } });
  let stopping = () => {};
  /** One after the other; what takes minutes only if it is asked for by itself. */
  async function checkAll() {
    let stop = false;
    stopping = () => {
      stop = true;
      running.forEach((it) => it.cancel());
    };
    const shown = rows.filter(({ node }) => !node.hidden);
    all.textContent = "Stop";
    for (const { check, suite } of shown) if (!stop && (suite || shown.length === 1)) await check();
    all.textContent = "Check those shown";
  }
  const all = h("button", { type: "button", title: "One after the other; those that take minutes are left out", onclick: () => (all.textContent === "Stop" ? stopping() : checkAll()) }, "Check those shown");
  replace(main, h("div", { class: "page" },
    h("h1", {}, "May I safely send this call again?"),
    h("p", { class: "lead" }, "Each scenario is a small world: who calls, what may go wrong, and how the object remembers. Open one, make things go wrong, and see what becomes of every promise."),
    h("div", { class: "bar" }, search, count, h("span", { class: "grow" }), all, h("label", { class: "button" }, "Open a file …", file)),
    h("div", { class: "wide" }, h("table", { class: "library" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Scenario"), h("th", { scope: "col" }, "Store"), h("th", { scope: "col" }, "Violated, reached"), h("th", { scope: "col", class: "number" }, "States"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "Check")))),
      h("tbody", {}, rows.map(({ node }) => node))))));
  filter("");
}
