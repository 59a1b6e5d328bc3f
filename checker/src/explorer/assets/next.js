// What can happen next: the protocol's own steps, and a palette of faults.

import { rulesOf } from "./diagram.js";
import { h, replace } from "./dom.js";

/** What a fault is called on the palette. */
export const FAULTS = {
  lose_request: "Lose a request", lose_reply: "Lose a reply", cut: "Drop the connection", restart: "Restart", drain: "Move in good order", seize: "Move, predecessor unaware",
  stale: "Stale resolve", overload: "Overload", throw: "User error", crash: "Caller dies", give_up: "Drop the future", abort: "Abort",
  reuse: "Reuse an id (planted)", forget: "Forget claims (planted)", unreachable: "Cannot connect", duplicate: "Duplicate a request",
};

function consequences(choice) {
  return [
    choice.violates.map((id) => h("span", { class: "chip bad", title: `The state after it violates ${id}` }, id)),
    choice.reaches.map((id) => h("span", { class: "chip reach", title: `It reaches ${id}` }, id)),
  ];
}

/** @param {any} choice @param {any} walk @param {string} [key] */
function button(choice, walk, key) {
  const { event } = choice.scene;
  const late = choice.scene.ended.some((it) => it.late && it.how === "arrives");
  const ahead = walk.path[walk.at] === choice.choice;
  return h("button", { type: "button", class: ["choice", choice.fault && "fault", ahead && "ahead"], "data-step": choice.scene.action.step, "data-fault": choice.fault, "data-late": late ? "" : null,
    onclick: () => walk.choose(choice.choice), title: event.rules.map((rule) => `${rule.rule}: ${rule.text}`).join("\n") },
  key && h("kbd", { "aria-hidden": "true" }, key),
  h("span", { class: "words" }, h("b", {}, event.who), " ", event.text), consequences(choice), h("span", { class: "rules" }, rulesOf(event).join(" ")));
}

function palette(fault, choices, walk) {
  const its = choices.filter((choice) => choice.fault === fault.name);
  const none = fault.budget === 0 ? "not in this scenario" : fault.left === 0 ? "used up" : its.length === 0 ? "cannot strike here" : "";
  const left = fault.budget > 0 && `${fault.left} left`;
  return h("li", { class: none && "none", "data-kind": fault.name },
    h("h4", { title: fault.about }, FAULTS[fault.name], h("small", {}, none || left)),
    its.map((choice) => button(choice, walk)));
}

/** @param {HTMLElement} place @param {any} walk */
export function nextPanel(place, walk) {
  const { choices, faults } = walk.reply;
  const steps = choices.filter((choice) => !choice.fault);
  const ready = faults.filter((fault) => choices.some((choice) => choice.fault === fault.name));
  const rest = faults.filter((fault) => !ready.includes(fault) && fault.budget > 0);
  const absent = faults.filter((fault) => fault.budget === 0);
  replace(place,
    h("h3", {}, "What can happen next"),
    steps.length ? h("div", { class: "choices", role: "group", "aria-label": "Steps of the protocol" }, steps.map((choice, index) => button(choice, walk, index < 9 ? String(index + 1) : undefined)))
      : h("p", { class: "quiet" }, choices.length ? "Nothing but a fault." : "Nothing more: the run has ended."),
    h("h3", {}, "Make something go wrong"),
    ready.length + rest.length ? h("ul", { class: "palette", "aria-label": "Faults" }, ready.map((fault) => palette(fault, choices, walk)), rest.map((fault) => palette(fault, choices, walk)))
      : h("p", { class: "quiet" }, "This scenario allows no faults."),
    absent.length > 0 && h("details", { class: "absent" }, h("summary", {}, `${absent.length} more kinds of fault, not in this scenario`), h("ul", { class: "palette" }, absent.map((fault) => palette(fault, choices, walk)))));
}
