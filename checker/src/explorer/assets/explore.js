// A walk through the states of a scenario: what is shown where, and how one goes on.

import { addressOf } from "./address.js";
import { checkPanel } from "./check.js";
import { compare } from "./compare.js";
import { detail, diagram } from "./diagram.js";
import { h, notice, prose, replace } from "./dom.js";
import { findPanel } from "./find.js";
import { form } from "./form.js";
import { bind } from "./keys.js";
import { ask } from "./net.js";
import { nextPanel } from "./next.js";
import { shareMenu } from "./share.js";
import { statePanel } from "./tree.js";
import { propertiesPanel, sightsPanel } from "./understand.js";

/** Where one is, and what is shown of it. */
class Walk {
  /** @param {import("./address.js").Place} place @param {any} reply */
  constructor(place, reply) {
    this.scenario = place.scenario;
    this.path = place.path;
    this.reply = reply;
    this.busy = false;
  }

  get at() {
    return this.reply.at;
  }

  /** Where one stands once all that was asked for is shown. */
  get target() {
    return this.next?.at ?? this.going ?? this.at;
  }

  /** Asks for a state and shows it; what is asked for meanwhile comes next. @param {number[]} path @param {number} at */
  async go(path, at) {
    if (this.busy) {
      this.next = { path, at };
      return;
    }
    this.busy = true;
    this.going = at;
    try {
      const began = performance.now();
      this.reply = await ask("state", { scenario: this.scenario, path, at });
      this.path = path;
      this.took = performance.now() - began;
      await this.remember();
      this.show();
    } catch (error) {
      notice(error.message, "bad");
    } finally {
      this.busy = false;
      this.going = undefined;
    }
    const { next } = this;
    this.next = undefined;
    if (next) await this.go(next.path, next.at);
  }

  /** The address, with the fingerprint of the last state of the way. */
  async address() {
    const check = this.path.length ? this.reply.steps.at(-1).leads_to : this.reply.initial;
    return addressOf({ page: "explore", scenario: this.scenario, path: this.path, at: this.at, check });
  }

  async remember() {
    const address = await this.address();
    if (address !== location.hash) history.pushState(null, "", address);
  }

  /** @param {number} at */
  seek(at) {
    this.forget?.();
    if (at >= 0 && at <= this.path.length && at !== this.target) this.go(this.path, at);
  }

  /** Makes a choice here; what had been undone is given up. @param {number} choice */
  choose(choice) {
    // The choices in sight are those of the state in sight.
    if (this.busy) return undefined;
    this.forget?.();
    if (this.path[this.at] === choice) return this.seek(this.at + 1);
    return this.go([...this.path.slice(0, this.at), choice], this.at + 1);
  }

  /** Goes along a whole way. @param {number[]} path */
  follow(path) {
    return this.go(path, path.length);
  }

  show() {
    const { reply } = this;
    document.title = `${reply.scenario.name} ${this.at} · Oncemore explorer`;
    diagram(this.parts.diagram, reply, (at) => this.seek(at));
    detail(this.parts.detail, this);
    nextPanel(this.parts.next, this);
    propertiesPanel(this.parts.properties, this);
    sightsPanel(this.parts.sights, this);
    statePanel(this.parts.state, this);
    const violated = reply.properties.filter((it) => it.here === "violated").map((it) => it.id);
    replace(this.parts.where, h("span", {}, `Step ${this.at} of ${this.path.length}`), violated.length > 0 && h("span", { class: "chip bad" }, `violates ${violated.join(", ")}`),
      this.took !== undefined && h("span", { class: "quiet took" }, `${this.took.toFixed(0)} ms`));
    document.body.dataset.at = String(this.at);
  }
}

/** Opens what lies over the page. @param {(walk: Walk) => Promise<void>} what @param {Walk} walk */
const open = (what, walk) => what(walk).catch((error) => notice(error.message, "bad"));

function head(walk) {
  const { scenario } = walk.reply;
  return h("div", { class: "head-line" },
    h("div", {}, h("h1", {}, scenario.name, " ", h("span", { class: "chip plain" }, scenario.design, scenario.fenced ? " fenced" : ""), scenario.mutant && h("span", { class: "chip bad" }, `broken: ${scenario.mutant}`)), h("p", { class: "about" }, prose(scenario.about))),
    h("div", { class: "acts" }, h("button", { type: "button", onclick: () => open(form, walk) }, "Change …"), h("button", { type: "button", onclick: () => open(compare, walk) }, "Compare …"), shareMenu(walk)));
}

function tabs(names, panes, first) {
  const buttons = names.map((name, index) => h("button", { type: "button", role: "tab", id: `tab-${index}`, "aria-controls": `pane-${index}`, onclick: () => select(index) }, name));
  panes.forEach((pane, index) => {
    pane.id = `pane-${index}`;
    pane.setAttribute("role", "tabpanel");
    pane.setAttribute("aria-labelledby", `tab-${index}`);
    pane.tabIndex = 0;
  });
  function select(chosen) {
    buttons.forEach((button, index) => {
      button.setAttribute("aria-selected", String(index === chosen));
      button.tabIndex = index === chosen ? 0 : -1;
      panes[index].hidden = index !== chosen;
    });
  }
  const bar = h("div", { role: "tablist", "aria-label": "What to understand", class: "tabs", onkeydown: (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (buttons.indexOf(document.activeElement) + step + buttons.length) % buttons.length;
    select(next);
    buttons[next].focus();
  } }, buttons);
  select(first);
  return { bar, select };
}

/** On a narrow page one part is shown at a time. */
function parts(shown) {
  const names = { next: "Next", diagram: "Diagram", understand: "Understand" };
  return h("div", { class: "switch", role: "group", "aria-label": "Parts of the page" }, Object.entries(names).map(([key, name]) =>
    h("button", { type: "button", "aria-pressed": String(key === shown), onclick: (event) => {
      document.body.dataset.part = key;
      for (const other of event.target.parentNode.children) other.setAttribute("aria-pressed", String(other === event.target));
      dispatchEvent(new Event("resize"));
    } }, name)));
}

/** Goes where the address wants to go. @param {Walk} walk @param {import("./address.js").Place} place */
async function pursue(walk, place) {
  if (!place.goal) return;
  // Going back must not search again.
  history.replaceState(null, "", await walk.address());
  await walk.search({ goal: { property: place.goal }, from: "start", what: place.goal });
}

let current;

/** @param {HTMLElement} main @param {import("./address.js").Place} place */
export async function explore(main, place) {
  const reply = await ask("state", { scenario: place.scenario, path: place.path, at: place.at, check: place.check });
  const same = current && main.contains(current.parts.diagram) && JSON.stringify(current.scenario) === JSON.stringify(place.scenario);
  if (same) {
    current.reply = reply;
    current.path = place.path;
    current.show();
    return pursue(current, place);
  }
  current?.leave?.();
  const walk = new Walk(place, reply);
  current = walk;
  const pane = (name) => h("section", { class: `pane ${name}` });
  walk.parts = { diagram: h("div", { class: "diagram" }), detail: h("div", { class: "detail" }), next: h("div", { class: "next-body" }), properties: pane("properties"), sights: pane("sights"), state: pane("state"), find: pane("find"), where: h("div", { class: "where", role: "status" }) };
  const { bar, select } = tabs(["Properties", "User code", "State", "Find"], [walk.parts.properties, walk.parts.sights, walk.parts.state, walk.parts.find], 0);
  walk.select = select;
  const move = (name, label, act) => h("button", { type: "button", class: "move", title: label, "aria-label": label, onclick: act }, name);
  replace(main, h("div", { class: "explore" }, head(walk),
    h("div", { class: "panes" },
      h("section", { class: "side left", "aria-label": "What can happen next" },
        h("div", { class: "moves", role: "toolbar", "aria-label": "Along the run" },
          move("⇤", "To the beginning", () => walk.seek(0)), move("↶", "Undo", () => walk.seek(walk.target - 1)),
          move("↷", "Redo", () => walk.seek(walk.target + 1)), move("⇥", "To the end", () => walk.seek(walk.path.length)), walk.parts.where),
        walk.parts.next),
      h("section", { class: "middle", "aria-label": "The run so far" }, walk.parts.diagram, walk.parts.detail),
      h("section", { class: "side right", "aria-label": "The state" }, checkPanel(walk), bar, walk.parts.properties, walk.parts.sights, walk.parts.state, walk.parts.find)),
    parts(document.body.dataset.part ?? "next")));
  document.body.dataset.part ??= "next";
  findPanel(walk.parts.find, walk);
  bind(walk);
  walk.show();
  return pursue(walk, place);
}

let waiting;
addEventListener("resize", () => {
  clearTimeout(waiting);
  waiting = setTimeout(() => current && document.contains(current.parts.diagram) && current.show(), 60);
});
