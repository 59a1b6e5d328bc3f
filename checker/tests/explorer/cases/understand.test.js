// 4. Understand: properties at this very state, the state and its diff, what user code sees.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../suite.js";
import { calm, LOST_UPDATE, open, says, stands, take } from "../walk.js";

const it = suite();

test("a property can still be violated from here, or never, or not within so many states", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await take(page, LOST_UPDATE[0], LOST_UPDATE[1]);
  assert.equal(await says(page, "P14"), "holds here");
  await page.getByRole("button", { name: "Can P14 still be violated from here?" }).click();
  await stands(page, 18);
  assert.equal(await says(page, "P14"), "violated here");
  await page.locator(".properties .search-result", { hasText: "16 steps from here" }).waitFor();
  await page.locator(".pane.properties details summary").click();
  await page.getByRole("button", { name: "Can P1 still be violated from here?" }).click();
  await page.locator(".properties .search-result", { hasText: "P1: never from here" }).waitFor();
  await open(page, address, "deep");
  await page.getByRole("tab", { name: "Find" }).click();
  await page.getByLabel("states", { exact: true }).fill("2000");
  await page.getByLabel("A question about states").fill("violated.P3");
  await page.getByRole("button", { name: "Nearest from here" }).click();
  await page.locator(".find .search-result", { hasText: "not found within" }).waitFor();
  assert.equal(await page.getByRole("button", { name: "Look ten times longer" }).first().isVisible(), true);
  calm(page);
});

test("the state is a tree with what changed, and can be filtered", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await take(page, LOST_UPDATE[0], LOST_UPDATE[1]);
  await page.getByRole("tab", { name: "State" }).click();
  const tree = page.locator(".tree");
  assert.match(await tree.innerText(), /connection\s*open → dropped/);
  await page.getByLabel("only what changed").check();
  assert.doesNotMatch(await tree.innerText(), /incarnations/);
  await page.getByLabel("only what changed").uncheck();
  await page.getByLabel("Filter the state").fill("object");
  assert.doesNotMatch(await tree.innerText(), /cutoff_ms/);
  calm(page);
});

test("what user code sees: a value, or an error with its fields", async () => {
  const { page, address } = it;
  await open(page, address, "doubt");
  await page.getByRole("button", { name: "Jump to R2", exact: true }).click();
  await page.waitForFunction(() => Number(document.body.dataset.at) > 0);
  await page.getByRole("tab", { name: "User code" }).click();
  const said = await page.locator(".sights li.error").first().innerText();
  assert.match(said, /kind\s+disconnected/);
  assert.match(said, /delivery\s+may have run/);
  assert.match(said, /message\s+attempt \d/);
  calm(page);
});
