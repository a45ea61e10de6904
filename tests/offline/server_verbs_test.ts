/** The commands `wait` and `dashboard` as processes, at a running server. */
import assert from "node:assert/strict";
import { pilotDiscovery } from "../cmd/offline.ts";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { example } from "./mesh_of.ts";

const CART = { id: "sidecar~10.0.0.5~cart.shop~shop.svc.cluster.local", metadata: {} };

Deno.test("wait ends with 0 when a change is in force on all proxies, by every spelling of the object", async () => {
  const files = example("shop");
  await withServer(files, async ({ ports }, folder) => {
    using _cart = await TestProxy.attach(ports.grpc, CART);
    const server = `--server=127.0.0.1:${ports.http}`;
    await Deno.writeTextFile(`${folder}/versions.yaml`, files["versions.yaml"]!.replace("v2", "v3"));
    const spellings = [["destinationrule", "reviews.shop"], ["DR", "shop/reviews"], ["dr/shop/reviews"]];
    for (const words of spellings) {
      const { code, out } = await pilotDiscovery(["wait", ...words, server, "--timeout=60s"]);
      assert.deepEqual([code, out], [0, "DestinationRule/shop/reviews is in force on 1 of 1 proxies\n"]);
    }
    await Deno.remove(`${folder}/versions.yaml`);
    const gone = await pilotDiscovery(["wait", "--for=delete", "dr", "reviews.shop", server, "--timeout=60s"]);
    assert.match(`${gone.code} ${gone.out}`, /^0 DestinationRule\/shop\/reviews is gone from \d proxies\n$/);
  });
});

Deno.test("wait ends with 1 and the reasons when a proxy rejects the object or there is no object", async () => {
  await withServer(example("shop"), async ({ ports }) => {
    using _cart = await TestProxy.attach(ports.grpc, CART, "I do not take this");
    const server = `--server=127.0.0.1:${ports.http}`;
    const wait = (...args: string[]) => pilotDiscovery(["wait", server, "--timeout=1s", ...args]);
    const [rejected, absent, json, wrong, long] = await Promise.all([
      wait("dr", "reviews.shop"),
      wait("dr", "other.shop"),
      wait("dr", "other.shop", "-o=json"),
      wait("nonsense", "a.b"),
      wait("dr", "a.b", "--timeout=10m"),
    ]);
    assert.equal(rejected!.code, 1);
    assert.match(rejected!.out, /^DestinationRule\/shop\/reviews is in force on 0 of 1 proxies\n {2}\S/);
    assert.match(`${absent!.code} ${absent!.out}`, /^1 .*\n {2}no version is in force here\n/);
    assert.deepEqual([json!.code, JSON.parse(json!.out).everywhere], [1, false]);
    assert.match(`${wrong!.code} ${wrong!.err}`, /^2 [^]*nonsense/);
    assert.match(`${long!.code} ${long!.err}`, /^2 [^]*flag --timeout: got 600s, expected 0s to 300s/);
  });
});

Deno.test("wait names the field that refuses the newest version, and says that the last good version is in force", async () => {
  const files = example("shop");
  await withServer(files, async ({ ports }, folder) => {
    using _cart = await TestProxy.attach(ports.grpc, CART);
    await Deno.writeTextFile(`${folder}/routes.yaml`, files["routes.yaml"]!.replace("weight: 10", "weight: plenty"));
    const { code, out } = await pilotDiscovery(["wait", "vs", "reviews.shop", `--server=127.0.0.1:${ports.http}`]);
    assert.equal(code, 1, out);
    assert.match(out, /^VirtualService\/shop\/reviews is in force in its last good version on 1 of 1 proxies\n/);
    assert.match(out, /\n {2}spec\.http\[\d\]\.route\[\d\]\.weight: "plenty", expected an integer/);
    // Removed, and then written with the mistake: nothing is left of the good version.
    await Deno.remove(`${folder}/routes.yaml`);
    await pilotDiscovery(["wait", "--for=delete", "vs", "reviews.shop", `--server=127.0.0.1:${ports.http}`]);
    await Deno.writeTextFile(`${folder}/routes.yaml`, files["routes.yaml"]!.replace("weight: 10", "weight: plenty"));
    const late = await pilotDiscovery(["wait", "vs", "reviews.shop", `--server=127.0.0.1:${ports.http}`]);
    assert.equal(late.code, 1, late.err);
    assert.match(late.out, /^VirtualService\/shop\/reviews is not in force\n {2}spec\.http.*"plenty"/);
    assert.match(late.out, /\n {2}no version is in force here\n/);
    assert.doesNotMatch(late.out, /last good version/);
  });
});

Deno.test("dashboard prints the address of the overview, or of a proxy's page, of a server that answers", async () => {
  await withServer(example("shop"), async ({ ports }) => {
    using _cart = await TestProxy.attach(ports.grpc, CART);
    const server = `--server=127.0.0.1:${ports.http}`;
    const [overview, proxy, unknown, nobody] = await Promise.all([
      pilotDiscovery(["dashboard", server]),
      pilotDiscovery(["dashboard", "cart.shop", server]),
      pilotDiscovery(["dashboard", "art.shop", server]),
      pilotDiscovery(["dashboard", "--server=127.0.0.1:1"]),
    ]);
    assert.deepEqual([overview!.code, overview!.out], [0, `http://127.0.0.1:${ports.http}/debug\n`]);
    const page = await fetch(proxy!.out.trim(), { headers: { accept: "text/html" } });
    assert.match(await page.text(), /cart\.shop/);
    assert.deepEqual([page.status, unknown!.code, nobody!.code], [200, 2, 2]);
    assert.match(unknown!.err, /no proxy art\.shop is connected to 127\.0\.0\.1:\d+\n$/);
  });
});
