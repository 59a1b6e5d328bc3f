// One server and one browser for a file of cases.

import { after, before } from "node:test";
import { browser, explorer, page } from "./browser.js";

/** @param {{args?: string[], options?: object}} [wish] */
export function suite({ args = [], options = {} } = {}) {
  const it = {};
  before(async () => {
    it.server = await explorer(...args);
    it.browser = await browser({ permissions: ["clipboard-read", "clipboard-write"], ...options });
    it.address = it.server.address;
    it.page = await page(it.browser.context);
  });
  after(async () => {
    await it.browser?.end();
    await it.server?.end();
  });
  return it;
}
