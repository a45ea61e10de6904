/** The locality of a proxy: from labels, else from the proxy's own report. */
import assert from "node:assert/strict";
import { defaultMeshConfig } from "../../../lib/config/mesh/merge.ts";
import { readNode } from "../../../lib/translate/proxy/node.ts";

const REGION = "topology.kubernetes.io/region";
const ZONE = "topology.kubernetes.io/zone";

function locality(labels: Record<string, string>, reported?: { region?: string; zone?: string; sub_zone?: string }) {
  const fields = Object.fromEntries(Object.entries(labels).map(([k, v]) => [k, { stringValue: v }]));
  const node = {
    id: "sidecar~10.0.0.1~a.default~default.svc.cluster.local",
    metadata: { fields: { LABELS: { structValue: { fields } } } },
    ...(reported ? { locality: reported } : {}),
  };
  const mesh = defaultMeshConfig({ systemNamespace: "mesh-system" });
  const options = {
    mesh,
    vhds: false,
    clusterId: "Orch",
    clusterAliases: {},
    internHeaders: () => undefined,
    internTracing: () => undefined,
  };
  return readNode(node, options).properties.locality;
}

Deno.test("locality labels win over the locality that the proxy reports", () => {
  const own = { region: "r", zone: "z", sub_zone: "s" };
  const rows: [ReturnType<typeof locality>, string][] = [
    [locality({}), ""],
    [locality({}, own), "r/z/s"],
    [locality({}, { region: "r" }), "r"],
    [locality({ [REGION]: "eu", [ZONE]: "eu-1", "topology.mesh.io/subzone": "a" }, own), "eu/eu-1/a"],
    [locality({ [REGION]: "eu", [ZONE]: "eu-1", "topology.istio.io/subzone": "b" }, own), "eu/eu-1/b"],
    [locality({ [REGION]: "eu" }, own), "eu"],
    [locality({ "istio-locality": "us.east.a" }, own), "us/east/a"],
    [locality({ "mesh-locality": "us/east.1/a" }), "us/east.1/a"],
  ];
  for (const [found, wanted] of rows) assert.equal(found, wanted);
});
