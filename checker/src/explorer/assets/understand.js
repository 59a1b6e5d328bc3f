// What the state means: every property at this very state, and what user code sees.

import { h, prose, replace } from "./dom.js";

const WORDS = { holds: "holds here", violated: "violated here", waiting: "calls wait", settled: "all settled", stuck: "stuck here", reached: "witnessed", "not-yet": "not witnessed yet" };
const LOOKS = { holds: "good", violated: "bad", waiting: "open", settled: "good", stuck: "bad", reached: "reach", "not-yet": "open" };

/** @param {any} it @param {any} walk */
function property(it, walk) {
  const since = it.since !== null && h("button", { type: "button", class: "link", onclick: () => walk.seek(it.since) }, it.here === "reached" ? `by step ${it.since}` : it.since === 0 ? "from the beginning" : `since step ${it.since}`);
  const verb = it.kind === "reach" ? "be reached" : it.kind === "liveness" ? "get stuck" : "be violated";
  const open = it.here !== "violated" && it.here !== "stuck" && it.here !== "reached";
  const found = walk.checked?.properties.find((other) => other.id === it.id);
  return h("li", { class: ["property", LOOKS[it.here]], "data-property": it.id },
    h("div", { class: "line" }, h("span", { class: "id" }, it.id), h("span", { class: "claim" }, prose(it.claim))),
    h("div", { class: "line small" }, h("span", { class: "verdict" }, WORDS[it.here]), since, it.calls.length > 0 && h("span", { class: "quiet" }, it.calls.join(", ")),
      found && h("span", { class: "quiet" }, `in all runs: ${found.verdict}`),
      h("span", { class: "grow" }),
      open && h("button", { type: "button", class: "small", title: `Can it still ${verb} from here? Goes to the nearest such state`, "aria-label": `Can ${it.id} still ${verb} from here?`, onclick: () => walk.search({ goal: { property: it.id }, from: "here", what: it.id }) }, "from here?"),
      h("button", { type: "button", class: "small", title: it.kind === "reach" ? "The shortest run that reaches it" : "The shortest run that violates it", "aria-label": `Jump to ${it.id}`, onclick: () => walk.search({ goal: { property: it.id }, from: "start", what: it.id }) }, "jump")),
    it.because && h("p", { class: "quiet because" }, "Expected to be violated: ", prose(it.because)));
}

/** @param {HTMLElement} place @param {any} walk */
export function propertiesPanel(place, walk) {
  const all = walk.reply.properties;
  const order = (it) => (it.here === "violated" || it.here === "stuck" ? 0 : it.kind === "reach" ? 1 : it.expected === "violated" ? 0.5 : 2);
  const sorted = [...all].sort((a, b) => order(a) - order(b));
  const top = sorted.filter((it) => order(it) < 2);
  const rest = sorted.filter((it) => order(it) >= 2);
  const was = place.querySelector("details")?.open ?? false;
  const held = rest.filter((it) => it.here === "holds" || it.here === "settled").length;
  replace(place, h("div", { class: "search-result", role: "status" }), h("ul", { class: "properties" }, top.map((it) => property(it, walk))),
    h("details", { open: was }, h("summary", {}, `${held} more hold here${held < rest.length ? `, ${rest.length - held} wait` : ""}`), h("ul", { class: "properties" }, rest.map((it) => property(it, walk)))),
    !walk.reply.scenario.history && h("p", { class: "quiet" }, prose("P13 and P14 are asked where `world.history` is on.")));
  walk.showSearch?.();
}

function fields(error) {
  const rows = [["kind", error.kind], ["delivery", error.delivery], ["retryable", error.retryable], ["overloaded", error.overloaded], ["remote", error.remote], ["attempts", error.attempts], ["message", `attempt ${error.attempt}: ${error.message}`]];
  return h("dl", {}, rows.map(([name, value]) => [h("dt", {}, name), h("dd", { class: name === "delivery" ? "strong" : null }, String(value))]));
}

/** May one send it again? */
const AGAIN = {
  "did not run": "It did not run and never will: it is safe to send again.",
  "may have run": "It may have run: send it again only if running twice does no harm.",
  "reached the object": "It reached the object, and may have run.",
};

function sight(it) {
  switch (it.sees) {
    case "not-begun": return h("p", { class: "quiet" }, "has not been called");
    case "nothing": return h("p", {}, "waits: no answer yet");
    case "value": return [h("p", { class: "good" }, "a value"), h("p", { class: "quiet" }, `x was written by ${it.x ?? "nobody"}, y by ${it.y ?? "nobody"}`)];
    case "error": return [h("p", { class: "bad" }, "an error"), h("p", { class: "again" }, AGAIN[it.delivery]), fields(it)];
    case "reason": return h("p", {}, "the reason of its own abort");
    default: return h("p", { class: "quiet" }, "nobody listens any more");
  }
}

/** @param {HTMLElement} place @param {any} walk */
export function sightsPanel(place, walk) {
  const { sights, account } = walk.reply;
  replace(place, h("h3", {}, "What user code sees now"),
    h("ul", { class: "sights" }, sights.map((it) => h("li", { class: it.sees }, h("h4", {}, it.call), sight(it)))),
    h("h3", {}, "What really happened"),
    account.length ? h("ul", { class: "account" }, account.map((line) => h("li", {}, line))) : h("p", { class: "quiet" }, "Nothing yet."));
}
