// 6. Compare: the matrix, and two designs side by side.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../suite.js";
import { calm, open, says, stands } from "../walk.js";

const it = suite();

test("a cell of the matrix opens its run", async () => {
  const { page, address } = it;
  await page.goto(`${address}#/matrix`);
  await page.getByRole("button", { name: /^D1 fenced watermark fail, one caller, restart: violated 1/ }).click();
  await page.waitForFunction(() => document.body.dataset.at > 3);
  assert.equal(await says(page, "P1"), "violated here");
  calm(page);
});

test("two designs on the same faults, with the first difference marked", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await page.getByRole("button", { name: "Jump to P14", exact: true }).click();
  await stands(page, 18);
  await page.getByRole("button", { name: "Compare …" }).click();
  await page.locator("table.compare").waitFor();
  const first = page.locator("tr.first");
  assert.match(await first.innerText(), /lets attempt 1 of set-4 in[\s\S]*refuses attempt 1 of set-4/);
  assert.match(await page.locator("table.compare tfoot").innerText(), /P14[\s\S]*nothing is violated here/);
  await page.getByRole("button", { name: "Open the other" }).click();
  await page.locator("h1 .chip", { hasText: "D3 fenced" }).waitFor();
  calm(page);
});
