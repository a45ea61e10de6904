/** The descriptions of pods and services as pages: what they say, where their links lead, how one comes to them. */
import assert from "node:assert/strict";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { Browser, noBrowser } from "./support/browser.ts";
import { meshOf, pagesOf, proxiesOf } from "./support/mesh.ts";

const HTML = { accept: "text/html" };
const EXPLAINING = { options: { explainer: serverExplainer("cluster.local") } };
const { "described-pod": POD = "", "described-service": SERVICE = "" } = pagesOf();

interface PageAnswer {
  readonly status: number;
  readonly body: string;
  /** Without marks and runs of spaces. */
  readonly text: string;
}

async function ask(port: number, path: string, headers: Readonly<Record<string, string>> = HTML): Promise<PageAnswer> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers });
  const body = await response.text();
  const main = body.slice(body.indexOf("<main"), body.indexOf("</main>"));
  return {
    status: response.status,
    body,
    text: main.replaceAll("<wbr>", "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " "),
  };
}

/** The links of a page to other pages of the server. */
function linksOf({ body }: PageAnswer): string[] {
  const main = body.slice(body.indexOf("<main"), body.indexOf("</main>"));
  return [
    ...new Set([...main.matchAll(/href="(\/debug[^"#]*)"/g)].map(([, link = ""]) => link.replaceAll("&#38;", "&"))),
  ];
}

async function withShop(
  run: (port: number) => Promise<void>,
  files = meshOf(5),
  changes: Parameters<typeof withServer>[2] = EXPLAINING,
): Promise<void> {
  await withServer(files, async ({ ports }) => {
    const [node] = proxiesOf(1);
    using _proxy = await TestProxy.attach(ports.grpc, node!);
    await run(ports.http);
  }, changes);
}

Deno.test("a pod's page tells what the verb tells, each object with a link that leads to its page", () =>
  withShop(async (port) => {
    const page = await ask(port, POD);
    assert.equal(page.status, 200);
    for (
      const words of [
        /Pod shop\/checkout\S+-x2x0 /,
        /Proxy sidecar, connected to this server/,
        /Mutual TLS PERMISSIVE PeerAuthentication\/shop\/default/,
        /80 http HTTP 80/,
        /traffic policy: loadBalancer, outlierDetection/,
        /✓ is in it/,
        /http testers prefix \/checkout\/payments, header \S+ &#34;yes&#34; · to subset \S+, not to this pod/,
        /✓ 90 % to subset v1, reaches this pod 10 % to service-1\.shop/,
        /HTTP 80 for checkout\.shop\.example\.com/,
        /AuthorizationPolicy\/shop\/allow-frontends workload ALLOW, 1 rule/,
        /MSH0173/,
      ]
    ) assert.match(page.text, words);
    const described = JSON.parse((await ask(port, POD, {})).body);
    const links = linksOf(page);
    const object = (name: string) => `/debug/live?object=${encodeURIComponent(name)}`;
    const { rules, routes, gateways } = described.services[0];
    for (const { object: name } of [...rules, ...routes, ...gateways, ...described.policies]) {
      assert.ok(links.includes(object(name)), name);
    }
    for (const { code } of described.findings) assert.ok(page.text.includes(code), code);
    for (const link of links) assert.equal((await ask(port, link)).status, 200, link);
  }));

Deno.test("a service's page tells callers, policies and workloads; its links lead on", () =>
  withShop(async (port) => {
    const page = await ask(port, SERVICE);
    assert.match(page.text, /Service checkout\S+\.shop\.svc\.cluster\.local /);
    assert.match(page.text, /Endpoints ✓ 1 of 1 healthy/);
    assert.match(page.text, /Caller May call Conditions any workload ✓ allowed/);
    assert.match(page.text, /AuthorizationPolicy\/shop\/allow-frontends workload ALLOW, 1 rule/);
    // Without a pod, no column tells about one.
    assert.ok(!page.text.includes("This pod"));
    const links = linksOf(page);
    assert.ok(links.includes(POD.replace("shop/", "shop%2F")), links.join(" "));
    for (const link of links) assert.equal((await ask(port, link)).status, 200, link);
  }));

Deno.test("a name that fits nothing has the reason and a form; two names and none are told apart", () =>
  withShop(async (port) => {
    const unknown = await ask(port, "/debug/describe?pod=nobody.shop");
    assert.equal(unknown.status, 404);
    assert.match(unknown.text, /no pod nobody\.shop is known; namespace shop has checkout/);
    assert.match(unknown.body, /name="pod" value="nobody\.shop"/);
    const near = await ask(port, "/debug/describe?service=service-11.shop");
    assert.deepEqual([near.status, /did you mean service-1\.shop\?/.test(near.text)], [404, true], near.text);
    assert.equal((await ask(port, `${POD}&service=a`)).status, 400);
    const none = await ask(port, "/debug/describe?pod=");
    assert.equal(none.status, 200);
    assert.ok(linksOf(none).some((link) => link.startsWith("/debug/describe?pod=checkout")), none.text);
    assert.equal((await ask(port, "/debug/describe?pod=%3Cscript%3E.shop")).body.includes("<script>.shop"), false);
  }));

Deno.test("a server that describes nothing says so, and has no links to descriptions", () =>
  withShop(
    async (port) => {
      assert.equal((await ask(port, POD)).status, 501);
      const { "proxy-summary": proxy = "", service = "" } = pagesOf();
      for (const path of [proxy, service]) {
        const page = await ask(port, path);
        assert.deepEqual([page.status, page.body.includes("/debug/describe?")], [200, false], path);
      }
    },
    meshOf(5),
    {},
  ));

Deno.test("hundreds of routes make a short page, which counts the rest", async () => {
  const routes = Array.from({ length: 400 }, (_, at) => `
    - match: [{ uri: { prefix: /path-${at} } }]
      route: [{ destination: { host: a.shop.svc.cluster.local } }]`);
  const text = `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: a, namespace: shop }
spec:
  hosts: [a.shop.svc.cluster.local]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.1.0.0 }]
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: a, namespace: shop }
spec:
  hosts: [a.shop.svc.cluster.local]
  http:${routes.join("")}
`;
  await withShop(async (port) => {
    for (const path of ["/debug/describe?service=shop/a.shop.svc.cluster.local", POD]) {
      const page = await ask(port, path);
      assert.match(page.text, /The first 50 of 400: routes\./);
      assert.match(page.text, /\/path-49 /);
      assert.ok(!page.text.includes("/path-50 ") && page.body.length < 100_000, `${page.body.length}`);
    }
  }, { "a.yaml": text });
});

Deno.test({
  name:
    "a reader comes from a proxy to its pod, from there to the service, and from a service's page to its description",
  ignore: noBrowser !== undefined,
  fn: () =>
    withShop(async (port) => {
      await using browser = await Browser.start();
      const tab = await browser.tab();
      const follow = (text: string) =>
        tab.loading(() =>
          tab.evaluate(
            `[...document.querySelectorAll("main a")].find((one) => one.textContent.includes("${text}")).click()`,
          )
        );
      const { "proxy-summary": proxy = "", service = "" } = pagesOf();
      await tab.open(`http://127.0.0.1:${port}${proxy}`);
      await follow("What concerns it");
      assert.match(await tab.text("h1"), /^Pod shop\/checkout/);
      assert.equal(await tab.text("header [aria-current]"), "Proxies");
      await follow("release.shop.svc.cluster.local");
      assert.match(await tab.text("h1"), /^Service checkout/);
      assert.equal(await tab.text("header [aria-current]"), "Services");
      await tab.open(`http://127.0.0.1:${port}${service}`);
      await follow("What concerns it");
      await follow("x2x0");
      await follow("sidecar, connected to this server");
      assert.match(await tab.text(), /Send a request/);
      assert.deepEqual(tab.complaints, []);
    }),
});
