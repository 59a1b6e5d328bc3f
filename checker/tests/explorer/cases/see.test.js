// 2. See: the space-time diagram.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../suite.js";
import { calm, open, stands, take } from "../walk.js";

const it = suite();

test("lanes, arrows, marks with their rules, attempts with the waiting between", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await page.getByRole("button", { name: "Jump to P14", exact: true }).click();
  await stands(page, 18);
  assert.deepEqual(await page.locator(".heads .head").allInnerTexts().then((all) => all.map((text) => text.split("\n")[0])), ["caller A", "caller B", "directory", "object"]);
  for (const [what, selector] of [["claims", ".mark.claim"], ["starts", ".mark.start"], ["effects", ".mark.effect"], ["settlements", ".mark.answered"], ["resolves", ".mark.resolve"], ["a backoff", ".call.waiting"], ["a severed attempt", ".call.severed"], ["a late request", ".message.late"], ["answers", ".message.answer"]]) {
    assert.ok(await page.locator(selector).count() > 0, what);
  }
  assert.match(await page.locator(".mark.claim .rule").first().textContent(), /^G1$/);
  assert.equal(await page.locator(".events li").count(), 19);
  calm(page);
});

test("every incarnation has its lane, and a predecessor looks like one", async () => {
  const { page, address } = it;
  await open(page, address, "zombie");
  await take(page, "sends attempt 1 of set", "attempt 1 of set arrives", "lets attempt 1 of set in", "moves: a successor starts");
  assert.equal(await page.locator(".heads .head.incarnation").count(), 2);
  assert.ok(await page.locator(".lifeline.predecessor").count() > 0);
  calm(page);
});

test("a run of a hundred events and more is drawn, and one goes along it quickly", async () => {
  const { page, address } = it;
  const deep = await page.evaluate(async () => {
    const ask = async (path, body) => (await fetch(`/api/${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
    const { runs } = await ask("sample", { scenario: { name: "two-callers" }, runs: 60 });
    return runs.sort((a, b) => b.path.length - a.path.length)[0].path;
  });
  await page.goto(`${address}#/explore?s=two-callers&p=${deep.map((choice) => choice.toString(36)).join(".")}`);
  await stands(page, deep.length);
  assert.equal(await page.locator(".events li").count(), deep.length + 1);
  calm(page);
});
