// The matrix: every design of the claim store in every world; a cell opens its run.

import { addressOf } from "./address.js";
import { h, notice, replace } from "./dom.js";
import { ask, job } from "./net.js";

const short = (name) => name.replaceAll("+", " + ");

/** Opens the shortest run that violates a property in a cell. */
async function open(scenario, property, told) {
  told.textContent = `Looking for ${property} in ${scenario} …`;
  const { ended } = job({ kind: "search", scenario: { name: scenario }, path: [], goal: { property }, states_max: 20_000_000, seconds: 120 }, (status) => {
    told.textContent = `Looking for ${property} in ${scenario}: ${status.states.toLocaleString("en-GB")} states`;
  });
  const { result, stage } = await ended;
  told.textContent = "";
  if (stage === "failed") return notice(result.error.message, "bad");
  location.hash = await addressOf({ page: "explore", scenario: { name: scenario }, path: result.path ?? [] });
}

function cell(it, world, row, chosen, told) {
  if (it.no) return h("td", { class: "no", title: it.no }, h("span", { class: "unseen" }, `does not apply: ${it.no}`));
  const broken = Object.keys(it.violated).filter((id) => chosen === "all" || id === chosen).sort((a, b) => a.slice(1) - b.slice(1));
  const unseen = (text) => h("span", { class: "unseen" }, text);
  const title = broken.length ? broken.map((id) => `${id}: ${it.violated[id] ?? "violated"}`).join("\n") : "holds: open the scenario";
  const act = async () => {
    try {
      if (broken.length) await open(it.scenario, broken[0], told);
      else location.hash = await addressOf({ page: "explore", scenario: { name: it.scenario }, path: [] });
    } catch (error) {
      notice(error.message, "bad");
    }
  };
  return h("td", {}, h("button", { type: "button", class: ["cell", broken.length ? "bad" : "good"], title, "data-scenario": it.scenario, onclick: act }, unseen(`${row.name}, ${world}: ${broken.length ? "violated " : "holds "}`), broken.length ? broken.map((id) => id.slice(1)).join(" ") : "✓"));
}

/** @param {HTMLElement} main */
export async function matrix(main) {
  document.title = "Matrix · Oncemore explorer";
  const { worlds, rows, properties } = await ask("matrix");
  const told = h("p", { class: "quiet", role: "status" });
  const place = h("div", { class: "wide" });
  const select = (label, options) => h("select", { "aria-label": label, onchange: show }, options.map(([value, name]) => h("option", { value }, name)));
  const callers = select("Callers", [["1", "one caller"], ["2", "two callers"]]);
  const retention = select("Retention", [["watermark", "watermark"], ["time", "time"]]);
  const fresh = select("After a rejected first attempt (C5)", [["false", "C5 fail"], ["true", "C5 fresh"]]);
  const property = select("Promise", [["all", "every promise"], ...properties.map((it) => [it.id, `${it.id}: ${it.claim}`])]);
  const reasons = h("ul", { class: "quiet reasons" });
  function show() {
    const wanted = rows.filter((row) => String(row.callers) === callers.value && (row.retention === retention.value || row.design === "D0") && String(row.fresh) === fresh.value);
    const seen = wanted.filter((row) => row.cells.some((it) => !it.no));
    const why = [...new Set(seen.flatMap((row) => row.cells.map((it) => it.no).filter(Boolean)))];
    replace(reasons, why.map((it) => h("li", {}, h("span", { class: "hatch", "aria-hidden": "true" }), it)));
    replace(place, h("table", { class: "matrix" },
      h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Store"), worlds.map((world) => h("th", { scope: "col" }, h("span", {}, short(world)))))),
      h("tbody", {}, seen.map((row) => h("tr", { class: row.default && "default" }, h("th", { scope: "row", title: row.name }, row.design, h("small", {}, row.design === "D0" ? "" : row.fenced ? " fenced" : " unfenced", row.default ? " · the default" : "")),
        row.cells.map((it, index) => cell(it, worlds[index], row, property.value, told)))))));
  }
  replace(main, h("div", { class: "page full" },
    h("h1", {}, "Every design of the store, in every world"),
    h("p", { class: "lead" }, "A red cell names the promises that are broken there (1 is P1). Open it to see the shortest run that breaks the first of them; a green one opens at the beginning."),
    h("div", { class: "bar selects" }, callers, retention, fresh, property), told, place, reasons));
  show();
}
