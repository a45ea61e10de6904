/** The parts of a dump as messages: without secrets, and made in steps. */
import assert from "node:assert/strict";
import { dumpMessages } from "../../lib/debug/dump_messages.ts";
import { messageJson } from "../../lib/pb/json.ts";
import { concatBytes } from "../../lib/resource/block.ts";
import type { XdsConnection } from "../../lib/xds/connection.ts";
import { definitions } from "../discovery/definitions.ts";
import { withServer } from "../discovery/running.ts";
import { ROUTER, TestProxy } from "./proxy.ts";

const gateway = `apiVersion: networking.mesh.io/v1
kind: Gateway
metadata: { name: door, namespace: x }
spec:
  servers:
    - port: { number: 8443, name: https, protocol: HTTPS }
      hosts: ["*"]
      tls: { mode: SIMPLE, serverCertificate: /pem/hunter-cert, privateKey: /pem/hunter-key }
---
apiVersion: networking.mesh.io/v1
kind: VirtualService
metadata: { name: door, namespace: x }
spec:
  hosts: [door.test]
  gateways: [door]
  http: [{ directResponse: { status: 418 } }]
`;

const entries = Array.from({ length: 40 }, (_, i) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: s${i}, namespace: x }
spec:
  hosts: [s${i}.example.com]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
`).join("---\n");

/** Runs the steps to their end. */
function made(connection: XdsConnection) {
  const steps = dumpMessages(connection);
  for (let count = 0;; count++) {
    const { done, value } = steps.next();
    if (done) return { parts: value, steps: count };
  }
}

Deno.test("a gateway's keys are replaced, its routes are whole, and no step is for more than one thing", async () => {
  const root = await definitions("envoy/admin/v3/config_dump.proto");
  await withServer({ "door.yaml": gateway, "entries.yaml": entries }, async ({ ports, xds }) => {
    using _proxy = await TestProxy.attach(ports.grpc, ROUTER);
    const { parts, steps } = made([...xds.streams()][0]!);
    const part = (name: string) => {
      const type = root.lookupType(`envoy.admin.v3.${name}`);
      return type.toObject(type.decode(concatBytes(parts.find((one) => one.name === name)!.runs)));
    };
    const { dynamic_active_secrets: [secret] } = part("SecretsConfigDump");
    const json = messageJson("envoy.extensions.transport_sockets.tls.v3.Secret", secret.secret.value, "shown");
    assert.deepEqual(json.tls_certificate, {
      certificate_chain: { filename: "/pem/hunter-cert" },
      private_key: { filename: "[redacted]" },
      watched_directory: { path: "/pem" },
    });
    const { dynamic_route_configs: [route] } = part("RoutesConfigDump");
    const routes = messageJson(
      "envoy.config.route.v3.RouteConfiguration",
      route.route_config.value,
    );
    assert.deepEqual((routes.virtual_hosts as { domains: string[] }[])[0]!.domains, ["door.test"]);
    const { dynamic_active_clusters: clusters } = part("ClustersConfigDump");
    assert.ok(clusters.length >= 40 && steps > clusters.length, `${clusters.length} clusters, ${steps} steps`);
  });
});
