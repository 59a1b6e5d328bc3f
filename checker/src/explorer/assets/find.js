// Looking for something: from here or from the beginning, up to so many states and seconds.

import { aroundPanel } from "./around.js";
import { counted, h, notice, replace } from "./dom.js";
import { aboutProtocol, ask, job } from "./net.js";

/** What came of a search, in words. */
function outcome(result, what, from) {
  const place = from === "here" ? "from here" : "from the beginning";
  if (result.found) return result.steps === 0 ? `${what}: here already.` : `${what}: ${counted(result.steps, "step")} ${place}.`;
  const seen = counted(result.states, "state");
  if (result.exhausted) return `${what}: never ${place}. All ${seen} were looked at.${result.reservation ? ` ${result.reservation}` : ""}`;
  return result.cut === "interrupt" ? `${what}: cancelled after ${seen}.` : `${what}: not found within ${seen}, ${result.seconds.toFixed(1)} s (${result.cut === "timeout" ? "time was up" : `cut by ${result.cut}`}).`;
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
  // What was found is of no interest any more once one goes on; a search that is under way is.
  walk.forget = () => {
    if (!running) line = null;
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
      running = undefined;
      if (ended.stage === "failed") throw new Error(ended.result.error.message);
      const { result } = ended;
      const more = () => walk.search({ ...wish, states_max: states_max * 10, seconds: seconds * 6 });
      const longer = !result.found && !result.exhausted && seconds < 600;
      line = () => h("p", { class: result.found ? "found" : "quiet" }, outcome(result, what, from), " ", longer && h("button", { type: "button", class: "small", onclick: more }, "Look ten times longer"));
      if (result.found && result.steps > 0) await walk.follow(result.path);
      walk.showSearch();
    } catch (error) {
      running = undefined;
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
  const list = h("datalist", { id: "terms" });
  const told = h("p", { class: "small quiet", role: "status" }, "Terms are suggested as you write; join them by and, or, not.");
  let terms = [];
  ask("terms", { scenario: walk.scenario }).then((said) => {
    terms = said.terms;
    suggest();
  }).catch(() => {});
  const question = h("input", { type: "text", list: "terms", id: "question", "aria-label": "A question about states", placeholder: "e.g. object.owner > 1 and network.late > 0", autocomplete: "off", spellcheck: "false", oninput: suggest,
    onkeydown: (event) => event.key === "Enter" && byQuery("here")() });
  let turn = 0;
  /** Offers what may come next, and says whether what is written makes sense. */
  async function suggest() {
    const text = question.value;
    const start = text.slice(0, text.length - (text.match(/[\w./-]*$/)?.[0].length ?? 0));
    const about = start.match(/([\w./-]+)\s*(!?=)\s*$/);
    const words = about ? terms.find((it) => it.name === about[1])?.words ?? [] : terms.map((it) => it.name);
    replace(list, words.slice(0, 200).map((word) => h("option", { value: start + word })));
    const mine = ++turn;
    await new Promise((resolve) => setTimeout(resolve, 200));
    if (mine !== turn || !text.trim()) return;
    try {
      const { here } = await ask("terms", { scenario: walk.scenario, path: walk.path.slice(0, walk.at), query: text });
      if (mine === turn) replace(told, here ? "It is so here." : "It is not so here.");
    } catch (error) {
      if (mine === turn) replace(told, error.message);
    }
  }
  const byQuery = (from) => () => question.value.trim() && walk.search({ goal: { query: question.value }, from, what: question.value.trim(), ...bounds() });
  replace(place,
    h("div", { class: "search-result", role: "status" }),
    h("h3", {}, "Until a rule is taken"),
    h("label", { for: "rule", class: "unseen" }, "Rule"), rule,
    h("div", { class: "bar" }, h("button", { type: "button", onclick: byRule("here") }, "Step until it is taken"), h("button", { type: "button", onclick: byRule("start") }, "From the beginning")),
    h("h3", {}, "A state of which this is so"),
    question, list, told,
    h("div", { class: "bar" }, h("button", { type: "button", onclick: byQuery("here") }, "Nearest from here"), h("button", { type: "button", onclick: byQuery("start") }, "From the beginning")),
    h("h3", {}, "How far to look"),
    h("div", { class: "bar" }, h("label", { for: "states" }, "states ", states), h("label", { for: "seconds" }, "seconds ", seconds)),
    ...aroundPanel(walk));
}
