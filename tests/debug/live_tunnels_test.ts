/** Whether a policy that node tunnels enforce is in force. */
import assert from "node:assert/strict";
import { TunnelClient } from "../discovery/ambient/tunnel_client.ts";
import { page, withServer } from "../discovery/running.ts";
import { until } from "../patience.ts";

const WORLD = `
apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { istio.io/dataplane-mode: ambient } }
---
apiVersion: v1
kind: Pod
metadata:
  { name: cart, namespace: shop, labels: { app: cart }, annotations: { ambient.istio.io/redirection: enabled } }
spec: { nodeName: n1, containers: [] }
status: { phase: Running, podIP: 10.0.0.1, podIPs: [{ ip: 10.0.0.1 }], conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: clients, namespace: shop }
spec:
  selector: { matchLabels: { app: cart } }
  rules: [{ from: [{ source: { principals: [cluster.local/ns/shop/sa/web] } }] }]
`;
const changes = {
  options: { clusterId: "Kubernetes", manifestServices: true },
  settings: { PILOT_ENABLE_AMBIENT: true, XDS_AUTH: false },
} as const;

interface Live {
  readonly everywhere: boolean;
  readonly why: readonly string[];
  readonly tunnels?: { readonly wanted: number; readonly acknowledged: number };
}

const PATH = "/debug/live?object=AuthorizationPolicy/shop/clients";
const liveOf = async (port: number, more = ""): Promise<Live> => JSON.parse((await page(port, PATH + more)).body);

Deno.test("a policy of node tunnels is in force when they have acknowledged it, and the reason names those that have not", () =>
  withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    assert.deepEqual((await liveOf(ports.http)).why, ["no proxy is connected"]);
    using one = new TunnelClient(ports.grpc!, { node: "n1" });
    using slow = new TunnelClient(ports.grpc!, { node: "n2", holds: true });
    await one.until(() => one.isReady, "both types");
    await slow.until(() => slow.isReady, "both types");
    let got: Live | undefined;
    await until("the acknowledgement of n1", async () => {
      got = await liveOf(ports.http);
      return got.tunnels?.acknowledged === 1;
    });
    assert.deepEqual([got!.everywhere, got!.why], [false, ["1 of 2 node tunnels have not acknowledged it"]]);
    const html = await (await fetch(`http://127.0.0.1:${ports.http}${PATH}`, { headers: { accept: "text/html" } }))
      .text();
    assert.match(html, /In force on 1 of 2 node tunnels/);

    const waited = liveOf(ports.http, "&wait=60s");
    // Answers come in the order of questions, apart from waits.
    for (let i = 0; i < 3; i++) assert.equal((await liveOf(ports.http)).tunnels?.acknowledged, 1);
    slow.release();
    const { everywhere, why, tunnels } = await waited;
    assert.deepEqual([everywhere, why, tunnels?.acknowledged], [true, [], 2]);
  }, changes));

Deno.test("the words of a tunnel that rejected a policy are a reason", () =>
  withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    using one = new TunnelClient(ports.grpc!, { node: "n1" });
    one.isWrong = (name) => name === "shop/clients" ? "too many rules" : undefined;
    let got: Live | undefined;
    await until("the rejection", async () => {
      got = await liveOf(ports.http);
      return got.why.some((text) => text.includes("too many rules"));
    });
    assert.match(got!.why.join(), /^the node tunnel of n1 has rejected it: .*too many rules/);
    assert.equal(got!.everywhere, false);
  }, changes));
