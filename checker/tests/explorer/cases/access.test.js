// 8. By keyboard alone, with roles and names, light and dark, narrow and wide, without motion if asked.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import { suite } from "../suite.js";
import { calm, open, says, stands } from "../walk.js";

const it = suite({ options: { bypassCSP: true } });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

async function audit(page, what) {
  await page.evaluate(axe);
  const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
  const serious = violations.filter((it) => it.impact === "serious" || it.impact === "critical");
  assert.deepEqual(serious.map((it) => `${what}: ${it.id}: ${it.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" | ")}`), []);
}

test("the lost update is found by keyboard alone", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await page.keyboard.press("1");
  await stands(page, 1);
  await page.keyboard.press("f");
  await page.keyboard.press("Enter");
  await stands(page, 2);
  await page.keyboard.press("u");
  await stands(page, 1);
  await page.keyboard.press("r");
  await stands(page, 2);
  await page.keyboard.press("?");
  await page.getByRole("dialog", { name: "Keys and marks" }).waitFor();
  await page.keyboard.press("Escape");
  await page.locator("[aria-label='Can P14 still be violated from here?']").focus();
  await page.keyboard.press("Enter");
  await stands(page, 18);
  assert.equal(await says(page, "P14"), "violated here");
  await page.keyboard.press("t");
  assert.equal(await page.getByRole("tab", { name: "State" }).getAttribute("aria-selected"), "true");
  await page.keyboard.press("Home");
  await stands(page, 0);
  calm(page);
});

for (const colorScheme of ["light", "dark"]) {
  for (const width of [390, 1600]) {
    test(`nothing serious is found in ${colorScheme} at ${width} pixels`, async () => {
      const { page, address } = it;
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      await page.setViewportSize({ width, height: 900 });
      const fits = async (what) => assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${what} is wider than ${width}`);
      await page.goto(address);
      await page.locator("table.library").waitFor();
      await audit(page, "library");
      await fits("library");
      await page.goto(`${address}#/matrix`);
      await page.locator("table.matrix").waitFor();
      await audit(page, "matrix");
      await fits("matrix");
      await open(page, address, "late-write");
      if (width === 390) await page.getByRole("button", { name: "Understand" }).click();
      await page.getByRole("button", { name: "Jump to P14", exact: true }).click();
      await stands(page, 18);
      for (const tab of ["Properties", "User code", "State", "Find"]) {
        await page.getByRole("tab", { name: tab }).click();
        await audit(page, tab);
      }
      if (width === 390) {
        for (const part of ["Next", "Diagram"]) {
          await page.getByRole("button", { name: part, exact: true }).click();
          await audit(page, part);
        }
      }
      await fits("explorer");
      for (const [button, dialog] of [["Compare …", "compare"], ["Change …", "form"]]) {
        await page.getByRole("button", { name: button }).click();
        await page.locator(`dialog ${dialog === "form" ? "textarea" : "table.compare"}`).waitFor();
        await audit(page, dialog);
        await page.keyboard.press("Escape");
      }
      calm(page);
    });
  }
}

test("nothing moves if that is asked", async () => {
  const { page } = it;
  await page.emulateMedia({ reducedMotion: "reduce" });
  assert.equal(await page.evaluate(() => getComputedStyle(document.querySelector("button")).transitionDuration), "0s");
});
