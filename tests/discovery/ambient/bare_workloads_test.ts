/** The type of bare workloads: the workloads of the addresses, for clients that know no services. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { istio } from "../../../proto/gen/types.ts";
import { ADDRESS_TYPE_URL, WORKLOAD_TYPE_URL } from "../../../lib/ambient/encode.ts";
import { AUTHORIZATION_TYPE_URL } from "../../../lib/ambient/policy_set.ts";
import type { TunnelView } from "../../../lib/discovery/ambient/tunnel_views.ts";
import { decode } from "../../../lib/pb/reflect.ts";
import type { ResourceSet } from "../../../lib/resource/set.ts";
import { VARIANTS } from "../../ambient/support/variants.ts";
import { objectsOf } from "../../ambient/support/world.ts";
import { StreamClient } from "../../xds/support/stream_client.ts";
import { TunnelServer } from "./tunnel_server.ts";
import { runs } from "../../properties.ts";

const message = (bytes: Uint8Array) => decode<istio.workload.Workload>("istio.workload.Workload", bytes);

/** The workloads of a server, by both types. */
function both({ resources }: TunnelServer): [bare: ResourceSet, ofAddresses: Record<string, unknown>] {
  resources.revision;
  const addresses = [...resources.sets(ADDRESS_TYPE_URL)![0]!].flatMap(({ name, aliases, value }) => {
    const { workload } = decode<istio.workload.Address>("istio.workload.Address", value);
    return workload === undefined ? [] : [[name, { aliases, workload }] as const];
  });
  return [resources.sets(WORKLOAD_TYPE_URL)![0]!, Object.fromEntries(addresses)];
}

Deno.test("after any changes the type has exactly the workloads among the addresses, as bare messages with their aliases", () => {
  const change = fc.record({
    variant: fc.integer({ min: 0, max: VARIANTS.length - 1 }),
    isRemoved: fc.integer({ min: 0, max: 3 }).map((n) => n === 0),
    isAsked: fc.boolean(),
  });
  let seen = 0;
  fc.assert(
    fc.property(fc.array(change, { minLength: 5, maxLength: 60, size: "max" }), (changes) => {
      const server = new TunnelServer();
      for (const { variant, isRemoved, isAsked } of [...changes, { ...changes[0]!, isAsked: true }]) {
        server.change(VARIANTS[variant]!, isRemoved);
        if (!isAsked) continue;
        const [bare, expected] = both(server);
        const found = [...bare].map(({ name, aliases, value }) => [name, { aliases, workload: message(value) }]);
        assert.deepEqual(Object.fromEntries(found), expected);
        seen += found.length;
      }
    }),
    { numRuns: runs(100) },
  );
  assert.ok(seen > 200, `${seen} workloads`);
});

const SHOP = objectsOf(`
apiVersion: v1
kind: Pod
metadata: { name: web, namespace: shop, labels: { app: web } }
spec: { nodeName: n1, containers: [] }
status: { phase: Running, podIP: 10.1.0.1 }
---
apiVersion: v1
kind: Pod
metadata: { name: far, namespace: shop, labels: { app: far } }
spec: { nodeName: n2, containers: [] }
status: { phase: Running, podIP: 10.1.0.2 }
---
apiVersion: v1
kind: Service
metadata: { name: far, namespace: shop }
spec: { clusterIP: 10.96.0.2, selector: { app: far }, ports: [{ port: 80 }] }
---
apiVersion: security.istio.io/v1
kind: AuthorizationPolicy
metadata: { name: web, namespace: shop }
spec: { selector: { matchLabels: { app: web } }, rules: [{}] }
`);

function withShop(): [TunnelServer, StreamClient<TunnelView>] {
  const server = new TunnelServer();
  for (const object of SHOP) server.change(object, false);
  return [server, new StreamClient<TunnelView>(server.source, true)];
}

Deno.test("the policies come before the bare workloads that list them; then a change of a pod comes alone, and no service", () => {
  const [server, client] = withShop();
  client.ask(WORKLOAD_TYPE_URL);
  client.ask(AUTHORIZATION_TYPE_URL);
  assert.deepEqual(client.inbox.map(({ typeUrl }) => typeUrl), [AUTHORIZATION_TYPE_URL, WORKLOAD_TYPE_URL]);
  client.ask(AUTHORIZATION_TYPE_URL, { nonce: client.take().nonce });
  const { nonce, resources } = client.take();
  assert.deepEqual([...resources.keys()].sort(), ["Kubernetes//Pod/shop/far", "Kubernetes//Pod/shop/web"]);
  assert.deepEqual(message(resources.get("Kubernetes//Pod/shop/web")!.bytes).authorization_policies, ["shop/web"]);
  client.ask(WORKLOAD_TYPE_URL, { nonce });
  const [, far, service] = SHOP;
  server.change(service!, true);
  server.change(far!, true);
  client.stream.reconcile();
  const { removed, resources: changed } = client.take();
  assert.deepEqual([removed, [...changed.keys()]], [["Kubernetes//Pod/shop/far"], []]);
  client.close();
});

Deno.test("bare workloads on demand: of the tunnel's node, by address, and of an asked service; unknown names are told", () => {
  const [, client] = withShop();
  client.ask(AUTHORIZATION_TYPE_URL);
  client.ask(AUTHORIZATION_TYPE_URL, { nonce: client.take().nonce });
  client.ask(WORKLOAD_TYPE_URL, { names: ["*"], unsubscribe: ["*"] });
  const first = client.take();
  assert.deepEqual([...first.resources.keys()], ["Kubernetes//Pod/shop/web"]);
  client.ask(WORKLOAD_TYPE_URL, { nonce: first.nonce });
  client.ask(WORKLOAD_TYPE_URL, { names: ["/10.96.0.2", "/10.9.9.9"] });
  const second = client.take();
  assert.deepEqual([...second.resources.keys()], ["Kubernetes//Pod/shop/far"]);
  assert.deepEqual(second.removed.sort(), ["/10.9.9.9", "/10.96.0.2"], "no workload has the service's address");
  client.close();
});
