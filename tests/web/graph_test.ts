/** The service graph for people: picture, table and file, in a browser and without. */
import assert from "node:assert/strict";
import { withServer } from "../discovery/running.ts";
import { policy, service, SHOP } from "../graph/world.ts";
import { PATIENCE } from "../patience.ts";
import { Browser, noBrowser } from "./support/browser.ts";
import { pagesOf } from "./support/mesh.ts";

const HTML = { accept: "text/html" };

async function ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  return { status: response.status, headers: response.headers, body: await response.text() };
}

/** A mesh of 20 namespaces, each open to two others. */
function large(services: number): string {
  const texts = Array.from({ length: services }, (_, i) => service(`svc${i}`, `team${i % 20}`));
  for (let i = 0; i < 20; i++) {
    const rules = `rules: [{ from: [{ source: { namespaces: [team${(i + 1) % 20}, team${i * 3 % 20}] } }] }]`;
    texts.push(policy("some", `team${i}`, rules, i % 3 === 0 ? "" : `svc${i}`));
  }
  return texts.join("---\n");
}

Deno.test("picture, table, JSON and file show the same edges, with titles", async () => {
  await withServer({ "a.yaml": SHOP.join("---\n") }, async ({ ports }) => {
    const { body } = await ask(ports.http, "/debug/graph?namespace=bank", HTML);
    const title = "shop to payments.bank (call): 1 with conditions; depends on methods";
    assert.ok(body.includes(`<title>${title}</title>`), body);
    assert.match(body, /if methods<\/text>/);
    assert.match(body, /<a href="\/debug\/live\?object=AuthorizationPolicy%2Fbank%2Fpayments">/);
    const file = await ask(ports.http, "/debug/graph.svg?namespace=bank", HTML);
    assert.equal(file.headers.get("content-type"), "image/svg+xml");
    assert.match(file.headers.get("content-disposition")!, /^attachment/);
    assert.ok(file.body.includes(`<title>${title}</title>`) && file.body.includes("prefers-color-scheme:dark"));
    const { edges, opened } = JSON.parse((await ask(ports.http, "/debug/graph?namespace=bank")).body);
    assert.equal(opened, "bank");
    assert.deepEqual(edges[1], {
      ...{ from: "namespace shop", to: "service bank/payments.bank", kind: "call" },
      ...{ allowed: 0, conditional: 1, denied: 0, hidden: 0 },
      ...{ conditions: ["methods"], causes: ["AuthorizationPolicy/bank/payments"] },
    });
    for (const path of ["/debug/graph?namespace=none", "/debug/graph.svg?namespace=none"]) {
      const answer = await ask(ports.http, path);
      assert.deepEqual([answer.status, answer.body.includes('no service in namespace "none"')], [404, true], path);
    }
    assert.equal((await ask(ports.http, "/debug/graph?namespace=none", HTML)).status, 404);
    assert.match((await ask(ports.http, "/debug/graph.svg?names=x")).body, /query "names": this page has none/);
  });
});

Deno.test("an edited policy removes its edge", async () => {
  await withServer({ "a.yaml": SHOP.join("---\n") }, async ({ ports, xds }, folder) => {
    const callers = async () => {
      const { edges } = JSON.parse((await ask(ports.http, "/debug/graph?namespace=shop")).body);
      return (edges as { from: string; to: string }[]).filter(({ to }) => to.includes("/checkout")).map((one) =>
        one.from
      );
    };
    assert.deepEqual(await callers(), ["namespace shop"]);
    const before = xds.ledger.latest;
    await Deno.writeTextFile(`${folder}/b.yaml`, policy("none", "shop", "action: DENY, rules: [{}]"));
    const end = performance.now() + PATIENCE;
    while (xds.ledger.latest === before && performance.now() < end) {
      await ask(ports.http, "/debug/live?object=AuthorizationPolicy/shop/none&wait=1s");
    }
    const { edges } = JSON.parse((await ask(ports.http, "/debug/graph?namespace=shop")).body);
    assert.deepEqual(
      (edges as { kind: string; to: string; allowed: number }[]).filter(({ kind, to, allowed }) =>
        kind === "call" && to.startsWith("service shop/") && allowed > 0
      ),
      [],
    );
  });
});

Deno.test("pages of large meshes are bounded: 5,000 services in less than 300 kB, and what is left out is said", async () => {
  await withServer({ "a.yaml": large(5000) }, async ({ ports }) => {
    for (const path of ["/debug/graph", "/debug/graph?namespace=team3", "/debug/graph?namespace=team3&part=5"]) {
      const { status, body } = await ask(ports.http, path, HTML);
      assert.equal(status, 200);
      assert.ok(body.length < 300_000, `${path}: ${body.length}`);
      assert.match(body, /<svg class="calls"/);
    }
    const { body } = await ask(ports.http, "/debug/graph?namespace=team3", HTML);
    assert.match(body, /page 1 of 5, 250 in all/);
    for (const path of Object.values(pagesOf())) {
      const { body: { length } } = await ask(ports.http, path, HTML);
      assert.ok(length < 300_000, `${path}: ${length}`);
    }
  });
});

Deno.test({
  name: "pages of 6 and of 300 services fit windows of 1400, 800 and 390 px, light and dark",
  ignore: noBrowser !== undefined,
  fn: async () => {
    for (const text of [SHOP.join("---\n"), large(300)]) {
      await withServer({ "a.yaml": text }, async ({ ports }) => {
        await using browser = await Browser.start();
        const tab = await browser.tab();
        for (const [width, colours] of [[1400, "light"], [800, "dark"], [390, "light"]] as const) {
          const metrics = { width, height: 900, deviceScaleFactor: 1, mobile: false };
          await tab.send("Emulation.setDeviceMetricsOverride", metrics);
          const features = [{ name: "prefers-color-scheme", value: colours }];
          await tab.send("Emulation.setEmulatedMedia", { features });
          await tab.open(`http://127.0.0.1:${ports.http}/debug/graph`);
          assert.equal(await tab.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, `${width} px`);
          // Each name is inside its box.
          const cut = await tab.evaluate(
            `[...document.querySelectorAll("svg.calls g:not(:has(> path)) > a, svg.calls g:not(:has(> path)) > rect")]
            .map((one) => one.closest("g")).filter((g) => g.querySelector("rect")).flatMap((g) => {
              const box = g.querySelector("rect").getBBox();
              return [...g.querySelectorAll("text")].filter((t) => t.getBBox().x + t.getBBox().width > box.x + box.width);
            }).map((t) => t.textContent)`,
          );
          assert.deepEqual(cut, [], `${width} px`);
        }
        const first = await tab.evaluate(`document.querySelector("svg.calls .namespace a").getAttribute("href")`);
        await tab.open(`http://127.0.0.1:${ports.http}${first}`);
        assert.match(await tab.text("h1"), /^Service graph: \w+$/);
        assert.deepEqual(tab.complaints, []);
      });
    }
  },
});
