/** Which sidecars ask for what their workloads call. */
import assert from "node:assert/strict";
import { isProxy } from "../../lib/injection/sidecar/input.ts";
import { injected, type InjectionCase } from "./support.ts";

/** The node's metadata `ON_DEMAND`, as the injected pod sets it. Undefined: not set. */
function asked(
  { labels = {}, ...given }: Pick<InjectionCase, "settings" | "mesh" | "namespaceLabels"> & {
    readonly labels?: Record<string, string>;
  },
): string | undefined {
  const pod = injected(given, {
    metadata: { name: "cart", labels: { app: "cart", ...labels } },
    spec: { containers: [{ name: "cart", image: "cart" }] },
  });
  const proxy = pod.spec.containers.find(isProxy);
  return proxy?.env?.find(({ name }) => name === "MESH_META_ON_DEMAND")?.value;
}

const byDefault = { settings: { onDemand: true } };
const inMesh = { mesh: "defaultConfig: {proxyMetadata: {MESH_META_ON_DEMAND: 'true'}}" };
const no = { "mesh.io/on-demand": "false" };
const yes = { "mesh.io/on-demand": "true" };

Deno.test("the label of the pod decides, then the label of the namespace, the mesh configuration and the setting", () => {
  assert.equal(asked({}), undefined);
  assert.equal(asked(byDefault), "true");
  assert.equal(asked(inMesh), "true");
  assert.equal(asked({ ...byDefault, mesh: inMesh.mesh.replace("'true'", "'false'") }), "false");
  assert.equal(asked({ namespaceLabels: yes }), "true");
  assert.equal(asked({ ...byDefault, namespaceLabels: no }), "false");
  assert.equal(asked({ ...inMesh, namespaceLabels: no }), "false");
  assert.equal(asked({ namespaceLabels: no, labels: yes }), "true");
  assert.equal(asked({ namespaceLabels: yes, labels: no }), "false");
});
