// The lost update of a marked, overwriting method under late delivery (P14).

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { COMMAND } from "../browser.js";
import { suite } from "../suite.js";
import { at, calm, LOST_UPDATE, open, says, share, stands, take } from "../walk.js";

const it = suite();

test("by hand, with the palette of faults", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await take(page, LOST_UPDATE[0]);
  const palette = page.locator(".palette [data-kind=cut]");
  assert.match(await palette.innerText(), /1 left/);
  await palette.getByRole("button").click();
  await stands(page, 2);
  assert.match(await page.locator(".palette [data-kind=cut]").innerText(), /used up/);
  await take(page, ...LOST_UPDATE.slice(2));
  assert.equal(await says(page, "P14"), "violated here");
  assert.match(await page.locator("[data-property=P14]").innerText(), /since step 18/);
  calm(page);
});

test("by the button that jumps", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await page.getByRole("button", { name: "Jump to P14", exact: true }).click();
  await stands(page, 18);
  assert.equal(await says(page, "P14"), "violated here");
  assert.ok(await page.locator(".message.late").count() > 0, "the late request is drawn as such");
  calm(page);
});

test("and exported, for the command to replay", async () => {
  const { page } = it;
  assert.equal(await at(page), 18);
  const { name, bytes } = await share(page, "JSON, for replay and for this page");
  assert.equal(name, "late-write.json");
  const file = join(mkdtempSync(join(tmpdir(), "oncemore-")), name);
  writeFileSync(file, bytes);
  const said = execFileSync(COMMAND, ["replay", file], { encoding: "utf8" });
  assert.match(said, /all 18 steps happen again as recorded, and P14 is violated/);
  calm(page);
});
