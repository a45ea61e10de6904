/** DNS of a workload: names from the server, live after an edit, there without the server. */
import assert from "node:assert/strict";
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { query, reply, sendUdp } from "../../dns/support/ask.ts";
import { envoyPath } from "../../envoy/path.ts";
import { until } from "../../patience.ts";

/** A service in the workload's view. */
const entry = (port: number, address: string) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: api, namespace: demo }
spec:
  hosts: [api.test]
  addresses: [${address}]
  resolution: STATIC
  ports: [{ number: ${port}, protocol: HTTP, name: http }]
  endpoints: [{ address: 127.0.0.1 }]
`;

Deno.test({
  name: "an agent waits for the names of the mesh, answers them, follows an edit, and answers without its server",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(7, async ([port = 0, dns = 0, service = 0, ...ports]) => {
      await using mesh = await IdentityMesh.start({ port, files: { "api.yaml": entry(service, "240.1.0.1") } });
      try {
        const agent = await mesh.agent({
          ...{ name: "client", ports },
          env: { ISTIO_META_DNS_CAPTURE: "true", DNS_PROXY_ADDR: `127.0.0.1:${dns}` },
        });
        const page = (path: string) => fetch(`http://127.0.0.1:${ports[1]}/${path}`);
        await until("the workload is ready", async () => {
          const response = await page("healthz/ready").catch(() => undefined);
          await response?.body?.cancel();
          return response?.status === 200;
        });
        const answers = async () => {
          const bytes = await sendUdp({ hostname: "127.0.0.1", port: dns }, query({ name: "api.test" }), 10_000);
          return bytes === undefined ? [] : reply(bytes).answers;
        };
        // Ready with names: the first question after readiness is answered.
        assert.deepEqual(await answers(), ["api.test A 240.1.0.1"]);
        assert.deepEqual((await (await page("debug/ndsz")).json()).table["api.test"], {
          ips: ["240.1.0.1"],
          registry: "External",
        });
        await mesh.write("api.yaml", entry(service, "240.1.0.2"));
        await until("the edit is in force", async () => (await answers())[0] === "api.test A 240.1.0.2");
        await mesh.killServer();
        await until("the agent misses its server", () => agent.output.includes("no discovery server"));
        assert.deepEqual(await answers(), ["api.test A 240.1.0.2"]);
        await mesh.write("api.yaml", entry(service, "240.1.0.3"));
        await mesh.startServer();
        await until("what changed meanwhile is in force", async () => (await answers())[0] === "api.test A 240.1.0.3");
        assert.match(await (await page("stats/prometheus")).text(), /^dns_requests_total(\{.*\})? \d+$/m);
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
