/** Whether clients behind a waypoint are hidden from a policy depends on who enforces the policy: the waypoint, too. */
import assert from "node:assert/strict";
import { AnalyzedFolder } from "./support/analyzed.ts";

const MESH = `
apiVersion: v1
kind: Namespace
metadata: { name: shop, labels: { mesh.io/dataplane-mode: ambient } }
---
apiVersion: apps/v1
kind: Deployment
metadata: { name: cart, namespace: shop }
spec:
  selector: { matchLabels: { app: cart } }
  template: { metadata: { labels: { app: cart } }, spec: { containers: [{ name: main, image: main }] } }
---
apiVersion: v1
kind: Service
metadata: { name: cart, namespace: shop, labels: { mesh.io/use-waypoint: gate } }
spec: { selector: { app: cart }, ports: [{ name: http, port: 80 }] }
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: { name: gate, namespace: shop }
spec: { gatewayClassName: mesh-waypoint, listeners: [{ name: mesh, port: 15008, protocol: HBONE }] }
`;

const policy = (spec: string, namespace = "shop") => `
apiVersion: security.mesh.io/v1
kind: AuthorizationPolicy
metadata: { name: cart, namespace: ${namespace} }
spec: ${spec}
`;

const TILL = "from: [{ source: { principals: [cluster.local/ns/pay/sa/till] } }]";

/** Whether the clients of a policy are hidden, with layered policies. */
function isHidden(text: string, layersPolicies = true): boolean {
  const tunnels = { served: true, opensWithoutWaypoint: false, layersPolicies };
  const folder = new AnalyzedFolder({}, false, undefined, { waypoints: true, tunnels });
  folder.write({ "case.yaml": [MESH, text].join("---\n") });
  return folder.findings().some(({ name }) => name === "client-behind-waypoint");
}

Deno.test("the waypoint itself refuses clients of a DENY policy of its namespace or of the mesh, if policies are layered", () => {
  for (const namespace of ["shop", "mesh-system"]) {
    const deny = policy(`{ action: DENY, rules: [{ ${TILL} }] }`, namespace);
    assert.deepEqual([isHidden(deny, false), isHidden(deny)], [true, false], namespace);
  }
});

Deno.test("clients are hidden where the waypoint does not enforce the rule: by labels, by ports of workloads, in allow-lists", () => {
  for (
    const spec of [
      `{ selector: { matchLabels: { app: cart } }, action: DENY, rules: [{ ${TILL} }] }`,
      `{ action: DENY, rules: [{ ${TILL}, to: [{ operation: { ports: ["8080"] } }] }] }`,
      `{ rules: [{ ${TILL} }] }`,
    ]
  ) assert.ok(isHidden(policy(spec)), spec);
});
