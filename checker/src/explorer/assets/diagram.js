// The space-time diagram: lanes from left to right, time from top to bottom.

import { h, replace, s } from "./dom.js";
import { layout, ROW, TOP, yOf } from "./layout.js";

/** What a mark says. */
export const MARKS = {
  resolve: "asks the directory", "stale-resolve": "is told a stale address", "new-owner": "the directory names another incarnation",
  claim: "let in", refusal: "refused", start: "user code starts", effect: "effect stored", "effect-refused": "storage refuses the effect",
  answered: "answered", failed: "fails", gone: "nobody is told", "back-off": "backs off", cutoff: "the cutoff falls", crash: "dies",
  drain: "begins to drain", begins: "begins", forgets: "forgets its claims",
};

/** One mark's shape, around its place. */
function glyph(kind, again) {
  switch (kind) {
    case "claim": return s("path", { d: "M0-6L6 0L0 6L-6 0Z", class: "fill" });
    case "refusal": return [s("circle", { r: 6, class: "hollow bad" }), s("path", { d: "M-3-3L3 3M3-3L-3 3", class: "stroke bad" })];
    case "start": return s("path", { d: "M-4-6L6 0L-4 6Z", class: again ? "fill bad" : "fill" });
    case "effect": return [s("circle", { r: 5, class: again ? "fill bad" : "fill good" }), again && s("circle", { r: 8, class: "hollow bad" })];
    case "effect-refused": return [s("circle", { r: 6, class: "hollow" }), s("path", { d: "M-4 4L4-4", class: "stroke" })];
    case "answered": return [s("circle", { r: 7, class: "fill good" }), s("path", { d: "M-3 0L-1 3L4-3", class: "stroke inverse" })];
    case "failed": return [s("circle", { r: 7, class: "fill bad" }), s("path", { d: "M-3-3L3 3M3-3L-3 3", class: "stroke inverse" })];
    case "gone": return s("circle", { r: 6, class: "hollow" });
    case "crash": return s("path", { d: "M-6-6L6 6M6-6L-6 6", class: "stroke bad heavy" });
    case "new-owner": return s("path", { d: "M-5-5H5V5H-5Z", class: "fill fault" });
    case "resolve": return s("circle", { r: 3.5, class: "fill" });
    case "stale-resolve": return s("circle", { r: 4, class: "hollow fault" });
    case "begins": return s("path", { d: "M-9 0H9", class: "stroke heavy" });
    case "drain": return s("path", { d: "M-7-3H7M-4 1H4M-2 5H2", class: "stroke fault" });
    case "forgets": return s("path", { d: "M-6 0H6", class: "stroke bad" });
    case "cutoff": return s("path", { d: "M-8-2H8M-8 2H8", class: "stroke fault" });
    case "back-off": return [-4, 0, 4].map((x) => s("circle", { cx: x, r: 1.6, class: "fill" }));
    default: return s("circle", { r: 3, class: "fill" });
  }
}

/** A path that ends in an arrow head. */
function arrow(from, to, look, head = true) {
  const angle = Math.atan2(to.y - from.y, to.x - from.x);
  const point = (turn, size) => `${(to.x - size * Math.cos(angle + turn)).toFixed(1)} ${(to.y - size * Math.sin(angle + turn)).toFixed(1)}`;
  return [
    s("path", { d: `M${from.x} ${from.y}L${to.x.toFixed(1)} ${to.y.toFixed(1)}`, class: ["message", ...look] }),
    head && s("path", { d: `M${point(0.42, 9)}L${to.x.toFixed(1)} ${to.y.toFixed(1)}L${point(-0.42, 9)}`, class: ["head", ...look] }),
  ];
}

function between(from, to, share) {
  return { x: from.x + (to.x - from.x) * share, y: from.y + (to.y - from.y) * share };
}

function message(it, wide) {
  const look = [it.answer ? "answer" : "request", it.copy > 0 && "copy", it.late && "late", it.refusal && "refusal", it.how].filter(Boolean);
  const broken = it.how === "lost" || it.how === "expired" || it.how === "dropped";
  const end = broken ? between(it.from, it.to, 0.62) : it.to;
  const side = it.to.x >= it.from.x ? 1 : -1;
  const label = it.answer ? (it.refusal ? "refused" : it.says) : `${it.call}${it.attempt > 1 ? ` ·${it.attempt}` : ""}${it.copy ? " copy" : ""}`;
  const title = `${it.answer ? `answer to ${it.call}, attempt ${it.attempt}: ${it.says}` : `${it.call}, attempt ${it.attempt}${it.copy ? ", the network's copy" : ""}`}; ${it.late ? "late: " : ""}${it.how === "under-way" ? "under way" : it.how}`;
  return s("g", {}, s("title", {}, title), arrow(it.from, end, look, !broken),
    broken && s("path", { d: `M${end.x - 4} ${end.y - 4}l8 8m0-8l-8 8`, class: "stroke fault heavy" }),
    wide && s("text", { x: it.from.x + side * 16, y: it.from.y - 4 + (it.how === "under-way" ? 0 : 0), "text-anchor": side > 0 ? "start" : "end", class: ["label", ...look] }, label),
    it.late && s("text", { x: it.to.x - side * 12, y: it.to.y - 6, "text-anchor": side > 0 ? "end" : "start", class: "label late" }, "late"));
}

function mark(it) {
  const asks = it.kind === "resolve" || it.kind === "stale-resolve";
  const shift = it.place * 17;
  const words = `${it.call ? `${it.call}: ` : ""}${MARKS[it.kind]}${it.again ? ", again" : ""}${it.rules.length ? ` (${it.rules.join(", ")})` : ""}`;
  return s("g", { transform: `translate(${it.x + shift} ${it.y})`, class: ["mark", it.kind] },
    asks && it.from !== undefined && s("path", { d: `M${it.from - it.x} 0H0`, class: "asks" }), s("title", {}, words), glyph(it.kind, it.again),
    it.rules.length > 0 && s("text", { y: -9, "text-anchor": "middle", class: "rule" }, it.rules[0]));
}

function bar(it) {
  if (it.cutoff) return s("g", { transform: `translate(${it.x - 16} ${yOf(it.from)})` }, s("title", {}, `the cutoff of ${it.name}`), glyph("cutoff"));
  const look = { attempting: "attempting", cut: "attempting severed", "backing-off": "waiting" }[it.stage];
  return s("g", {}, s("title", {}, `${it.name}, attempt ${it.attempt}: ${it.stage}`),
    s("path", { d: `M${it.x} ${yOf(it.from)}V${yOf(it.to)}`, class: ["call", look] }),
    it.fresh && it.attempt > 0 && s("text", { x: it.x - 6, y: yOf(it.from) + 4, "text-anchor": "end", class: "attempt" }, it.attempt));
}

/** Everything that is drawn, in its order. */
function shapes(plan, wide) {
  return [
    plan.lifelines.map((it) => s("path", { d: `M${it.x} ${yOf(it.from)}V${yOf(it.to)}`, class: ["lifeline", it.look] })),
    plan.runs.map((it) => s("path", { d: `M${it.x} ${yOf(it.from)}V${yOf(it.to)}`, class: ["bar", it.running ? "running" : "held"] })),
    plan.calls.map(bar),
    plan.messages.map((it) => message(it, wide)),
    plan.marks.map(mark),
  ];
}

/** The rules of a step, each once. */
export const rulesOf = (event) => [...new Set(event.rules.map((rule) => rule.rule))];

/** An actor in few words. @param {string} who */
const short = (who) => who.replace(", a predecessor that does not know", " (predecessor)");

function row(step, index, at, violatedBefore, go) {
  const now = index + 1;
  const fresh = step.violated.filter((id) => !violatedBefore.includes(id));
  const rules = rulesOf(step.event);
  return h("li", { class: [now === at && "here", now > at && "ahead", step.event.fault && "fault"] },
    h("button", { type: "button", onclick: () => go(now), "aria-current": now === at ? "step" : null, title: step.event.text },
      h("span", { class: "n" }, now),
      h("span", { class: "words" }, step.event.fault && h("span", { class: "bolt", title: "a fault" }, "⚡ "), h("b", {}, short(step.event.who)), " ", step.event.text),
      fresh.map((id) => h("span", { class: "chip bad" }, id)),
      step.reaches.map((id) => h("span", { class: "chip reach" }, id)),
      h("span", { class: "rules" }, rules.slice(0, 4).join(" "), rules.length > 4 ? " …" : "")));
}

/** The step that led here, in full; at the beginning, where one might go. @param {HTMLElement} place @param {any} walk */
export function detail(place, walk) {
  const { reply } = walk;
  const known = reply.scenario.violated;
  const see = (id) => h("button", { type: "button", class: "link", onclick: () => walk.search({ goal: { property: id }, from: "start", what: id }) }, id);
  const step = reply.steps[reply.at - 1];
  replace(place, step
    ? [h("p", {}, h("span", { class: "n" }, `${reply.at} `), step.event.fault && "⚡ ", h("b", {}, step.event.who), " ", step.event.text),
      h("ul", {}, step.event.rules.map((rule) => h("li", {}, h("b", {}, rule.rule), ` ${rule.text}`)))]
    : h("p", { class: "quiet" }, "The beginning: nothing has happened yet. Choose what happens next, and make something go wrong.",
      known.length > 0 && [" Known to break here: ", known.map((id, index) => [index > 0 && ", ", see(id)]), known.length > 1 ? "; each opens the shortest run." : "; it opens the shortest run."]));
}

/** The width of a lane where there is so much room. */
const laneWidth = (room, lanes) => Math.max(44, Math.min(118, Math.floor(room / Math.max(lanes, 1))));

/**
 * The diagram of a run, with its events beside it.
 * @param {HTMLElement} place @param {any} reply @param {(at: number) => void} go
 */
export function diagram(place, reply, go) {
  const narrow = place.clientWidth < 620;
  const count = reply.lanes.filter((lane) => lane.kind !== "run").length;
  const width = laneWidth(narrow ? place.clientWidth - 20 : place.clientWidth * 0.56, count);
  const plan = layout(reply, width);
  const at = reply.at;
  const picture = s("svg", { width: plan.width, height: plan.height, viewBox: `0 0 ${plan.width} ${plan.height}`, class: "picture", role: "img", "aria-label": `A space-time diagram of ${reply.steps.length} steps; the same events are listed beside it` },
    s("rect", { x: 0, y: yOf(at) - ROW / 2, width: plan.width, height: ROW, class: "current" }),
    shapes(plan, width >= 84),
    reply.steps.length > at && s("rect", { x: 0, y: yOf(at) + ROW / 2, width: plan.width, height: plan.height, class: "veil" }),
    reply.steps.map((_, index) => s("rect", { x: 0, y: yOf(index + 1) - ROW / 2, width: plan.width, height: ROW, class: "hit", onclick: () => go(index + 1) })));
  const heads = h("div", { class: "heads" }, plan.lanes.map((lane) => h("div", { class: ["head", lane.kind], style: null, "data-lane": lane.id, title: lane.name },
    lane.kind === "incarnation" ? [h("b", {}, lane.name.split(",")[0]), h("span", {}, lane.name.split(",")[1]?.replace(" incarnation ", "#"))] : h("b", {}, lane.name))));
  for (const head of heads.children) head.style.width = `${width}px`;
  const list = h("ol", { class: "events", "aria-label": "What has happened" },
    h("li", { class: ["begin", at === 0 && "here"] }, h("button", { type: "button", onclick: () => go(0), "aria-current": at === 0 ? "step" : null }, h("span", { class: "n" }, "0"), h("span", { class: "words" }, "the beginning"))),
    reply.steps.map((step, index) => row(step, index, at, index ? reply.steps[index - 1].violated : [], go)));
  const scroll = place.querySelector(".scroll")?.scrollTop ?? 0;
  const body = h("div", { class: ["scroll", narrow && "narrow"] }, heads, h("div", { class: "both" }, picture, list));
  replace(place, body);
  picture.style.flexBasis = `${plan.width}px`;
  list.style.paddingTop = `${TOP - ROW / 2}px`;
  body.scrollTop = scroll;
  const y = yOf(at) + heads.offsetHeight;
  if (y < body.scrollTop + 80 || y > body.scrollTop + body.clientHeight - 60) body.scrollTop = y - body.clientHeight * 0.6;
}

/** The diagram as a picture of its own: its texts in it, and its style. @param {any} reply @param {string} style */
export function standalone(reply, style) {
  const width = 118;
  const plan = layout(reply, width);
  const head = 34;
  const longest = Math.max(0, ...reply.steps.map((step) => step.event.who.length + step.event.text.length + rulesOf(step.event).join(" ").length));
  const texts = 60 + longest * 7;
  const picture = s("svg", { xmlns: "http://www.w3.org/2000/svg", width: plan.width + texts, height: plan.height + head, viewBox: `0 ${-head} ${plan.width + texts} ${plan.height + head}`, class: "picture alone" },
    s("style", {}, style),
    s("rect", { x: 0, y: -head, width: plan.width + texts, height: plan.height + head, class: "paper" }),
    plan.lanes.map((lane) => s("text", { x: lane.x, y: -head + 20, "text-anchor": "middle", class: "lane" }, lane.name.replace(", incarnation ", " #"))),
    shapes(plan, true),
    reply.steps.map((step, index) => s("text", { x: plan.width + 8, y: yOf(index + 1) + 4, class: ["event", step.event.fault && "fault"].filter(Boolean).join(" "), "data-step": index + 1 },
      `${index + 1}  ${step.event.fault ? "⚡ " : ""}${step.event.who}: ${step.event.text}`, s("tspan", { class: "rule" }, `  ${rulesOf(step.event).join(" ")}`))));
  return picture;
}
