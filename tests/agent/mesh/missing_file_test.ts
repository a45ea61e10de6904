/** Files in rules, on the machines of proxies. */
import { IdentityMesh } from "../../../scripts/demo/identity_mesh.ts";
import { oneRequest } from "../../../scripts/demo/load.ts";
import { sidecarFile } from "../../../scripts/demo/workloads.ts";
import { withPorts } from "../../../scripts/ports.ts";
import { callerEcho } from "../../../scripts/demo/caller_echo.ts";
import { envoyPath } from "../../envoy/path.ts";
import { until } from "../../patience.ts";

const bank = (port: number) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: bank, namespace: demo }
spec:
  hosts: [bank.test]
  ports: [{ number: ${port}, name: https, protocol: HTTPS }]
  resolution: STATIC
  endpoints: [{ address: 127.0.0.1 }]
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: bank, namespace: demo }
spec:
  host: bank.test
  trafficPolicy: { tls: { mode: SIMPLE, caCertificates: /no/such/authorities.pem, sni: bank.test } }
`;

Deno.test({
  name: "a proxy starts and serves although a rule for one service names authorities that its machine lacks",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(7, async ([port = 0, there = 0, https = 0, ...ports]) => {
      await using app = callerEcho();
      const sidecar = sidecarFile({ name: "server", port: there, application: app.port }).replace("~/*", "./bank.test");
      await using mesh = await IdentityMesh.start({
        port,
        files: { "sidecar.yaml": sidecar, "bank.yaml": bank(https) },
      });
      try {
        await mesh.agent({ name: "server", ports });
        await until("it serves", async () => await oneRequest(there, "app.test") === "nobody");
      } catch (error) {
        throw mesh.failure(error);
      }
    }),
});
