/** A walk through every page in a real browser: boxes, contrasts, navigation and titles, in three widths and two schemes. */
import assert from "node:assert/strict";
import { TestProxy } from "../debug/proxy.ts";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { withServer } from "../discovery/running.ts";
import { PATIENCE } from "../patience.ts";
import { Browser, noBrowser, type Tab } from "./support/browser.ts";
import { type ColourScheme, faultsOf, setScheme } from "./support/faults.ts";
import { meshOf, pagesOf, proxiesOf } from "./support/mesh.ts";

const COLOURS = `(({ color, backgroundColor }) => color + " " + backgroundColor)(getComputedStyle(document.body))`;

async function coloursOf(tab: Tab, scheme: ColourScheme): Promise<unknown> {
  await setScheme(tab, scheme);
  return await tab.evaluate(COLOURS);
}

/** Pages whose answer is an error, which the browser reports. */
const ERRORS = /"text":"Failed to load resource: the server responded with a status of 40[04]/;

for (const services of [5, 300]) {
  Deno.test({
    name:
      `no page of a mesh of ${services} services overflows, cuts or fades a text at 1400, 800 or 390 px, light or dark`,
    ignore: noBrowser !== undefined,
    async fn() {
      await withServer(meshOf(services), async ({ ports, xds }) => {
        using proxies = new DisposableStack();
        const nodes = proxiesOf(services);
        await Promise.all(nodes.map(async (node) => proxies.use(await TestProxy.attach(ports.grpc, node))));
        assert.equal(await xds.ledger.waitLive(0, PATIENCE), true);
        await using browser = await Browser.start();
        const tab = await browser.tab();
        const faults: Record<string, string[]> = {};
        for (const path of Object.values(pagesOf())) {
          await tab.open(`http://127.0.0.1:${ports.http}${path}`);
          const found = await faultsOf(tab);
          if (found.length > 0) faults[path] = found;
        }
        assert.deepEqual(faults, {});
        assert.notEqual(await coloursOf(tab, "light"), await coloursOf(tab, "dark"));
        assert.deepEqual(tab.complaints.filter((one) => !ERRORS.test(one)), []);
      }, { options: { explainer: serverExplainer("cluster.local") } });
    },
  });
}
