// What a person does on the page, in the words of the page.

import assert from "node:assert/strict";

/** Opens a scenario at its beginning. @param {import("playwright-core").Page} page */
export async function open(page, address, scenario) {
  await page.goto(`${address}#/explore?s=${scenario}`);
  await page.waitForFunction((name) => document.title.startsWith(`${name} 0`), scenario);
}

/** Where one stands. */
export const at = (page) => page.evaluate(() => Number(document.body.dataset.at));

/** Waits until one stands there. */
export const stands = (page, step) => page.waitForFunction((wanted) => document.body.dataset.at === String(wanted), step);

/** Takes the step whose words hold these. */
export async function take(page, ...words) {
  for (const text of words) {
    const before = await at(page);
    await page.locator(".choice .words").filter({ hasText: text }).first().click();
    await stands(page, before + 1);
  }
}

/** The lost update of `late-write`, step by step: the fault is the second. */
export const LOST_UPDATE = [
  "sends attempt 1 of set-4", "the connection of set-4 drops", "sees the connection of set-4 drop", "sends attempt 2 of set-4", "attempt 2 of set-4 arrives",
  "lets attempt 2 of set-4 in", "attempt 2 of set-4 ends", "attempt 2 of set-4 is answered", "receives the value of attempt 2 of set-4", "sends attempt 1 of set-1",
  "attempt 1 of set-1 arrives", "lets attempt 1 of set-1 in", "attempt 1 of set-1 ends", "attempt 1 of set-1 is answered", "receives the value of attempt 1 of set-1",
  "attempt 1 of set-4 arrives late", "lets attempt 1 of set-4 in", "attempt 1 of set-4 ends",
];

/** What a property is said to be at this state. */
export const says = (page, id) => page.locator(`[data-property="${id}"] .verdict`).first().textContent();

/** A download, as text. */
export async function downloaded(page, act) {
  const [download] = await Promise.all([page.waitForEvent("download"), act()]);
  const stream = await download.createReadStream();
  const parts = [];
  for await (const part of stream) parts.push(part);
  return { name: download.suggestedFilename(), bytes: Buffer.concat(parts) };
}

/** Chooses from the menu for sharing. */
export async function share(page, item) {
  await page.locator(".menu > summary").click();
  return downloaded(page, () => page.getByRole("menuitem", { name: item, exact: true }).click());
}

/** Nothing went wrong in the page. */
export function calm(page) {
  // A browser writes every refusal down; the page says it in words.
  assert.deepEqual(page.trouble.filter((text) => !/status of 4\d\d/.test(text)), []);
}
