// 3. Step: choose, undo, redo, back and forward, click.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../suite.js";
import { at, calm, open, stands, take } from "../walk.js";

const it = suite();

test("undo, redo, and the browser's own back and forward", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await take(page, "sends attempt 1 of set-4", "the connection of set-4 drops");
  await page.getByRole("button", { name: "Undo" }).click();
  await stands(page, 1);
  assert.equal(await page.locator(".events li.ahead").count(), 1, "what was undone stays in sight");
  await page.getByRole("button", { name: "Redo" }).click();
  await stands(page, 2);
  await page.getByRole("button", { name: "To the beginning" }).click();
  await stands(page, 0);
  await page.getByRole("button", { name: "To the end" }).click();
  await stands(page, 2);
  await page.goBack();
  await stands(page, 0);
  await page.goForward();
  await stands(page, 2);
  calm(page);
});

test("keys that come faster than answers are not lost", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await page.getByRole("button", { name: "Jump to P14", exact: true }).click();
  await stands(page, 18);
  for (let times = 0; times < 10; times += 1) await page.keyboard.press("ArrowLeft", { delay: 0 });
  await stands(page, 8);
  await open(page, address, "late-write");
  await take(page, "sends attempt 1 of set-4", "the connection of set-4 drops");
  calm(page);
});

test("a click on an event goes there, and another choice gives up what came after", async () => {
  const { page } = it;
  await page.locator(".events button").nth(1).click();
  await stands(page, 1);
  await take(page, "attempt 1 of set-4 arrives");
  assert.equal(await page.locator(".events li").count(), 3);
  await page.goBack();
  await stands(page, 1);
  assert.equal(await at(page), 1);
  calm(page);
});

test("steps of the protocol and faults stand apart, each with what it does", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await take(page, "sends attempt 1 of set-4");
  const steps = page.getByRole("group", { name: "Steps of the protocol" });
  assert.match(await steps.innerText(), /attempt 1 of set-4 arrives/);
  assert.doesNotMatch(await steps.innerText(), /drops/);
  assert.match(await page.getByRole("list", { name: "Faults", exact: true }).innerText(), /Drop the connection[\s\S]*the connection of set-4 drops/);
  calm(page);
});
