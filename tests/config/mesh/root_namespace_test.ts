import assert from "node:assert/strict";
import { chooseRootNamespace } from "../../../lib/config/mesh/root_namespace.ts";
import { parseObject } from "../../../lib/config/object.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { inFile } from "../origins.ts";

const GROUPS: Readonly<Record<string, string>> = { PeerAuthentication: "security", Telemetry: "telemetry" };
const SPECS: Readonly<Record<string, unknown>> = {
  Gateway: { selector: { a: "b" }, servers: [{ port: { number: 80, name: "a", protocol: "HTTP" }, hosts: ["*"] }] },
  Sidecar: { egress: [{ hosts: ["./*"] }] },
  DestinationRule: { host: "a.example.com" },
  PeerAuthentication: { mtls: { mode: "STRICT" } },
};

function object(kind: string, namespace: string, more: Record<string, unknown> = {}): ConfigObject {
  const { object, findings } = parseObject(
    {
      apiVersion: `${GROUPS[kind] ?? "networking"}.istio.io/v1`,
      kind,
      metadata: { name: "default", namespace },
      spec: { ...SPECS[kind] as object, ...more },
    },
    inFile(`${namespace}.yaml`, 3),
    { defaultNamespace: "default" },
  );
  assert.ok(object !== undefined, JSON.stringify(findings));
  return object;
}

const selector = { selector: { matchLabels: { app: "a" } } };
const CASES: readonly (readonly [string, readonly ConfigObject[], string])[] = [
  ["none there", [], "mesh-system"],
  ["objects elsewhere", [object("Sidecar", "default")], "mesh-system"],
  ["a mesh-wide object of Istio's namespace", [object("Sidecar", "istio-system")], "istio-system"],
  ["a mesh-wide object of ours", [object("DestinationRule", "mesh-system")], "mesh-system"],
  ["any object of Istio's namespace, when none is mesh-wide", [object("Gateway", "istio-system")], "istio-system"],
  ["plain objects of both", [object("Gateway", "istio-system"), object("Gateway", "mesh-system")], "mesh-system"],
  [
    "a mesh-wide one against a plain one",
    [object("Gateway", "mesh-system"), object("PeerAuthentication", "istio-system")],
    "istio-system",
  ],
  [
    "one for some workloads of its namespace decides like a plain one",
    [object("PeerAuthentication", "mesh-system", selector), object("Telemetry", "istio-system")],
    "istio-system",
  ],
];

for (const [name, objects, expected] of CASES) {
  Deno.test({
    name: `root namespace: ${name}`,
    permissions: "none",
    fn: () => assert.deepEqual(chooseRootNamespace(objects, "mesh-system"), { namespace: expected }),
  });
}

Deno.test({
  name: "the namespace of the control plane is the choice where nothing decides, and a candidate",
  permissions: "none",
  fn: () => {
    assert.deepEqual(chooseRootNamespace([], "control"), { namespace: "control" });
    assert.deepEqual(chooseRootNamespace([object("Gateway", "mesh-system")], "control"), { namespace: "mesh-system" });
    assert.deepEqual(chooseRootNamespace([object("Sidecar", "control")], "control"), { namespace: "control" });
  },
});

Deno.test({
  name: "mesh-wide objects in two namespaces are a conflict that names them with their files",
  permissions: "none",
  fn: () => {
    const { conflict } = chooseRootNamespace(
      [object("Sidecar", "mesh-system"), object("PeerAuthentication", "istio-system")],
      "mesh-system",
    );
    assert.match(conflict ?? "", /rootNamespace in the mesh configuration/);
    assert.match(conflict ?? "", /PeerAuthentication\/istio-system\/default \(istio-system\.yaml:3\)/);
    assert.match(conflict ?? "", /Sidecar\/mesh-system\/default \(mesh-system\.yaml:3\)/);
  },
});
