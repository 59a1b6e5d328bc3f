// Checking the whole scenario beside the walk.

import { counted, h, notice, replace } from "./dom.js";
import { job } from "./net.js";

/** @param {any} walk */
export function checkPanel(walk) {
  const place = h("div", { class: "check", role: "region", "aria-label": "Check of the whole scenario" });
  let running;
  const start = () => h("button", { type: "button", class: "primary", onclick: check }, walk.checked ? "Check again" : "Check all runs");
  function told(status) {
    const { states, states_per_second: rate, depth, seen, phase, stage } = status;
    replace(place, h("div", { class: "bar" }, h("button", { type: "button", onclick: () => running.cancel() }, "Cancel"),
      h("span", { class: "quiet" }, stage === "waiting" ? "waits for another check" : `${phase}: ${counted(states, "state")}, ${Math.round(rate / 1000)} k/s, depth ${depth}`)),
      seen.length > 0 && h("p", { class: "chips" }, seen.map((id) => h("span", { class: ["chip", id.startsWith("R") ? "reach" : "bad"] }, id))));
  }
  function jump(it) {
    return h("button", { type: "button", class: ["chip", it.verdict === "violated" ? "bad" : "reach"], "data-jump": it.id, title: `${it.id} ${it.verdict}: go to the shortest run`, onclick: () => walk.follow(it.path) }, it.id);
  }
  function verdict(status) {
    const { result } = status;
    walk.checked = result;
    const runs = result.properties.filter((it) => it.path);
    const held = result.properties.filter((it) => it.verdict === "holds").length;
    const size = `${counted(result.unique_states, "state")}, ${result.seconds.toFixed(2)} s`;
    const words = result.exhausted ? `All runs seen: ${size}.` : `Cut (${result.cut}): ${size}. Nothing is said to hold.`;
    replace(place, h("div", { class: "bar" }, start(), h("span", {}, words), !result.as_expected && h("span", { class: "chip bad" }, "not as expected")),
      h("p", { class: "chips" }, runs.length > 0 && "Go to: ", runs.map(jump), held > 0 && h("span", { class: "quiet" }, ` ${held} hold in all runs`)));
    walk.show();
  }
  async function check() {
    running = job({ kind: "check", scenario: walk.scenario }, told);
    try {
      const status = await running.ended;
      running = undefined;
      if (status.stage === "failed") throw new Error(status.result.error.message);
      if (status.result) verdict(status);
      else replace(place, h("div", { class: "bar" }, start(), h("span", { class: "quiet" }, "cancelled")));
    } catch (error) {
      notice(error.message, "bad");
      replace(place, h("div", { class: "bar" }, start()));
    }
  }
  replace(place, h("div", { class: "bar" }, start(), h("span", { class: "quiet" }, "Every order of everything that may happen.")));
  walk.check = check;
  walk.leave = () => running?.cancel();
  return place;
}
