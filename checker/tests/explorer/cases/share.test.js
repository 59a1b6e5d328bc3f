// 7. Share: the address, files, and files that come back.

import assert from "node:assert/strict";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { test } from "node:test";
import { page as newPage } from "../browser.js";
import { suite } from "../suite.js";
import { at, calm, open, says, share, stands } from "../walk.js";

const it = suite();
let json;

test("the address survives a reload, and says when it is of another version", async () => {
  const { page, address } = it;
  await open(page, address, "late-write");
  await page.getByRole("button", { name: "Jump to P14", exact: true }).click();
  await stands(page, 18);
  await page.locator(".events button").nth(16).click();
  await stands(page, 16);
  await page.reload();
  await stands(page, 16);
  assert.equal(await page.locator(".events li").count(), 19);
  calm(page);
  const other = await newPage(it.browser.context);
  await other.goto(page.url().replace(/v=[0-9a-f]+/, "v=0123456789abcdef"));
  await other.getByRole("alert").waitFor();
  assert.match(await other.getByRole("alert").innerText(), /another version/);
  await other.close();
});

test("every form is written", async () => {
  const { page } = it;
  await page.getByRole("button", { name: "To the end" }).click();
  await stands(page, 18);
  for (const [item, name, wanted] of [
    ["JSON, for replay and for this page", "late-write.json", /oncemore-trace\/1/], ["ITF", "late-write.itf.json", /"#meta"/], ["Mermaid", "late-write.mmd", /^sequenceDiagram/],
    ["DOT", "late-write.dot", /^digraph/], ["Text", "late-write.txt", /sends attempt 1 of set-4/], ["SVG", "late-write.svg", /^<svg[\s\S]*attempt 1 of set-4 arrives late/],
    ["The scenario as TOML", "late-write.toml", /history = true/],
  ]) {
    const file = await share(page, item);
    assert.equal(file.name, name);
    assert.match(file.bytes.toString(), wanted);
    if (name === "late-write.json") json = file.bytes;
  }
  const png = await share(page, "PNG");
  assert.deepEqual([...png.bytes.subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
  calm(page);
});

test("a page of its own plays the run back with no network", async () => {
  const { page } = it;
  const { name, bytes } = await share(page, "A page that plays it back");
  const file = join(mkdtempSync(join(tmpdir(), "oncemore-")), name);
  writeFileSync(file, bytes);
  const alone = await newPage(it.browser.context);
  const asked = [];
  alone.on("request", (request) => asked.push(request.url()));
  await alone.goto(pathToFileURL(file).href);
  await alone.locator("#broken", { hasText: "P14" }).waitFor();
  await alone.keyboard.press("ArrowLeft");
  await alone.locator("#broken", { hasText: "Nothing is violated" }).waitFor();
  assert.match(await alone.locator("#where").innerText(), /17 of 18/);
  assert.deepEqual(asked.filter((url) => !url.startsWith("file:")), []);
  calm(alone);
  await alone.close();
});

test("a trace that is dropped on the page is opened, and one that makes no sense is refused in words", async () => {
  const { page, address } = it;
  await page.goto(address);
  await page.locator("table.library").waitFor();
  const drop = (name, text) => page.evaluate(([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, text]);
  await drop("run.json", json.toString());
  await stands(page, 18);
  assert.equal(await says(page, "P14"), "violated here");
  await drop("run.json", json.toString().replace("sends attempt 1", "sends attempt 9"));
  await page.locator("#notice .bad", { hasText: "told otherwise" }).waitFor();
  assert.equal(await at(page), 18);
  page.trouble.length = 0;
});

test("the replay command is copied", async () => {
  const { page } = it;
  await page.locator(".menu > summary").click();
  await page.getByRole("menuitem", { name: "Copy the replay command" }).click();
  await page.waitForFunction(async () => (await navigator.clipboard.readText()) === "oncemore replay late-write.json");
  calm(page);
});
