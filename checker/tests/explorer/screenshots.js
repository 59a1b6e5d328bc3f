// The pictures of docs/explorer.md.

import { browser, explorer, page } from "./browser.js";
import { open, stands } from "./walk.js";

const folder = new URL("../../../docs/explorer/", import.meta.url).pathname;
const server = await explorer();
const { context, end } = await browser();
try {
  const it = await page(context);
  await it.emulateMedia({ reducedMotion: "reduce" });
  const show = async (name, colorScheme, width, height, part) => {
    await it.emulateMedia({ colorScheme });
    await it.setViewportSize({ width, height });
    await open(it, server.address, "late-write");
    if (width < 1000) await it.getByRole("button", { name: "Understand" }).click();
    await it.getByRole("button", { name: "Jump to P14", exact: true }).click();
    await stands(it, 18);
    if (part) await it.getByRole("button", { name: part, exact: true }).click();
    await it.waitForTimeout(400);
    await it.screenshot({ path: `${folder}${name}.png` });
  };
  await show("light", "light", 1600, 900);
  await show("dark", "dark", 1600, 900);
  await show("narrow", "light", 390, 844, "Diagram");
} finally {
  await end();
  await server.end();
}
