// The parts of the page that need no page.

import assert from "node:assert/strict";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";

// As they are, in a folder that says that they are modules: beside the page nothing says so.
const folder = mkdtempSync(join(tmpdir(), "oncemore-modules-"));
cpSync(new URL("../../../src/explorer/assets/", import.meta.url), folder, { recursive: true });
writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
after(() => rmSync(folder, { recursive: true }));
const load = async (name) => import(pathToFileURL(join(folder, name)).href);

test("an address leads back to its place, whatever the scenario is called", async () => {
  const { addressOf, placeOf } = await load("address.js");
  for (const place of [
    { page: "library", path: [] },
    { page: "explore", scenario: { name: "late-write" }, path: [], at: 0 },
    { page: "explore", scenario: { name: "late-write", mutant: "no-claims" }, path: [0, 35, 36, 1000], at: 2, check: "0123456789abcdef" },
    { page: "explore", scenario: { toml: 'name = "x"\nabout = "Ünïcode & ?#=+ 漢字"\n'.repeat(40) }, path: [1], at: 1 },
  ]) {
    const back = await placeOf(await addressOf(place));
    for (const [key, value] of Object.entries(place)) assert.deepEqual(back[key], value, key);
  }
  const long = await addressOf({ page: "explore", scenario: { toml: "a = 1\n".repeat(2000) }, path: Array.from({ length: 200 }, (_, step) => step % 30), at: 200 });
  assert.ok(long.length < 800, `${long.length} characters`);
});

test("an address that makes no sense is refused in words", async () => {
  const { placeOf } = await load("address.js");
  await assert.rejects(placeOf("#/explore?s=doubt&p=0.-1"), /path in this address/);
  await assert.rejects(placeOf("#/explore?t=AAAA"), /scenario in this address/);
  await assert.rejects(placeOf("#/explore"), /names no scenario/);
});

test("a diff says what is new, gone, changed, and where", async () => {
  const { diff } = await load("tree.js");
  const was = { calls: [{ name: "a", starts: 0, told: null }], runs: ["x"] };
  const is = { calls: [{ name: "a", starts: 1, told: null }, { name: "b", starts: 0 }], runs: [] };
  const tree = diff("", was, is);
  const at = (...names) => names.reduce((node, name) => node.children.find((child) => child.name === name), tree);
  assert.equal(tree.change, "inside");
  assert.deepEqual([at("calls", "a", "starts").change, at("calls", "a", "starts").was, at("calls", "a", "starts").is], ["changed", 0, 1]);
  assert.equal(at("calls", "a", "told").change, "same");
  assert.equal(at("calls", "b").change, "new");
  assert.equal(at("runs", "x").change, "gone");
});

test("a message that is never told of again is drawn as under way", async () => {
  const { layout } = await load("layout.js");
  const lane = (kind, name) => ({ kind, name, index: 0, begins: 0, ends: null });
  const step = { lane: 0, ended: [], sent: [{ id: "0.1.0", call: "set", attempt: 1, copy: 0, answer: false, says: "request", refusal: false, from: 0 }], marks: [], calls: [{ call: 0, name: "set", lane: 0, attempt: 1, stage: "attempting", cutoff_ms: 500 }], lives: [{ lane: 2, owner: true, draining: false, runs: [] }] };
  const plan = layout({ lanes: [lane("caller", "caller A"), lane("directory", "directory"), lane("incarnation", "object, incarnation 1")], steps: [step] }, 100);
  assert.equal(plan.messages[0].how, "under-way");
  assert.equal(plan.width, 300);
  assert.ok(plan.messages[0].to.y > plan.messages[0].from.y);
});
