/**
 * Goldens: the services, endpoints and workloads of each cluster in `tests/testdata/orch/in`, and the resources of one
 * pod's proxy. `deno task goldens` accepts a change.
 */
import assert from "node:assert/strict";
import { OfflineMesh } from "../../../lib/offline/offline_mesh.ts";
import { translateForProxy } from "../../../lib/offline/translate_one.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { inputNames, testGoldens } from "../../golden.ts";

const folder = new URL("../../testdata/orch/", import.meta.url);

/** The proxy of each cluster. */
const NODES: Readonly<Record<string, string>> = {
  shop: "sidecar~10.244.0.11~reviews-6c5b9-aaaaa.shop~shop.svc.cluster.local",
};

function textOf(name: string): string {
  return Deno.readTextFileSync(new URL(`in/${name}.yaml`, folder));
}

function registryText(name: string): string {
  const settings = defaultSettings("pilot-discovery");
  const mesh = new OfflineMesh({ settings, domain: "cluster.local", meshConfig: "", manifestServices: true });
  mesh.apply([{ path: "cluster.yaml", bytes: new TextEncoder().encode(textOf(name)) }]);
  assert.deepEqual(mesh.findings(), []);
  const { aggregate, endpoints } = mesh.pipeline;
  const services = [...aggregate.services()].sort((a, b) => (a.hostname < b.hostname ? -1 : 1));
  const lists = [...endpoints.entries()].sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify({ services, endpoints: Object.fromEntries(lists) }, null, 1) + "\n";
}

function proxyText(name: string): string {
  const { clusters, endpoints, listeners, routes } = translateForProxy({
    files: { "cluster.yaml": textOf(name) },
    node: { id: NODES[name]!, metadata: { NAMESPACE: "shop", CLUSTER_ID: "Orch" } },
    manifestServices: true,
  });
  const domains = routes.flatMap((route) =>
    (route["virtual_hosts"] as { name: string; domains: string[] }[]).map((host) => `${route["name"]}: ${host.domains}`)
  );
  const shown = { clusters, endpoints, listeners: listeners.map(({ name }) => name), domains };
  return JSON.stringify(shown, null, 1) + "\n";
}

testGoldens({
  folder: new URL("out/", folder),
  suffix: ".json",
  cases: new Map(
    inputNames(new URL("in/", folder)).flatMap((name) => [
      [`${name}-registry`, () => registryText(name)],
      [`${name}-proxy`, () => proxyText(name)],
    ]),
  ),
});
