/** Traffic from outside reaches services over a gateway whose pods injection fills in; the status of objects follows. */
import assert from "node:assert/strict";
import { clusterTests, INJECTED } from "./support/cluster_tests.ts";
import type { ClusterHandle } from "./support/handle.ts";
import { applyManifests, deleteManifests, MESH_NAMESPACE, rolledOut, ROLLOUT } from "./support/mesh.ts";
import { kill } from "./support/rollouts.ts";
import { applyObjects, deployEcho } from "./support/workloads.ts";
import { until } from "./support/waiting.ts";

const test = clusterTests();

const GATEWAYS = "mesh-ingress";

/** Sends a request from outside of the cluster's nodes. @returns the status, 0 without an answer, and the body */
async function outside(cluster: ClusterHandle, address: string, host: string, path = "/") {
  const curl = ["curl", "--silent", "--max-time 10", "--write-out '\\n%{http_code}'", `--header 'Host: ${host}'`];
  const text = await cluster.onControl(`${curl.join(" ")} http://${address}${path} || true`);
  const end = text.lastIndexOf("\n");
  return { status: Number(text.slice(end + 1)), body: text.slice(0, end) };
}

/** Waits for the load balancer's address of the gateway. */
async function gatewayAddress(cluster: ClusterHandle): Promise<string> {
  const path = "{.status.loadBalancer.ingress[0].ip}";
  const wait = ["wait", "service/mesh-ingressgateway", `--for=jsonpath=${path}`, ROLLOUT];
  await cluster.kubectl(["--namespace", GATEWAYS, ...wait]);
  return await cluster.kubectl([
    ...["--namespace", GATEWAYS, "get", "service", "mesh-ingressgateway", `--output=jsonpath=${path}`],
  ]);
}

/** A Gateway of a host, and the way from the host to a service. */
function doorTo(namespace: string, host: string): Record<string, unknown>[] {
  const apiVersion = "networking.mesh.io/v1";
  const http = [{ route: [{ destination: { host: `web.${namespace}.svc.cluster.local` } }] }];
  const servers = [{ port: { number: 80, name: "http", protocol: "HTTP" }, hosts: [host] }];
  return [
    {
      ...{ apiVersion, kind: "Gateway", metadata: { name: "door", namespace } },
      spec: { selector: { mesh: "ingressgateway" }, servers },
    },
    {
      ...{ apiVersion, kind: "VirtualService", metadata: { name: "door", namespace } },
      spec: { hosts: [host], gateways: ["door"], http },
    },
  ];
}

/** An Ingress of a host. */
function ingressTo(namespace: string, name: string, host: string): Record<string, unknown> {
  const backend = { service: { name: "web", port: { name: "http" } } };
  const rules = [{ host, http: { paths: [{ path: "/", pathType: "Prefix", backend }] } }];
  const annotations = { "kubernetes.io/ingress.class": "mesh" };
  return {
    ...{ apiVersion: "networking.k8s.io/v1", kind: "Ingress", metadata: { name, namespace, annotations } },
    spec: { rules },
  };
}

async function setAnalysis(cluster: ClusterHandle, setting: string): Promise<void> {
  await cluster.kubectl(["--namespace", MESH_NAMESPACE, "set", "env", "deployment/meshd", setting]);
  await rolledOut(cluster, MESH_NAMESPACE, "deployment/meshd");
}

/** The pod that writes the status of Ingresses. */
async function leader(cluster: ClusterHandle): Promise<string> {
  const path = "{.metadata.annotations.control-plane\\.alpha\\.kubernetes\\.io/leader}";
  const lock = ["--namespace", MESH_NAMESPACE, "get", "configmap", "mesh-leader", `--output=jsonpath=${path}`];
  const { holderIdentity } = JSON.parse(await cluster.kubectl(lock)) as { holderIdentity: string };
  return holderIdentity.split("_")[0]!;
}

async function hasAddress(cluster: ClusterHandle, namespace: string, ingress: string, address: string): Promise<void> {
  const condition = `--for=jsonpath={.status.loadBalancer.ingress[0].ip}=${address}`;
  await cluster.kubectl(["--namespace", namespace, "wait", `ingress/${ingress}`, condition, ROLLOUT]);
}

test("a gateway serves its load balancer's address, and status is written, also after the leader is killed", async ({ cluster, namespace }) => {
  const name = await namespace(INJECTED);
  const [first, second, third] = ["own", "ingress", "later"].map((label) => `${label}.${name}.example`);
  try {
    await Promise.all([
      setAnalysis(cluster, "PILOT_ENABLE_ANALYSIS=true"),
      deployEcho(cluster, { namespace: name, name: "web" }),
      applyManifests(cluster, "gateway.yaml"),
    ]);
    await rolledOut(cluster, GATEWAYS, "deployment/mesh-ingressgateway");
    const address = await gatewayAddress(cluster);
    await applyObjects(cluster, [...doorTo(name, first!), ingressTo(name, "second", second!)]);
    // The pods of the gateway get a change one after the other.
    const answered = async (status: number, host: string, path = "/") => {
      let body = "";
      await until(`${host}${path}: ${status}`, async () => {
        const answer = await outside(cluster, address, host, path);
        body = answer.body;
        return answer.status === status;
      });
      return body;
    };
    for (const host of [first!, second!]) await answered(200, host);
    await answered(404, `unknown.${name}.example`);
    const { path, headers } = JSON.parse(await answered(200, first!, "/some/path"));
    assert.equal(path, "/some/path");
    assert.match(headers["x-forwarded-client-cert"], new RegExp(`ns/${GATEWAYS}/sa/mesh-ingressgateway`));
    const reconciled = ["--namespace", name, "wait", "--for=condition=Reconciled", ROLLOUT];
    await cluster.kubectl([
      ...reconciled,
      "gateways.networking.mesh.io/door",
      "virtualservices.networking.mesh.io/door",
    ]);
    await hasAddress(cluster, name, "second", address);

    const old = await leader(cluster);
    await kill(cluster, { namespace: MESH_NAMESPACE, pod: old, container: "discovery" });
    await Promise.all([
      cluster.kubectl(["--namespace", MESH_NAMESPACE, "delete", "pod", old, "--grace-period=0", "--force"]),
      applyObjects(cluster, [ingressTo(name, "third", third!)]),
    ]);
    await hasAddress(cluster, name, "third", address);
    assert.notEqual(await leader(cluster), old);
    await answered(200, third!);
  } finally {
    await deleteManifests(cluster, "gateway.yaml");
    await setAnalysis(cluster, "PILOT_ENABLE_ANALYSIS-");
  }
});
