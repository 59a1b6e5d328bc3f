// 5. Find: witnesses, rules, questions, random runs, states nearby.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../suite.js";
import { at, calm, open, stands, take } from "../walk.js";

const it = suite();
const find = (page) => page.getByRole("tab", { name: "Find" }).click();

test("a check offers every counterexample and witness", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await page.getByRole("button", { name: "Check all runs" }).click();
  await page.locator("[data-jump=R1]").click();
  await page.waitForFunction(() => document.body.dataset.at > 5);
  assert.match(await page.locator("[data-property=R1]").innerText(), /witnessed/);
  calm(page);
});

test("step until a rule is taken", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await find(page);
  await page.getByLabel("A branch of a rule").selectOption("MarkAdmitsDuplicate");
  await page.getByRole("button", { name: "Step until it is taken" }).click();
  await page.waitForFunction(() => document.body.dataset.at > 5);
  assert.match(await page.locator(".detail").innerText(), /G3/);
  calm(page);
});

test("a question about states is suggested, explained and answered", async () => {
  const { page, address } = it;
  await open(page, address, "zombie");
  await find(page);
  const question = page.getByLabel("A question about states");
  await question.fill("set.sta");
  await page.locator(".find p", { hasText: "set.starts" }).waitFor();
  assert.ok((await page.locator("#terms option").evaluateAll((all) => all.map((it) => it.value))).includes("object.owner"));
  await question.fill("set.stage = failed and object.owner > 1");
  await page.locator(".find p", { hasText: "not so here" }).waitFor();
  await page.getByRole("button", { name: "Nearest from here" }).click();
  await page.waitForFunction(() => document.body.dataset.at > 3);
  await page.getByRole("tab", { name: "User code" }).click();
  assert.match(await page.locator("ul.sights").innerText(), /an error/);
  calm(page);
});

test("runs at random, and the states nearby", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await take(page, "sends attempt 1 of set-4");
  await find(page);
  await page.getByRole("button", { name: "Draw them" }).click();
  await page.locator(".graph .node").nth(2).waitFor();
  await page.locator(".graph .node").nth(2).click();
  await page.waitForFunction(() => document.body.dataset.at === "2");
  await page.getByRole("button", { name: "Draw twelve" }).click();
  await page.locator(".samples button").first().click();
  await page.waitForFunction(() => document.body.dataset.at > 6);
  assert.ok(await at(page) > 6);
  calm(page);
});
