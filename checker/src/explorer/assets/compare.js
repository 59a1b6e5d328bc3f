// Two designs side by side on the same steps and the same faults.

import { addressOf } from "./address.js";
import { rulesOf } from "./diagram.js";
import { h, notice, replace } from "./dom.js";
import { ask } from "./net.js";

function line(step, number, side) {
  if (!step) return h("td", { class: "none" }, side === "right" ? "cannot happen here" : "");
  return h("td", { class: step.event.fault && "fault" }, h("span", { class: "n" }, number), h("span", {}, step.event.fault && "⚡ ", h("b", {}, step.event.who), " ", step.event.text, " ", h("span", { class: "rules" }, rulesOf(step.event).join(" "))));
}

function verdict(side) {
  const broken = side.properties.filter((it) => it.here === "violated").map((it) => it.id);
  return h("div", {}, h("h3", {}, "In the end"), broken.length ? h("p", {}, broken.map((id) => h("span", { class: "chip bad" }, id))) : h("p", {}, h("span", { class: "chip good" }, "nothing is violated here")),
    h("ul", { class: "account" }, side.account.map((text) => h("li", {}, text))));
}

function table(said) {
  const { left, right, rows, first_difference: first } = said;
  const name = (side) => `${side.scenario.design}${side.scenario.fenced ? ", fenced" : ", unfenced"}`;
  return h("table", { class: "compare" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, name(left)), h("th", { scope: "col" }, name(right)))),
    h("tbody", {}, rows.map((row, index) => h("tr", { class: [!row.same && "differs", index === first && "first"], "data-first": index === first ? "" : null },
      line(row.left && left.steps[row.left - 1], row.left, "left"), line(row.right && right.steps[row.right - 1], row.right, "right")))),
    h("tfoot", {}, h("tr", {}, h("td", {}, verdict(left)), h("td", {}, verdict(right)))));
}

/** Opens the comparison over the page. @param {any} walk */
export async function compare(walk) {
  const { value } = await ask("scenario", { scenario: walk.scenario });
  const store = value.store;
  const option = (name, now) => h("option", { value: name, selected: name === now }, name);
  const designs = ["D0", "D1", "D2", "D3", "D4", "D5"];
  const design = h("select", { "aria-label": "The other design" }, designs.map((it) => option(it, store.design)));
  const fenced = h("input", { type: "checkbox", checked: !store.fenced });
  const place = h("div", { class: "wide", role: "region", "aria-label": "The comparison", tabindex: 0 });
  const difference = h("p", { role: "status" });
  let other;
  async function show() {
    try {
      const changed = { ...value, store: { ...store, design: design.value, fenced: fenced.checked && design.value !== "D0" }, expect: { violated: [], reached: [], unreached: [], because: {} } };
      const { toml } = await ask("scenario", { value: changed });
      other = { toml };
      const said = await ask("compare", { scenario: walk.scenario, other, path: walk.path.slice(0, walk.at) });
      other.path = said.right.path;
      replace(place, table(said));
      const first = said.first_difference;
      replace(difference, first === null ? "Both go the same way." : ["The first difference is ", h("button", { type: "button", class: "link", onclick: () => place.querySelector("[data-first]").scrollIntoView({ block: "center" }) }, `step ${said.rows[first].left ?? said.rows[first].right}`), "."]);
    } catch (error) {
      replace(place, h("p", { class: "bad", role: "alert" }, error.message), (error.complaints ?? []).map((it) => h("p", { class: "quiet" }, it.message)));
      replace(difference);
    }
  }
  design.addEventListener("change", show);
  fenced.addEventListener("change", show);
  const dialog = h("dialog", { class: "large", "aria-labelledby": "compare-title" },
    h("h2", { id: "compare-title" }, "The same steps and faults, another store"),
    h("div", { class: "bar" }, h("label", {}, "beside ", design), h("label", {}, fenced, " fenced"), difference, h("span", { class: "grow" }),
      h("button", { type: "button", onclick: async () => {
        try {
          dialog.close();
          location.hash = await addressOf({ page: "explore", scenario: { toml: other.toml }, path: other.path ?? [] });
        } catch (error) {
          notice(error.message, "bad");
        }
      } }, "Open the other"), h("button", { type: "button", onclick: () => dialog.close() }, "Close")), place);
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  dialog.showModal();
  await show();
}
