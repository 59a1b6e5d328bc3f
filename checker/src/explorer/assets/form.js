// The scenario as a form, and as the text that it stands for.

import { addressOf } from "./address.js";
import { h, notice, replace } from "./dom.js";
import { ask } from "./net.js";

let fields;
const NAMES = { store: "How every object remembers", limits: "Every stub's limits", world: "Bounds of the world", faults: "What may go wrong, and how often" };

/** A field's control. @param {any} info @param {any} value @param {(value: any) => void} changed */
function control(info, value, changed) {
  const id = `field-${info.table}-${info.key}`;
  const { takes } = info;
  let input;
  if (takes.flag) input = h("input", { id, type: "checkbox", checked: value, onchange: () => changed(input.checked) });
  else if (takes.word) {
    input = h("select", { id, onchange: () => changed(input.value) }, takes.word.map((word) => h("option", { value: word, selected: word === value }, word)));
  } else if (takes.words) {
    input = h("span", { id }, takes.words.map((word) => {
      const box = h("input", { type: "checkbox", checked: (value ?? []).includes(word), onchange: () => changed([...input.querySelectorAll("input:checked")].map((it) => it.value)), value: word });
      return h("label", {}, box, ` ${word} `);
    }));
  } else if (takes.least !== undefined) {
    const read = () => changed(input.value === "" ? null : Number(input.value));
    input = h("input", { id, type: "number", min: takes.least, max: takes.greatest, value: value ?? "", placeholder: info.default, onchange: read });
  } else input = h("input", { id, type: "text", value: value ?? "", placeholder: info.default, onchange: () => changed(input.value === "" ? null : input.value) });
  return h("div", { class: "field", title: info.about }, h("label", { for: id }, info.key), input);
}

/** A table's fields. */
function group(table, value, changed, keys) {
  const its = fields.filter((info) => info.table === table && (!keys || keys.includes(info.key)));
  return its.map((info) => control(info, value[info.key], (now) => {
    value[info.key] = now;
    changed();
  }));
}

/** Opens the form. @param {any} walk */
export async function form(walk) {
  fields ??= (await ask("fields")).fields;
  const said = await ask("scenario", { scenario: walk.scenario });
  const value = said.value;
  const text = h("textarea", { rows: 26, spellcheck: "false", "aria-label": "The scenario as TOML", oninput: () => { edited = true; check(); } });
  text.value = said.toml;
  let edited = false;
  const trouble = h("div", { class: "trouble", role: "status" });
  const left = h("div", { class: "fields" });
  const apply = h("button", { type: "button", class: "primary", onclick: use }, "Explore it");

  function say(error) {
    replace(trouble, error.complaints?.length ? error.complaints.map((it) => h("p", { class: "bad" }, it.line ? `Line ${it.line}: ` : "", it.message)) : h("p", { class: "bad" }, error.message));
    apply.setAttribute("disabled", "");
  }
  function well() {
    replace(trouble, h("p", { class: "good" }, "It makes sense."));
    apply.removeAttribute("disabled");
  }
  /** The form has changed: so does the text. */
  async function write() {
    try {
      text.value = (await ask("scenario", { value: plain(value) })).toml;
      well();
    } catch (error) {
      say(error);
    }
  }
  let turn = 0;
  /** The text has changed: so does the form. */
  async function check() {
    const mine = ++turn;
    await new Promise((resolve) => setTimeout(resolve, 250));
    if (mine !== turn) return;
    try {
      const read = (await ask("scenario", { scenario: { toml: text.value } })).value;
      for (const key of Object.keys(value)) delete value[key];
      Object.assign(value, read);
      draw();
      well();
    } catch (error) {
      say(error);
    }
  }
  async function use() {
    const same = !edited && text.value === said.toml;
    dialog.close();
    if (!same) location.hash = await addressOf({ page: "explore", scenario: { toml: text.value }, path: [] });
  }
  function save() {
    const url = URL.createObjectURL(new Blob([text.value], { type: "application/toml" }));
    h("a", { href: url, download: `${value.name}.toml` }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
  }
  function changed() {
    edited = true;
    // What is expected of one scenario is not expected of another.
    value.expect = { violated: [], reached: [], unreached: [], because: {} };
    write();
  }
  function draw() {
    const part = (table, keys) => h("fieldset", {}, h("legend", {}, NAMES[table]), group(table, value[table], changed, keys));
    replace(left, h("fieldset", {}, h("legend", {}, "Scenario"), group("", value, changed, ["name", "about"])), part("store"), part("limits"), part("faults"), part("world"),
      value.caller.map((caller, index) => h("fieldset", {}, h("legend", {}, `Caller ${String.fromCharCode(65 + index)}`, value.caller.length > 1 && h("button", { type: "button", class: "link", onclick: () => { value.caller.splice(index, 1); draw(); changed(); } }, "remove")),
        group("caller", caller, changed, ["skew_ms", "concurrent"]),
        caller.call.map((call, place) => h("details", { class: "call" }, h("summary", {}, call.name, h("small", {}, call.marked ? " marked" : "", call.writes.length ? ` writes ${call.writes.join(", ")}` : " reads")), group("call", call, changed, ["name", "object", "marked", "writes", "awaits", "getter", "unknown", "kind", "session_of", "pipelined_on"]),
          caller.call.length > 1 && h("button", { type: "button", class: "link", onclick: () => { caller.call.splice(place, 1); draw(); changed(); } }, "remove this call"))),
        h("button", { type: "button", class: "small", onclick: () => { caller.call.push({ ...blank(value) }); draw(); changed(); } }, "Add a call"))),
      value.caller.length < 3 && h("button", { type: "button", class: "small", onclick: () => { value.caller.push({ skew_ms: 0, concurrent: false, call: [blank(value)] }); draw(); changed(); } }, "Add a caller"));
  }
  const dialog = h("dialog", { class: "large form", "aria-labelledby": "form-title" },
    h("div", { class: "bar" }, h("h2", { id: "form-title" }, "The scenario"), h("span", { class: "grow" }), trouble, apply, h("button", { type: "button", onclick: save }, "Save as TOML"), h("button", { type: "button", onclick: () => dialog.close() }, "Close")),
    h("div", { class: "halves" }, left, text));
  document.body.append(dialog);
  dialog.addEventListener("close", () => dialog.remove());
  draw();
  well();
  dialog.showModal();
}

/** A call of a name that is free. */
function blank(value) {
  const names = value.caller.flatMap((caller) => caller.call.map((call) => call.name));
  let number = names.length + 1;
  while (names.includes(`call-${number}`)) number += 1;
  return { name: `call-${number}`, object: 0, marked: false, believed_marked: null, writes: ["x"], awaits: false, getter: false, unknown: false, kind: "method", session_of: null, pipelined_on: null, inner: [] };
}

/** What was emptied is left out. */
function plain(value) {
  if (Array.isArray(value)) return value.map(plain);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== null).map(([key, part]) => [key, plain(part)]));
}
