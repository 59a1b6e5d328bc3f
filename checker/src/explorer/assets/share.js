// Sharing: the address, files in many forms, and files dropped on the page.

import { addressOf } from "./address.js";
import { standalone } from "./diagram.js";
import { h, notice } from "./dom.js";
import { ROW, TOP } from "./layout.js";
import { ask } from "./net.js";

/** @param {string} name @param {BlobPart} content @param {string} type */
function download(name, content, type) {
  const url = URL.createObjectURL(new Blob([content], { type }));
  h("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** @param {string} text @param {string} what */
async function copy(text, what) {
  await navigator.clipboard.writeText(text);
  notice(`${what} copied.`);
}

const KINDS = { json: ["json", "application/json"], itf: ["itf.json", "application/json"], mermaid: ["mmd", "text/plain"], dot: ["dot", "text/vnd.graphviz"], text: ["txt", "text/plain"] };

async function write(walk, format) {
  const path = walk.path.slice(0, walk.at);
  const { text, name } = await ask("export", { scenario: walk.scenario, path, format });
  const [ending, type] = KINDS[format];
  download(`${name}.${ending}`, text, type);
}

async function drawing(walk) {
  const style = await (await fetch("style.css")).text();
  const picture = standalone({ ...walk.reply, steps: walk.reply.steps.slice(0, walk.at) }, style);
  return new XMLSerializer().serializeToString(picture);
}

async function png(walk) {
  const text = await drawing(walk);
  const picture = new Image();
  picture.src = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  await picture.decode();
  const canvas = h("canvas", { width: picture.naturalWidth * 2, height: picture.naturalHeight * 2 });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  const blob = await new Promise((resolve) => canvas.toBlob(resolve, "image/png"));
  download(`${walk.reply.scenario.name}.png`, blob, "image/png");
}

/** The run as a page of its own, which needs nothing and nobody. */
async function page(walk) {
  const [style, player] = await Promise.all(["style.css", "player.js"].map(async (name) => (await fetch(name)).text()));
  const path = walk.path.slice(0, walk.at);
  const states = [];
  for (let at = 0; at <= path.length; at += 1) {
    const { state, properties, account } = await ask("state", { scenario: walk.scenario, path, at });
    states.push({ state, account, violated: properties.filter((it) => it.here === "violated").map((it) => it.id) });
  }
  const reply = { ...walk.reply, at: walk.at, steps: walk.reply.steps.slice(0, walk.at) };
  const data = { row: ROW, top: TOP, events: reply.steps.map((step) => step.event), states };
  const picture = new XMLSerializer().serializeToString(standalone(reply, ""));
  const { name, about } = walk.reply.scenario;
  const safe = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${safe(name)} · Oncemore</title><style>${style}</style></head>
<body class="offline"><header class="top"><b>${safe(name)}</b> <span class="quiet">${safe(about)}</span></header>
<main><div class="wide">${picture}</div><aside><div class="bar"><button id="back">←</button><button id="on">→</button><span id="where" role="status"></span></div>
<p id="said"></p><ul id="rules" class="small quiet"></ul><p id="broken"></p><h3>What really happened</h3><ul id="account" class="account"></ul><h3>The state</h3><div id="state" class="tree"></div></aside></main>
<script type="application/json" id="data">${JSON.stringify(data).replaceAll("<", "\\u003c")}</script>
<script>${player}</script></body></html>
`;
}

/** @param {any} walk */
export function shareMenu(walk) {
  const act = (name, what) => h("button", { type: "button", role: "menuitem", onclick: async () => {
    menu.removeAttribute("open");
    try {
      await what();
    } catch (error) {
      notice(error.message, "bad");
    }
  } }, name);
  const named = walk.scenario.name ?? walk.reply.scenario.name;
  const menu = h("details", { class: "menu" }, h("summary", {}, "Share"),
    h("div", { role: "menu" },
      act("Copy the address", () => copy(location.href, "The address")),
      act("Copy the replay command", () => copy(`oncemore replay ${named}.json`, "The command")),
      h("hr"),
      act("JSON, for replay and for this page", () => write(walk, "json")), act("ITF", () => write(walk, "itf")), act("Mermaid", () => write(walk, "mermaid")), act("DOT", () => write(walk, "dot")), act("Text", () => write(walk, "text")),
      act("SVG", async () => download(`${named}.svg`, await drawing(walk), "image/svg+xml")), act("PNG", () => png(walk)),
      act("A page that plays it back", async () => download(`${named}.html`, await page(walk), "text/html")),
      h("hr"),
      act("The scenario as TOML", async () => {
        const { toml } = await ask("scenario", { scenario: walk.scenario });
        download(`${named}.toml`, toml, "application/toml");
      })));
  menu.addEventListener("keydown", (event) => {
    if (event.key === "Escape") {
      menu.removeAttribute("open");
      menu.querySelector("summary").focus();
      event.stopPropagation();
    }
  });
  document.addEventListener("click", (event) => menu.contains(event.target) || menu.removeAttribute("open"));
  return menu;
}

/** Opens a trace or a scenario from a file. @param {File} file */
export async function importFile(file) {
  if (file.size > 3_000_000) throw new Error(`${file.name} is larger than 3 MB: no trace and no scenario is.`);
  const text = await file.text();
  if (file.name.endsWith(".toml")) {
    location.hash = await addressOf({ page: "explore", scenario: { toml: text }, path: [] });
    return;
  }
  const { scenario, path } = await ask("import", { text });
  location.hash = await addressOf({ page: "explore", scenario, path, at: path.length });
  notice(`${file.name}: ${path.length} steps, replayed.`);
}
