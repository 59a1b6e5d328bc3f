// Looking for something: from here or from the beginning, up to so many states and seconds.

import { counted, h, notice, replace } from "./dom.js";
import { aboutProtocol, job } from "./net.js";

/** What came of a search, in words. */
function outcome(result, what, from) {
  const place = from === "here" ? "from here" : "from the beginning";
  if (result.found) return result.steps === 0 ? `${what}: here already.` : `${what}: ${counted(result.steps, "step")} ${place}.`;
  const seen = counted(result.states, "state");
  return result.exhausted ? `${what}: never ${place}. All ${seen} were looked at.` : `${what}: not found within ${seen}, ${result.seconds.toFixed(1)} s (${result.cut === "timeout" ? "time was up" : `cut by ${result.cut}`}).`;
}

/**
 * Lets a walk search: one search at a time, told in the properties panel and in the panel for finding.
 * @param {any} walk
 */
function teach(walk) {
  let running;
  let line = null;
  const places = () => [walk.parts.properties.querySelector(".search-result"), walk.parts.find.querySelector(".search-result")].filter(Boolean);
  walk.showSearch = () => {
    for (const place of places()) replace(place, line?.());
  };
  walk.search = async (wish) => {
    running?.cancel();
    const { goal, from, what, states_max = 1_000_000, seconds = 10 } = wish;
    const path = from === "here" ? walk.path.slice(0, walk.at) : [];
    let status = { states: 0, depth: 0 };
    const mine = job({ kind: "search", scenario: walk.scenario, path, goal, states_max, seconds }, (it) => {
      status = it;
      walk.showSearch();
    });
    running = mine;
    line = () => h("p", {}, `Looking for ${what}: ${counted(status.states, "state")}, depth ${status.depth} `, h("button", { type: "button", class: "small", onclick: () => mine.cancel() }, "Cancel"));
    walk.showSearch();
    try {
      const ended = await mine.ended;
      if (running !== mine) return;
      if (ended.stage === "failed") throw new Error(ended.result.error.message);
      const { result } = ended;
      const more = () => walk.search({ ...wish, states_max: states_max * 10, seconds: seconds * 6 });
      const longer = !result.found && !result.exhausted && seconds < 600;
      line = () => h("p", { class: result.found ? "found" : "quiet" }, outcome(result, what, from), " ", longer && h("button", { type: "button", class: "small", onclick: more }, "Look ten times longer"));
      if (result.found && result.steps > 0) await walk.follow(result.path);
      walk.showSearch();
    } catch (error) {
      line = null;
      walk.showSearch();
      notice(error.message, "bad");
    }
  };
}

/** @param {HTMLElement} place @param {any} walk */
export function findPanel(place, walk) {
  teach(walk);
  const rule = h("select", { id: "rule", "aria-label": "A branch of a rule" });
  aboutProtocol().then(({ branches }) => replace(rule, branches.map((it) => h("option", { value: it.name }, `${it.rule}: ${it.text}`)))).catch(() => {});
  const states = h("input", { type: "number", id: "states", min: 1000, max: 100000000, step: 1000, value: "1000000" });
  const seconds = h("input", { type: "number", id: "seconds", min: 1, max: 3600, value: "10" });
  const bounds = () => ({ states_max: Math.max(1, Number(states.value) || 1), seconds: Math.max(1, Number(seconds.value) || 1) });
  const byRule = (from) => () => walk.search({ goal: { branch: rule.value }, from, what: rule.selectedOptions[0]?.textContent.split(":")[0] ?? "the rule", ...bounds() });
  replace(place,
    h("div", { class: "search-result", role: "status" }),
    h("h3", {}, "Until a rule is taken"),
    h("label", { for: "rule", class: "unseen" }, "Rule"), rule,
    h("div", { class: "bar" }, h("button", { type: "button", onclick: byRule("here") }, "Step until it is taken"), h("button", { type: "button", onclick: byRule("start") }, "From the beginning")),
    h("h3", {}, "How far to look"),
    h("div", { class: "bar" }, h("label", { for: "states" }, "states ", states), h("label", { for: "seconds" }, "seconds ", seconds)));
}
