// The keyboard, and the overlay that tells of it.

import { h } from "./dom.js";

const KEYS = [
  ["1 – 9", "take this step of the protocol"],
  ["← or u", "undo: one step back"], ["→ or r", "redo: one step on"], ["Home, End", "to the beginning, to the end"],
  ["↑ ↓", "within a list"], ["f", "to the faults"], ["s", "to the steps"], ["e", "to the events"], ["p, w, t, i", "properties, what user code sees, state tree, find"],
  ["c", "check all runs"], ["/", "filter"], ["?", "this help"], ["Esc", "close"],
];

const MARKS = [
  ["◆", "let in (claimed)"], ["▶", "user code starts; red: again"], ["●", "effect stored; ringed: again"], ["⊗", "refused"], ["✓ ✕", "user code is told: a value, an error"],
  ["- - amber", "lost, late or repeated by the network"], ["┆", "a predecessor, which does not know"],
];

/** Shows the help. */
export function help() {
  document.querySelector("dialog.help")?.remove();
  const rows = (all) => h("dl", {}, all.map(([key, text]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, text)]));
  const dialog = h("dialog", { class: "help", "aria-labelledby": "help-title" },
    h("h2", { id: "help-title" }, "Keys and marks"), h("div", { class: "two" }, rows(KEYS), rows(MARKS)),
    h("p", { class: "quiet" }, "Time goes down. Each column is a caller, the directory, or one incarnation of an object. Click any event to stand there; what comes after it stays until you choose otherwise. Drop a trace or a scenario anywhere to open it."),
    h("form", { method: "dialog" }, h("button", { autofocus: true }, "Close")));
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
}

let walk;

/** Keys act on this walk from now on. @param {any} it */
export function bind(it) {
  walk = it;
}

const first = (selector) => document.querySelector(selector)?.focus();

const ACTS = {
  ArrowLeft: () => walk.seek(walk.target - 1), u: () => walk.seek(walk.target - 1),
  ArrowRight: () => walk.seek(walk.target + 1), r: () => walk.seek(walk.target + 1),
  Home: () => walk.seek(0), End: () => walk.seek(walk.path.length),
  s: () => first(".choices button"), f: () => first(".palette button"), e: () => first(".events [aria-current]"),
  p: () => walk.select(0), w: () => walk.select(1), t: () => walk.select(2), i: () => walk.select(3),
  c: () => walk.check(),
};

addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
  if (event.target.matches?.("input:not([type=checkbox]), textarea, select")) return;
  if (event.key === "?") return help();
  if (event.key === "/") {
    event.preventDefault();
    return [...document.querySelectorAll("input[type=search]")].find((it) => it.offsetParent)?.focus();
  }
  if (document.body.dataset.page !== "explore" || !walk) return;
  if (/^[1-9]$/.test(event.key)) return document.querySelectorAll(".choices .choice")[Number(event.key) - 1]?.click();
  const act = ACTS[event.key];
  if (act) {
    event.preventDefault();
    act();
  }
});

/** Arrow keys go up and down within lists of buttons. */
addEventListener("keydown", (event) => {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const list = event.target.closest?.(".choices, .palette, .events");
  if (!step || !list) return;
  const all = [...list.querySelectorAll("button")];
  const next = all[all.indexOf(event.target) + step];
  if (next) {
    event.preventDefault();
    next.focus();
  }
});
