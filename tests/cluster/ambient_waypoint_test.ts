/** A waypoint on a cluster: a Gateway has the servers deploy the waypoint, which refuses requests by path. */
import assert from "node:assert/strict";
import { GATEWAY_API_DEFINITIONS } from "../../lib/orch/resources/definitions.ts";
import { openDefinition } from "../orch/support/open_definition.ts";
import { AMBIENT, ambientUntilEnd, connections, podsOf, startTunnels } from "./support/ambient.ts";
import { clusterTests } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { rolledOut, ROLLOUT } from "./support/mesh.ts";
import { networksSettled } from "./support/node_plugin.ts";
import { until } from "./support/waiting.ts";
import { applyObjects, deployEcho, request, served, strictPolicy } from "./support/workloads.ts";

const test = clusterTests();

const NAME = "waypoint";

/** Defines Gateways and their classes until the end of a test. */
async function gatewaysDefined(cluster: ClusterHandle): Promise<AsyncDisposable> {
  await using stack = new AsyncDisposableStack();
  for (const one of GATEWAY_API_DEFINITIONS.filter(({ kind }) => ["ApiGateway", "GatewayClass"].includes(kind))) {
    const definition = openDefinition(one);
    stack.defer(async () =>
      void await cluster.kubectl(["delete", "customresourcedefinition", definition.metadata.name])
    );
    await cluster.objects.define(definition);
  }
  return stack.move();
}

/** A policy by which nobody gets to `/admin` of the service `web`. Only the waypoint can enforce the policy. */
function noAdmin(namespace: string): Record<string, unknown> {
  return {
    ...{ apiVersion: "security.mesh.io/v1", kind: "AuthorizationPolicy", metadata: { name: "no-admin", namespace } },
    spec: {
      targetRefs: [{ group: "", kind: "Service", name: "web" }],
      action: "DENY",
      rules: [{ to: [{ operation: { paths: ["/admin", "/admin/*"] } }] }],
    },
  };
}

test("a Gateway of the class mesh-waypoint gets its waypoint, which answers a denied path with 403", async ({ cluster, namespace }) => {
  await using _defined = await gatewaysDefined(cluster);
  const inside = await namespace({ ...AMBIENT, "mesh.io/use-waypoint": NAME });
  await using _agent = await ambientUntilEnd(cluster);
  await using _tunnels = await startTunnels(cluster);
  await applyObjects(cluster, [strictPolicy(inside)]);
  await Promise.all(["web", "client"].map((name) => deployEcho(cluster, { namespace: inside, name })));
  const client = { namespace: inside, workload: "deployment/client" };
  const url = `http://web.${inside}/`;
  await served(cluster, client, url);

  // The policy needs a waypoint. Until there is a waypoint, the service is closed.
  await applyObjects(cluster, [noAdmin(inside)]);
  await until("the service is closed", async () => (await request(cluster, client, url)).status === 0);

  await applyObjects(cluster, [{
    ...{ apiVersion: "gateway.networking.k8s.io/v1", kind: "Gateway", metadata: { name: NAME, namespace: inside } },
    spec: { gatewayClassName: "mesh-waypoint", listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
  }]);
  await cluster.kubectl(["--namespace", inside, "wait", `gateway/${NAME}`, "--for=condition=Programmed", ROLLOUT]);
  await rolledOut(cluster, inside, `deployment/${NAME}`);
  await served(cluster, client, url);
  for (const path of ["admin", "admin/keys"]) {
    const denied = await request(cluster, client, `${url}${path}`);
    assert.deepEqual([denied.status, denied.body], [403, "RBAC: access denied"], path);
  }
  assert.equal((await served(cluster, client, `${url}other`)).status, 200);

  // The server's tunnel sees the waypoint as the client.
  const [web] = await podsOf(cluster, inside, "web");
  const arrived = (await connections(cluster)).filter(({ uid, way }) => uid === web!.uid && way === "in");
  const last = arrived.at(-1);
  assert.deepEqual([last?.by, last?.identity], ["hbone", `spiffe://cluster.local/ns/${inside}/sa/${NAME}`]);
  const service = ["--namespace", inside, "get", "service", "web"];
  const bound = `--output=jsonpath={.status.conditions[?(@.type=="istio.io/WaypointBound")].status}`;
  await until("the Service says so", async () => (await cluster.kubectl([...service, bound])) === "True");
  await cluster.kubectl(["--namespace", inside, "delete", "gateway", NAME]);
  await cluster.kubectl(["--namespace", inside, "delete", "deployments", "--all"]);
  await networksSettled(cluster);
});
