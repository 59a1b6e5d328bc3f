// The page as a whole: which part of it is shown, by its address.

import { addressOf, placeOf } from "./address.js";
import { h, notice, replace } from "./dom.js";
import { explore } from "./explore.js";
import { help } from "./keys.js";
import { library } from "./library.js";
import { matrix } from "./matrix.js";
import { ask } from "./net.js";
import { importFile } from "./share.js";

const main = document.getElementById("main");

/** @type {Record<string, {name: string, show: (main: HTMLElement, place: any) => Promise<void>}>} */
const PAGES = {
  library: { name: "Scenarios", show: library },
  matrix: { name: "Matrix", show: matrix },
  explore: { name: "", show: explore },
};

function links(page) {
  const link = ([key, { name }]) =>
    name && h("a", { href: key === "library" ? "#/" : `#/${key}`, "aria-current": key === page ? "page" : null }, name);
  replace(document.getElementById("pages"), Object.entries(PAGES).map(link));
}

async function show() {
  for (const dialog of document.querySelectorAll("dialog[open]")) dialog.close();
  try {
    const place = await placeOf(location.hash);
    const page = PAGES[place.page] ?? PAGES.library;
    links(place.page);
    document.body.dataset.page = place.page;
    await page.show(main, place);
  } catch (error) {
    document.title = "Oncemore explorer";
    replace(main, h("div", { class: "sorry", role: "alert" }, h("h1", {}, "This cannot be shown"), h("p", {}, error.message),
      (error.complaints ?? []).map((it) => h("p", { class: "quiet" }, it.line ? `Line ${it.line}, column ${it.column}: ` : "", it.message)),
      h("p", {}, h("a", { href: "#/" }, "All scenarios"))));
  }
}

function themes() {
  const order = ["auto", "light", "dark"];
  const words = { auto: ["◐", "Auto"], light: ["☀", "Light"], dark: ["☾", "Dark"] };
  let now = "auto";
  try {
    now = localStorage.getItem("theme") ?? "auto";
  } catch { /* There need be no storage. */ }
  if (!order.includes(now)) now = "auto";
  const button = h("button", { type: "button", class: "plain", onclick: () => set(order[(order.indexOf(now) + 1) % 3]) });
  function set(theme) {
    now = theme;
    document.documentElement.dataset.theme = theme;
    replace(button, words[theme][0], h("span", { class: "wordy" }, ` ${words[theme][1]}`));
    button.title = `Colours: ${theme}`;
    try {
      localStorage.setItem("theme", theme);
    } catch { /* There need be no storage. */ }
  }
  set(now);
  return button;
}

function drops() {
  addEventListener("dragover", (event) => {
    event.preventDefault();
    document.body.classList.add("dropping");
  });
  addEventListener("dragleave", () => document.body.classList.remove("dropping"));
  addEventListener("drop", async (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    const file = event.dataTransfer?.files[0];
    if (file) await importFile(file).catch((error) => notice(error.message, "bad"));
  });
}

async function begin() {
  replace(document.getElementById("tools"), h("button", { type: "button", class: "plain", onclick: help, title: "Keys and help" }, "?", h("span", { class: "wordy" }, " Help")), themes());
  drops();
  addEventListener("hashchange", show);
  if (!location.hash) {
    const { start } = await ask("start").catch(() => ({ start: null }));
    if (start) {
      history.replaceState(null, "", await addressOf({ page: "explore", scenario: start.scenario, path: start.path, at: start.path.length }));
    }
  }
  await show();
}

begin();
