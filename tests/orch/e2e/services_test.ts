/** Services and slices of a real API server reach a real Envoy, and changes follow. */
import assert from "node:assert/strict";
import { startEnvoy } from "../../../scripts/demo/envoy.ts";
import { withServer } from "../../discovery/running.ts";
import { envoyPath } from "../../e2e/support/mesh.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();
const binary = envoyPath();

/** The orchestrator as a server's options name it. */
function orchOf(server: ApiServer, kinds: boolean) {
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  return { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds, services: true };
}

const service = (namespace: string) => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { namespace, name: "cart" },
  spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] },
});

const slice = (namespace: string, addresses: readonly string[]) => ({
  apiVersion: "discovery.k8s.io/v1",
  kind: "EndpointSlice",
  metadata: { namespace, name: "cart-1", labels: { "kubernetes.io/service-name": "cart" } },
  addressType: "IPv4",
  ports: [{ name: "http", port: 8080, protocol: "TCP" }],
  endpoints: addresses.map((address) => ({ addresses: [address], conditions: { ready: true } })),
});

test("a service with a slice reaches Envoy; an edit of the slice, a restart of the API and a removal are followed", async ({ server, namespace }) => {
  if (binary === undefined) return;
  const { objects } = server;
  await objects.create(service(namespace));
  await objects.create(slice(namespace, ["10.9.0.1"]));
  const options = { configDir: undefined, orch: orchOf(server, true) };
  await withServer({}, async ({ ports }, folder) => {
    const envoy = await startEnvoy({
      ...{ binary, folder, discoveryPort: ports.grpc },
      identity: { type: "sidecar", name: "client", namespace, address: "10.9.1.1", labels: {} },
    });
    const cluster = `outbound|80||cart.${namespace}.svc.cluster.local`;
    const addresses = async () => {
      const text = await (await fetch(`http://127.0.0.1:${envoy.adminPort}/clusters`)).text();
      const lines = text.split("\n").filter((line) => line.startsWith(`${cluster}::10.`));
      return [...new Set(lines.map((line) => line.split("::")[1]))].sort();
    };
    const become = (what: string, expected: readonly string[]) =>
      until(what, async () => JSON.stringify(await addresses()) === JSON.stringify(expected));
    try {
      await become("the service's endpoint", ["10.9.0.1:8080"]);
      await objects.apply(slice(namespace, ["10.9.0.2", "10.9.0.3"]));
      await become("the endpoints of the edit", ["10.9.0.2:8080", "10.9.0.3:8080"]);
      await server.stop("at once");
      assert.deepEqual(await addresses(), ["10.9.0.2:8080", "10.9.0.3:8080"], "what is known stays");
      await server.start();
      await objects.apply(slice(namespace, ["10.9.0.4"]));
      await become("the edit after the restart", ["10.9.0.4:8080"]);
      await objects.delete(service(namespace));
      await become("the removal", []);
    } finally {
      await envoy.stop();
    }
  }, { options, settings: { PILOT_DEBOUNCE_AFTER: 10 } });
});
