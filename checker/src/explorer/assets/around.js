// What lies around: a few random runs from here, and the states a few steps away.

import { h, notice, replace, s } from "./dom.js";
import { ask } from "./net.js";

/** @param {any} run @param {any} walk */
function sample(run, walk) {
  return h("li", {}, h("button", { type: "button", onclick: () => walk.follow(run.path) },
    h("span", {}, `${run.steps} steps `, run.violated.map((id) => h("span", { class: "chip bad" }, id)), run.reached.map((id) => h("span", { class: "chip reach" }, id))),
    h("span", { class: "quiet small" }, run.account.map((line) => line.split(";")[0].replace(/ \((un)?marked\)/, "")).join(" · "))));
}

const COLUMN = 200;
const LINE = 26;

/** States by how far away they are, from left to right. */
function drawn(graph, walk) {
  const columns = [];
  graph.nodes.forEach((node, index) => (columns[node.depth] ??= []).push(index));
  const tallest = Math.max(...columns.map((column) => column.length));
  const height = tallest * LINE + 20;
  const at = graph.nodes.map(() => ({ x: 0, y: 0 }));
  columns.forEach((column, depth) => column.forEach((index, place) => {
    at[index] = { x: 16 + depth * COLUMN, y: height / 2 + (place - (column.length - 1) / 2) * LINE };
  }));
  const edge = (it) => {
    const [from, to] = [at[it.from], at[it.to]];
    const bend = from === to ? `C${from.x + 40} ${from.y - 30} ${from.x - 40} ${from.y - 30}` : `C${from.x + COLUMN / 2} ${from.y} ${to.x - COLUMN / 2} ${to.y}`;
    return s("path", { d: `M${from.x} ${from.y}${bend} ${to.x} ${to.y}`, class: ["edge", it.fault && "fault"] }, s("title", {}, it.text));
  };
  const first = new Map();
  for (const it of graph.edges) if (!first.has(it.to) && it.from !== it.to) first.set(it.to, it);
  const node = (it, index) => {
    const { x, y } = at[index];
    const by = first.get(index);
    const name = `${by ? by.text : "this state"}${it.violated.length ? `; violates ${it.violated.join(", ")}` : ""}${it.last ? "; the end" : ""}`;
    const go = () => walk.follow(it.path);
    return s("g", { class: ["node", it.violated.length && "bad", it.last && "last"], transform: `translate(${x} ${y})`, role: "button", tabindex: 0, "aria-label": name, onclick: go, onkeydown: (event) => (event.key === "Enter" || event.key === " ") && go() },
      s("title", {}, name), s("circle", { r: 7 }), s("text", { x: 12, y: 4 }, by ? by.text.slice(0, 26) + (by.text.length > 26 ? "…" : "") : "here"));
  };
  const width = columns.length * COLUMN + 20;
  return s("svg", { class: "graph", width, height, viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${graph.nodes.length} states nearby` }, graph.edges.map(edge), graph.nodes.map(node));
}

/** @param {any} walk @returns {HTMLElement[]} */
export function aroundPanel(walk) {
  const here = () => walk.path.slice(0, walk.at);
  const samples = h("ul", { class: "samples" });
  let seed = 1;
  const draw = async () => {
    try {
      const { runs } = await ask("sample", { scenario: walk.scenario, path: here(), runs: 12, seed: seed++ });
      replace(samples, runs.map((run) => sample(run, walk)));
    } catch (error) {
      notice(error.message, "bad");
    }
  };
  const depth = h("select", { "aria-label": "How many steps away", class: "short" }, [1, 2, 3, 4].map((it) => h("option", { value: it, selected: it === 2 }, `${it} step${it > 1 ? "s" : ""}`)));
  const place = h("div", { class: "wide near", tabindex: 0, role: "region", "aria-label": "States nearby" });
  const near = async () => {
    try {
      const graph = await ask("graph", { scenario: walk.scenario, path: here(), depth: Number(depth.value) });
      replace(place, drawn(graph, walk), graph.cut && h("p", { class: "quiet" }, "There are more: only the nearest are drawn."));
    } catch (error) {
      notice(error.message, "bad");
    }
  };
  return [
    h("h3", {}, "Runs at random, from here"), h("div", { class: "bar" }, h("button", { type: "button", onclick: draw }, "Draw twelve")), samples,
    h("h3", {}, "States nearby"), h("div", { class: "bar" }, h("button", { type: "button", onclick: near }, "Draw them"), depth), place,
  ];
}
