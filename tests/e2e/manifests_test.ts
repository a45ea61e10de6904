/**
 * A real Envoy sends requests where a cluster's manifests in the folder say, and follows an edit of a slice.
 */
import assert from "node:assert/strict";
import { withPorts } from "../../scripts/ports.ts";
import { DOOR, gateway } from "./support/door.ts";
import { envoyPath, TestMesh } from "./support/mesh.ts";
import { requestHost } from "./support/request.ts";
import { until } from "../patience.ts";

const path = envoyPath();

/** An application that answers with a fixed text. */
function application(text: string) {
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, () => new Response(text));
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

const cluster = `apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Service
  metadata: { name: hello, namespace: demo }
  spec: { clusterIP: 10.96.0.9, clusterIPs: [10.96.0.9], selector: { app: hello }, ports: [{ name: http, port: 80 }] }
- apiVersion: v1
  kind: Pod
  metadata: { name: hello-1, namespace: demo, labels: { app: hello } }
  spec: { serviceAccountName: hello, containers: [] }
  status: { phase: Running, podIP: 127.0.0.1, podIPs: [{ ip: 127.0.0.1 }], conditions: [{ type: Ready, status: "True" }] }
`;

const route = `apiVersion: networking.istio.io/v1
kind: VirtualService
metadata: { name: hello, namespace: demo }
spec:
  hosts: [hello.test]
  gateways: [door]
  http: [{ route: [{ destination: { host: hello } }] }]
`;

function slice(port: number, ready = true): string {
  return `apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: hello-x, namespace: demo, labels: { kubernetes.io/service-name: hello } }
addressType: IPv4
ports: [{ name: http, port: ${port}, protocol: TCP }]
endpoints:
- { addresses: [127.0.0.1], conditions: { ready: ${ready} }, targetRef: { kind: Pod, name: hello-1, namespace: demo } }
`;
}

async function ask(port: number): Promise<string> {
  const response = await requestHost(port, "hello.test");
  if (typeof response === "string") return "closed";
  return response.status === 200 ? response.body : String(response.status);
}

Deno.test({
  name: "requests follow the slice of a cluster's manifests from pod to pod; one that is not ready gets none",
  ignore: path === undefined,
  fn: () =>
    withPorts(1, async ([port = 0]) => {
      await using one = application("one");
      await using two = application("two");
      await using mesh = await TestMesh.start({
        files: {
          "gateway.yaml": gateway(port),
          "cluster.yaml": cluster,
          "route.yaml": route,
          "slice.yaml": slice(one.port),
        },
        manifestServices: true,
      });
      const envoy = await mesh.attach(path!, DOOR, true);
      await mesh.settled();
      await envoy.ready(port);
      assert.equal(await ask(port), "one");

      await mesh.write("slice.yaml", slice(two.port));
      await until("the endpoint that moved", async () => await ask(port) === "two");
      await mesh.write("slice.yaml", slice(two.port, false));
      await until("no endpoint is ready", async () => await ask(port) === "503");
      await mesh.write("slice.yaml", slice(one.port));
      await until("the endpoint that is ready again", async () => await ask(port) === "one");

      await mesh.write("cluster.yaml");
      await until("the service that went", async () => await ask(port) !== "one");
      await mesh.write("cluster.yaml", cluster);
      await until("the service that came back", async () => await ask(port) === "one");
      await mesh.settled();
    }),
});
