/** Node IDs follow a strict grammar, and so do names in metadata that replace parts of the ID. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { struct } from "../../../lib/pb/wellknown.ts";
import { NodeRefused, parseNodeId } from "../../../lib/translate/proxy/identity.ts";
import { type NodeOptions, readNode } from "../../../lib/translate/proxy/node.ts";
import { runs } from "../../properties.ts";

const options: NodeOptions = {
  mesh: defaultMeshConfig({ systemNamespace: "mesh-system" }),
  vhds: true,
  clusterId: "Orch",
  clusterAliases: {},
  internHeaders: (headers) => headers,
  internTracing: (tracing) => tracing,
};

const label = "[A-Za-z0-9](?:[-A-Za-z0-9]{0,61}[A-Za-z0-9])?";
const WITNESS = new RegExp(
  `^(sidecar|router|waypoint)~(10\\.0\\.0\\.1|fd00::1)?~([\\x21-\\x7d]+)\\.(${label})~((?:${label}\\.)*${label}\\.?)$`,
);

Deno.test("a node id is read where all of it has the grammar, and refused otherwise", () => {
  const piece = fc.constantFrom("a", ".", "~", "-", "A", "0", " ", "\n", "/", "_", "é", "\0", "svc", "*", "%");
  const text = fc.array(piece, { minLength: 1, maxLength: 5 }).map((parts) => parts.join(""));
  const id = fc.tuple(
    fc.constantFrom("sidecar", "router", "waypoint", "Sidecar", "ztunnel", ""),
    fc.constantFrom("10.0.0.1", "fd00::1", "", "10.1", "010.0.0.1", "fe80::1%lo", "10.0.0.1 "),
    fc.oneof(text.map((name) => `${name}.shop`), text.map((namespace) => `web.${namespace}`), text),
    fc.oneof(fc.constant("shop.svc.cluster.local"), text),
  ).map((parts) => parts.join("~"));
  fc.assert(
    fc.property(id, (id) => {
      const match = WITNESS.exec(id);
      // A domain name does not end in a number.
      if (match === null || /(?:^|\.)\d+$/.test(match[5]!)) {
        assert.throws(() => parseNodeId(id), NodeRefused, id);
      } else {
        const { name, namespace, dnsDomain } = parseNodeId(id);
        assert.deepEqual([name, namespace, dnsDomain], [match[3], match[4], match[5]]);
      }
    }),
    { numRuns: runs(3000) },
  );
});

for (const named of ["a.b", "a/b", "a b", "*", ".", "~", "x".repeat(64), "a\nb"]) {
  Deno.test(`a node of namespace ${JSON.stringify(named)} by its metadata is refused`, () => {
    const node = { id: "sidecar~10.0.0.1~web.shop~shop.svc.cluster.local", metadata: struct({ NAMESPACE: named }) };
    assert.throws(() => readNode(node, options), { name: "NodeRefused", message: /metadata NAMESPACE=/ });
  });
}

Deno.test("a waypoint is read where waypoints are served and its label names its Gateway, and refused otherwise", () => {
  const id = "waypoint~10.0.0.1~door-1.shop~shop.svc.cluster.local";
  const node = { id, metadata: struct({ LABELS: { "gateway.networking.k8s.io/gateway-name": "door" } }) };
  assert.throws(() => readNode(node, options), { name: "NodeRefused", message: /PILOT_ENABLE_AMBIENT_WAYPOINTS=true/ });
  assert.equal(readNode(node, { ...options, waypoints: true }).properties.type, "waypoint");
  const nameless = { name: "NodeRefused", message: /LABELS has no gateway\.networking\.k8s\.io\/gateway-name/ };
  assert.throws(() => readNode({ id }, { ...options, waypoints: true }), nameless);
});
