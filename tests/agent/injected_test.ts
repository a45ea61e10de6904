/** A pod's injected proxy with a real agent: arguments, variables and files are the agent's whole input. */
import assert from "node:assert/strict";
import { isProxy } from "../../lib/injection/sidecar/input.ts";
import type { InjectedPod, PodContainer } from "../../lib/injection/pod.ts";
import { AgentProcess } from "../../scripts/demo/agent.ts";
import { withPorts } from "../../scripts/ports.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { injected } from "../injection/support.ts";
import { envoyPath } from "../envoy/path.ts";
import { type TokenServer, withTokenServer } from "./support/token_agent.ts";
import { until } from "../patience.ts";

/** A kubelet's knowledge of the pod. */
const FIELDS: Readonly<Record<string, string>> = {
  "metadata.name": "cart-5d8f9c7b6d-x2x7k",
  "metadata.namespace": "shop",
  "status.podIP": "127.0.0.1",
  "status.hostIP": "127.0.0.1",
  "spec.serviceAccountName": "cart",
  "spec.nodeName": "node-1",
  "limits.cpu": "1",
};

/** Variables in the form of the kubelet. */
function variablesOf({ env = [] }: PodContainer): Record<string, string> {
  return Object.fromEntries(env.map(({ name, value, valueFrom }) => {
    if (value !== undefined) return [name, value];
    const { fieldRef, resourceFieldRef } = valueFrom as {
      readonly fieldRef?: { readonly fieldPath: string };
      readonly resourceFieldRef?: { readonly resource: string };
    };
    return [name, FIELDS[fieldRef?.fieldPath ?? resourceFieldRef?.resource ?? ""] ?? assert.fail(name)];
  }));
}

/** Labels or annotations as the downward API writes them into a file. */
function downward(texts: Readonly<Record<string, string>> = {}): string {
  return Object.entries(texts).map(([key, text]) => `${key}=${JSON.stringify(text)}\n`).join("");
}

interface ProjectedVolume {
  readonly name: string;
  readonly downwardAPI?: { readonly items: readonly { readonly path: "labels" | "annotations" }[] };
  readonly projected?: { readonly sources: readonly [{ readonly serviceAccountToken: { readonly path: string } }] };
  readonly configMap?: { readonly name: string };
}

/** The files of the container's volumes, by path. */
function filesOf(pod: InjectedPod, { volumeMounts = [] }: PodContainer, token: string, roots: string) {
  const volumes = new Map((pod.spec.volumes as unknown as ProjectedVolume[]).map((volume) => [volume.name, volume]));
  const files: Record<string, string> = {};
  for (const { name, mountPath } of volumeMounts) {
    const volume = volumes.get(name) ?? assert.fail(`no volume ${name}`);
    const folder = mountPath.slice(1);
    for (const { path } of volume.downwardAPI?.items ?? []) files[`${folder}/${path}`] = downward(pod.metadata[path]);
    const source = volume.projected?.sources[0];
    if (source !== undefined) files[`${folder}/${source.serviceAccountToken.path}`] = token;
    if (volume.configMap !== undefined) files[`${folder}/root-cert.pem`] = roots;
  }
  return files;
}

/** A service behind mutual TLS: the proxy shows its certificate. */
const mutual = (port: number) => `
apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: far, namespace: shop }
spec:
  hosts: [far.example]
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 192.0.2.1 }]
---
apiVersion: networking.mesh.io/v1
kind: DestinationRule
metadata: { name: far, namespace: shop }
spec: { host: far.example, trafficPolicy: { tls: { mode: MESH_MUTUAL } } }
`;

/** A pod of a Deployment. Its proxy finds this server, and listens on leased ports. */
function cart(server: TokenServer, app: number, [admin, status, readiness, metrics]: readonly number[]): InjectedPod {
  const proxy = {
    ...{ discoveryAddress: `localhost:${server.port}`, proxyAdminPort: admin, statusPort: status, binaryPath: "envoy" },
    ...{ concurrency: 1, terminationDrainDuration: "0.1s" },
    proxyMetadata: {
      ...{ PROXY_STATUS_PORT: `${readiness}`, PROXY_METRICS_PORT: `${metrics}`, ECC_SIGNATURE_ALGORITHM: "ECDSA" },
    },
  };
  return injected({
    parameters: { cluster: "west", network: "west-net" },
    pod: {
      metadata: {
        generateName: "cart-5d8f9c7b6d-",
        namespace: "shop",
        labels: { app: "cart", version: "v1", "pod-template-hash": "5d8f9c7b6d" },
        annotations: {
          "proxy.mesh.io/config": JSON.stringify(proxy),
          "sidecar.mesh.io/interceptionMode": "NONE",
          ...{ "prometheus.io/scrape": "true", "prometheus.io/port": `${app}`, "prometheus.io/path": "/numbers" },
        },
        ownerReferences: [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "cart-5d8f9c7b6d", controller: true }],
      },
      spec: {
        serviceAccountName: "cart",
        containers: [{
          ...{ name: "app", image: "shop/cart:1", ports: [{ name: "web", containerPort: app }] },
          readinessProbe: { httpGet: { path: "/alive", port: "web" } },
        }],
      },
    },
  });
}

Deno.test({
  name: "an injected proxy has its identity, says who it is, answers for the application's probe and scrapes it",
  ignore: envoyPath() === undefined,
  fn: () =>
    withPorts(5, async ([far = 0, ...ports]) => {
      const [admin, status, readiness] = ports;
      await using issuer = await TestIssuer.start();
      await using application = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
        const { pathname } = new URL(request.url);
        if (pathname === "/numbers") return new Response("carts_total 7\n");
        return new Response(null, { status: pathname === "/alive" ? 200 : 404 });
      });
      await withTokenServer({ issuer, files: { "far.yaml": mutual(far) } }, async (server) => {
        const pod = cart(server, application.addr.port, ports);
        const container = pod.spec.containers.find(isProxy)!;
        const env = variablesOf(container);
        const [command, ...args] = (container.args ?? []).map((arg) =>
          arg.replace(/\$\((\w+)\)/g, (_, name: string) => env[name] ?? assert.fail(name))
        );
        assert.equal(command, "proxy");
        const token = await issuer.token({ sub: "system:serviceaccount:shop:cart" });
        await using agent = await AgentProcess.start({
          ...{ args, env, files: filesOf(pod, container, token, server.root) },
        });
        const get = (port: number | undefined, path: string) => fetch(`http://127.0.0.1:${port}${path}`);
        const isReady = () => get(readiness, "/healthz/ready").then(({ ok }) => ok, () => false);
        await until("the proxy is ready", isReady).catch((error) => {
          throw new Error(`${error.message}\n${agent.output}`);
        });
        const identity = 'spiffe://cluster.local/ns/shop/sa/cart"';
        await until("its certificate", async () => (await (await get(admin, "/certs")).text()).includes(identity));

        const { configs } = await (await get(admin, "/config_dump")).json();
        const { id, metadata } = configs.find(({ bootstrap }: { bootstrap?: object }) => bootstrap).bootstrap.node;
        assert.equal(id, "sidecar~127.0.0.1~cart-5d8f9c7b6d-x2x7k.shop~shop.svc.cluster.local");
        assert.deepEqual(metadata.LABELS.app, "cart");
        const { WORKLOAD_NAME, OWNER, CLUSTER_ID, NETWORK, NODE_NAME, SERVICE_ACCOUNT, APP_CONTAINERS } = metadata;
        assert.deepEqual({ WORKLOAD_NAME, OWNER, CLUSTER_ID, NETWORK, NODE_NAME, SERVICE_ACCOUNT, APP_CONTAINERS }, {
          ...{ WORKLOAD_NAME: "cart", OWNER: "kubernetes://apis/apps/v1/namespaces/shop/deployments/cart" },
          ...{ CLUSTER_ID: "west", NETWORK: "west-net", NODE_NAME: "node-1", SERVICE_ACCOUNT: "cart" },
          APP_CONTAINERS: "app",
        });
        assert.equal(metadata.INTERCEPTION_MODE, "NONE");

        const probe = pod.spec.containers.find(({ name }) => name === "app")!.readinessProbe!.httpGet!;
        assert.equal(probe.port, status, "the probe is the agent's now");
        assert.equal((await get(status, probe.path!)).status, 200);
        const { annotations = {} } = pod.metadata;
        assert.equal(annotations["prometheus.io/port"], `${status}`, "scrapes are the agent's now");
        const scraped = await (await get(status, annotations["prometheus.io/path"] ?? "")).text();
        assert.match(scraped, /^carts_total 7$/m);
        assert.match(scraped, /^envoy_server_live/m);
      });
    }),
});
