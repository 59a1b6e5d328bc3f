// Starts the command and a browser, and ends both.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const COMMAND = process.env.ONCEMORE ?? new URL("../../../target/debug/oncemore", import.meta.url).pathname;
const BROWSER = process.env.CHROMIUM ?? "/usr/bin/chromium";

/** Starts `oncemore explore` with these arguments; says where it listens. @param {...string} args */
export async function explorer(...args) {
  const child = spawn(COMMAND, ["explore", ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const address = await new Promise((resolve, reject) => {
    let said = "";
    child.stdout.on("data", (data) => {
      said += data;
      const found = said.match(/http:\/\/127\.0\.0\.1:\d+\//);
      if (found) resolve(found[0]);
    });
    child.on("exit", (code) => reject(new Error(`the explorer ended with ${code}`)));
  });
  return { address, end: () => new Promise((resolve) => (child.on("exit", resolve), child.kill("SIGINT"), setTimeout(() => child.kill("SIGKILL"), 3000).unref())) };
}

/** A browser with a profile of its own. @param {object} [options] */
export async function browser(options = {}) {
  const profile = await mkdtemp(join(tmpdir(), "oncemore-explorer-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: BROWSER,
    headless: true,
    args: ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    viewport: { width: 1600, height: 1000 },
    acceptDownloads: true,
    ...options,
  });
  return { context, end: async () => { await context.close(); await rm(profile, { recursive: true, force: true }); } };
}

/** A page that fails the test if anything goes wrong in it. @param {import("playwright-core").BrowserContext} context */
export async function page(context) {
  const it = await context.newPage();
  it.trouble = [];
  it.on("pageerror", (error) => it.trouble.push(String(error)));
  it.on("console", (message) => message.type() === "error" && it.trouble.push(message.text()));
  it.setDefaultTimeout(20_000);
  return it;
}
