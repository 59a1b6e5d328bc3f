// Elements made from plain values; text is always text.

/**
 * @typedef {Node | string | number | null | undefined | false | Child[]} Child
 */

/** @param {Element} node @param {Record<string, any>} attributes */
function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "class") node.setAttribute("class", Array.isArray(value) ? value.filter(Boolean).join(" ") : value);
    else if (name === "value" && "value" in node) node.value = value;
    else if (name === "checked" || name === "disabled" || name === "selected" || name === "open" || name === "hidden") {
      if (value) node.setAttribute(name, "");
    } else node.setAttribute(name, value === true ? "" : String(value));
  }
}

/** @param {Element} node @param {Child[]} children */
function fill(node, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : String(child));
  }
}

/**
 * An element.
 * @param {string} tag @param {Record<string, any>} [attributes] @param {...Child} children
 * @returns {HTMLElement}
 */
export function h(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  set(node, attributes);
  fill(node, children);
  return node;
}

/** The same for drawings. @param {string} tag @param {Record<string, any>} [attributes] @param {...Child} children */
export function s(tag, attributes = {}, ...children) {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  set(node, attributes);
  fill(node, children);
  return node;
}

/** Text in which names stand between backticks, as the scenarios write them. @param {string} text */
export function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? h("code", {}, part) : part));
}

/** Puts these in the place of all that is in there. @param {Element} node @param {...Child} children */
export function replace(node, ...children) {
  node.replaceChildren();
  fill(node, children);
  return node;
}

/** Says something that goes away by itself. @param {string} text @param {"info" | "bad"} [kind] */
export function notice(text, kind = "info") {
  const place = document.getElementById("notice");
  const line = h("p", { class: kind }, text);
  replace(place, line);
  setTimeout(() => line.remove(), kind === "bad" ? 9000 : 4000);
}

/** A number of things, in words. @param {number} number @param {string} noun */
export function counted(number, noun) {
  return `${number.toLocaleString("en-GB")} ${noun}${number === 1 ? "" : "s"}`;
}
