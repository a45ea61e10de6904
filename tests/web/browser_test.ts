/** The pages in a real browser: each loads, search works, live parts change, and the browser has no complaint. */
import assert from "node:assert/strict";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { Browser, noBrowser, type Tab } from "./support/browser.ts";
import { PATIENCE } from "../patience.ts";

function entry(name: string): string {
  return `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.9 }]
---
`;
}

/**
 * Runs with a server, one proxy and a tab. Afterwards the tab must have asked nobody else, and must have no complaint.
 */
async function withTab(run: (tab: Tab, url: string, folder: string, port: number) => Promise<void>): Promise<void> {
  await withServer({ "a.yaml": entry("alpha") + entry("beta") }, async ({ ports, xds }, folder) => {
    using _proxy = await TestProxy.attach(ports.grpc);
    assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
    await using browser = await Browser.start();
    const tab = await browser.tab();
    const url = `http://127.0.0.1:${ports.http}`;
    await run(tab, url, folder, ports.grpc);
    assert.deepEqual(tab.requests.filter((request) => new URL(request).origin !== url), []);
    assert.deepEqual(tab.complaints, []);
  });
}

const ignore = noBrowser !== undefined;

Deno.test({
  name: "each page loads, by links from the overview",
  ignore,
  fn: () =>
    withTab(async (tab, url) => {
      await tab.open(`${url}/`);
      assert.match(await tab.text("h1"), /Overview/);
      const links = await tab.evaluate(`[...document.querySelectorAll("header nav a, main a")].map((a) => a.href)`);
      const pages = [...new Set(links as string[])].filter((link) => !link.endsWith("/ready"));
      assert.ok(pages.length >= 8, `got ${pages.length} links`);
      for (const page of pages) {
        await tab.open(page);
        assert.equal(await tab.evaluate("document.styleSheets[0].cssRules.length > 10"), true, page);
        assert.match(await tab.text("footer"), /^As curl: curl 'http/, page);
      }
    }),
});

Deno.test({
  name: "the search box finds an object by keys alone, and its page opens",
  ignore,
  fn: () =>
    withTab(async (tab, url) => {
      await tab.open(`${url}/debug`);
      await tab.press("/");
      for (const key of "beta") await tab.press(key);
      await tab.loading(() => tab.press("Enter"));
      assert.match(await tab.text(), /Objects 1\s+ServiceEntry\/x\/beta[\s\S]*Services 1\s+x\/beta\.example\.com/);
      await tab.press("j");
      await tab.loading(() => tab.press("Enter"));
      assert.match(await tab.text("h1"), /^ServiceEntry\/x\/beta$/);
      assert.match(await tab.text(), /In force on 1 of 1 proxies[\s\S]*beta\.example\.com/);
    }),
});

Deno.test({
  name: "a proxy's parts open by links, and the form follows a request to an address that is stable",
  ignore,
  fn: () =>
    withTab(async (tab, url) => {
      await tab.open(`${url}/debug/syncz`);
      const follow = (text: string) =>
        tab.loading(() =>
          tab.evaluate(
            `[...document.querySelectorAll("main a")].find((a) => a.innerText === ${JSON.stringify(text)}).click()`,
          )
        );
      await follow("a.x");
      for (const part of ["Resources", "Tree", "Policies", "Send a request"]) await follow(part);
      await tab.evaluate(`document.getElementById("url").value = "http://alpha.example.com/"`);
      await tab.loading(() => tab.evaluate(`document.querySelector("main form button").click()`));
      assert.match(await tab.text(), /forwarded to outbound\|80\|\|alpha\.example\.com/);
      const address = String(await tab.evaluate("location.href"));
      await tab.open(address);
      assert.match(await tab.text(), /forwarded to outbound/);
    }),
});

Deno.test({
  name: "the overview changes by itself while a folder is edited and proxies come and go",
  ignore,
  fn: () =>
    withTab(async (tab, url, folder, port) => {
      await tab.open(`${url}/debug`);
      await tab.shows(/Everything is all right[\s\S]*1 of 1/);
      await Deno.writeTextFile(`${folder}/b.yaml`, entry("gamma"));
      await tab.shows(/3 objects/);
      await tab.shows(/ServiceEntry\/x\/gamma/);
      await Deno.writeTextFile(`${folder}/b.yaml`, entry("gamma").replace("number: 80", "number: 800000"));
      await tab.shows(/✗ Something is wrong\s+✗ 1 error/);
      {
        using _second = await TestProxy.attach(port);
        await tab.shows(/2 of 2/);
      }
      await tab.shows(/1 of 1/);
      await Deno.remove(`${folder}/b.yaml`);
      await tab.shows(/Everything is all right/);
    }),
});

Deno.test({
  name: "another page says that a push has changed something, and loads again",
  ignore,
  fn: () =>
    withTab(async (tab, url, folder) => {
      await tab.open(`${url}/debug/configz`);
      await tab.shows(/2 in all/);
      await Deno.writeTextFile(`${folder}/b.yaml`, entry("gamma"));
      await tab.shows(/A push has changed something since/, "#changed");
      await tab.loading(() => tab.evaluate(`document.querySelector("#changed a").click()`));
      await tab.shows(/3 in all/);
    }),
});

Deno.test({
  name: "the browser refuses a script that stands in a page, as the policy says",
  ignore,
  async fn() {
    await withServer({}, async ({ ports }) => {
      await using browser = await Browser.start();
      const tab = await browser.tab();
      await tab.open(`http://127.0.0.1:${ports.http}/debug`);
      await tab.evaluate(
        `document.body.append(Object.assign(document.createElement("script"), { text: "window.ran = 1" }))`,
      );
      assert.equal(await tab.evaluate("window.ran"), undefined);
      assert.match(tab.complaints.join("\n"), /Content Security Policy/);
    });
  },
});
