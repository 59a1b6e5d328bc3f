// 1. Choose: the library, checks that go on beside, and the form.

import assert from "node:assert/strict";
import { test } from "node:test";
import { suite } from "../suite.js";
import { at, calm, downloaded, open, stands, take } from "../walk.js";

const it = suite();

test("the library shows every verdict at a glance, and can be filtered", async () => {
  const { page, address } = it;
  await page.goto(address);
  const rows = page.locator("table.library tbody tr:visible");
  await rows.first().waitFor();
  assert.ok(await rows.count() > 80);
  await page.getByRole("searchbox").fill("late-write");
  await page.waitForFunction(() => document.querySelectorAll("table.library tbody tr:not([hidden])").length < 5);
  assert.match(await page.locator("tr[data-name='late-write']").innerText(), /P14/);
  assert.match(await page.locator("tr[data-name='late-write-fenced']").innerText(), /all hold/);
  calm(page);
});

test("a verdict in the library leads to the run that shows it", async () => {
  const { page } = it;
  await page.locator("tr[data-name='late-write']").getByRole("link", { name: "P14" }).click();
  await stands(page, 18);
  await page.goBack();
  await stands(page, 0);
  await page.goBack();
  await page.locator("table.library").waitFor();
  calm(page);
});

test("a check goes on live, and its verdict stays", async () => {
  const { page } = it;
  await page.getByRole("button", { name: "Check late-write", exact: true }).click();
  await page.locator("tr[data-name='late-write'] .progress", { hasText: "checked in" }).waitFor();
  assert.match(await page.locator("tr[data-name='late-write']").innerText(), /10,906/);
  calm(page);
});

test("those shown are checked one after the other", async () => {
  const { page } = it;
  await page.getByRole("searchbox").fill("d1");
  await page.getByRole("button", { name: "Check those shown" }).click();
  await page.waitForFunction(() => [...document.querySelectorAll("tbody tr:not([hidden]) .progress")].every((it) => /checked in/.test(it.textContent)), null, { timeout: 60_000 });
  await page.getByRole("button", { name: "Check those shown" }).waitFor();
  calm(page);
});

test("a large check blocks no click, and is cancelled", async () => {
  const { page, address } = it;
  await open(page, address, "deep");
  await page.getByRole("button", { name: "Check all runs" }).click();
  await page.locator(".check", { hasText: "exploring" }).waitFor();
  for (let step = 0; step < 5; step += 1) {
    const before = await at(page);
    await page.locator(".choices .choice").first().click();
    await stands(page, before + 1);
  }
  await page.getByRole("button", { name: "Cancel" }).click();
  await page.locator(".check", { hasText: "Cut (interrupt)" }).waitFor();
  assert.match(await page.locator(".check").innerText(), /Nothing is said to hold/);
  calm(page);
});

test("the form changes the design, says what makes no sense, and saves", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await page.getByRole("button", { name: "Change …" }).click();
  await page.getByLabel("fenced", { exact: true }).check();
  await page.waitForFunction(() => /fenced = true/.test(document.querySelector("textarea").value));
  await page.getByLabel("retries_max").fill("99");
  await page.getByLabel("retries_max").blur();
  await page.locator(".trouble", { hasText: "from 0 to 10" }).waitFor();
  await page.getByLabel("retries_max").fill("1");
  await page.getByLabel("retries_max").blur();
  await page.locator(".trouble", { hasText: "makes sense" }).waitFor();
  const { name, bytes } = await downloaded(page, () => page.getByRole("button", { name: "Save as TOML" }).click());
  assert.equal(name, "late-write.toml");
  assert.match(bytes.toString(), /fenced = true/);
  await page.getByRole("button", { name: "Explore it" }).click();
  await page.locator("h1 .chip", { hasText: "D3 fenced" }).waitFor();
  assert.match(page.url(), /[?&]t=/);
  calm(page);
});
