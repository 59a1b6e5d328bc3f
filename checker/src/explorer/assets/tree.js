// The state as a tree, and what the last step changed in it.

import { h, replace } from "./dom.js";

const isTree = (value) => value !== null && typeof value === "object";

/** What to call the items of a list, so that a diff compares like with like. */
function keyOf(item, index) {
  if (!isTree(item)) return String(index);
  if (item.load !== undefined) return `${item.call} attempt ${item.attempt}${item.copy ? ` copy ${item.copy}` : ""} ${item.load === "request" ? "request" : "answer"}`;
  if (item.owner !== undefined) return `object ${index}`;
  return String(item.name ?? (item.incarnation !== undefined ? `incarnation ${item.incarnation}` : index));
}

/** Children by name. */
function children(value) {
  if (Array.isArray(value)) {
    const plain = value.every((item) => !isTree(item));
    return new Map(value.map((item, index) => [plain ? String(item) : keyOf(item, index), plain ? true : item]));
  }
  return new Map(Object.entries(value));
}

/**
 * The two states as one tree.
 * @returns {{name: string, change: "same" | "new" | "gone" | "changed" | "inside", was?: any, is?: any, children?: any[]}}
 */
export function diff(name, was, is) {
  if (isTree(was) || isTree(is)) {
    const before = isTree(was) ? children(was) : new Map();
    const now = isTree(is) ? children(is) : new Map();
    const names = [...new Set([...now.keys(), ...before.keys()])];
    const parts = names.map((key) => diff(key, before.get(key), now.get(key)));
    const change = was === undefined ? "new" : is === undefined ? "gone" : parts.some((part) => part.change !== "same") ? "inside" : "same";
    return { name, change, children: parts };
  }
  return { name, change: was === undefined ? "new" : is === undefined ? "gone" : was === is ? "same" : "changed", was, is };
}

const say = (value) => (value === null || value === undefined ? "—" : value === true ? "yes" : value === false ? "no" : String(value));

function leaf(node) {
  const value = node.change === "changed" ? [h("del", {}, say(node.was)), " → ", h("ins", {}, say(node.is))]
    : node.change === "gone" ? h("del", {}, say(node.was)) : node.change === "new" ? h("ins", {}, say(node.is)) : say(node.is);
  const bare = node.is === true && node.change !== "changed" && !/^(draining|late)$/.test(node.name);
  return h("li", { class: node.change }, h("span", { class: "key" }, node.name), !bare && h("span", { class: "val" }, value));
}

function branch(node, wants, depth) {
  if (!node.children) return leaf(node);
  const shown = node.children.filter((child) => wants(child));
  const few = node.children.length === 0;
  return h("li", { class: node.change }, h("details", { open: depth < 3 || node.change !== "same" },
    h("summary", {}, h("span", { class: "key" }, node.name), few && h("span", { class: "val quiet" }, "none")),
    !few && h("ul", {}, shown.map((child) => branch(child, wants, depth + 1)))));
}

/** Whether the node or something in it is about one of whom the filter speaks. */
function speaksOf(node, text) {
  return node.name.toLowerCase().includes(text) || say(node.is).toLowerCase().includes(text) || (node.children ?? []).some((child) => speaksOf(child, text));
}

/** @param {HTMLElement} place @param {any} walk */
export function statePanel(place, walk) {
  const { state, before } = walk.reply;
  const text = (place.querySelector("input[type=search]")?.value ?? "").toLowerCase();
  const changed = place.querySelector("input[type=checkbox]")?.checked ?? false;
  const tree = diff("", before ?? state, state);
  const list = h("ul", { class: "tree" });
  function show() {
    const about = search.value.toLowerCase();
    const wants = (node) => !only.checked || node.change !== "same";
    const tops = tree.children.map((top) => ({ ...top, children: (top.children ?? []).filter((child) => !about || speaksOf(child, about)) }));
    replace(list, tops.filter((top) => wants(top) && (!about || top.children.length)).map((top) => branch(top, wants, 0)));
    if (!list.children.length) replace(list, h("li", { class: "quiet" }, only.checked ? "The last step changed nothing of this." : "Nothing is called so."));
  }
  const search = h("input", { type: "search", placeholder: "Filter by caller, call, object …", "aria-label": "Filter the state", oninput: show, value: text });
  const only = h("input", { type: "checkbox", onchange: show, checked: changed });
  replace(place, h("div", { class: "bar" }, search, h("label", {}, only, " only what changed")), list);
  show();
}
