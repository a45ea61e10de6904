/** The default values of a stock agent of Istio against a server without a flag: each fits, in both spellings. */
import assert from "node:assert/strict";
import { tokenAudiences } from "../../lib/authenticators/audiences.ts";
import { OWN_TOKEN_FILES } from "../../lib/authenticators/own_token.ts";
import { AGENT_PATHS } from "../../lib/agent/start/agent_paths.ts";
import { serverNames } from "../../lib/authority/server_names.ts";
import { defaultMeshConfig } from "../../lib/config/mesh/merge.ts";
import { tokenReviewer } from "../../lib/discovery/clusters/askers.ts";
import { wantedClusters } from "../../lib/discovery/clusters/wanted.ts";
import { createFakeClock } from "../../lib/kernel/time/fake_clock.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { networkLookup } from "../../lib/mesh/networks.ts";
import { ApiClient } from "../../lib/orch/client/client.ts";
import { parseNodeId } from "../../lib/translate/proxy/identity.ts";
import { until } from "../patience.ts";
import { openLog } from "./open_log.ts";
import { QuestionClient } from "./question_client.ts";
import { page, withServer } from "./running.ts";

const WORLD = `
apiVersion: networking.istio.io/v1
kind: ServiceEntry
metadata: { name: dns, namespace: kube-system }
spec:
  hosts: [dns.kube-system.svc.cluster.local]
  location: MESH_INTERNAL
  resolution: STATIC
  addresses: [10.96.0.10]
  ports: [{ number: 53, name: tcp-dns, protocol: TCP }]
  endpoints: [{ address: 10.8.0.1, labels: { app: dns } }]
---
apiVersion: v1
kind: Service
metadata: { name: web, namespace: shop }
spec:
  clusterIP: 10.96.0.20
  selector: { app: web }
  ports: [{ name: http, port: 80, targetPort: 8080 }]
---
apiVersion: v1
kind: Pod
metadata: { name: web-0, namespace: shop, labels: { app: web } }
spec: { containers: [{ name: web, image: web }] }
status: { podIP: 10.8.0.2, phase: Running, conditions: [{ type: Ready, status: "True" }] }
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: { name: web-1, namespace: shop, labels: { kubernetes.io/service-name: web } }
addressType: IPv4
ports: [{ name: http, port: 8080 }]
endpoints: [{ addresses: [10.8.0.2], conditions: { ready: true }, targetRef: { kind: Pod, name: web-0, namespace: shop } }]
---
apiVersion: networking.istio.io/v1
kind: DestinationRule
metadata: { name: web, namespace: shop }
spec:
  host: web
  subsets:
  - { name: here, labels: { topology.istio.io/cluster: Kubernetes } }
  - { name: ours, labels: { topology.mesh.io/cluster: Orch } }
`;

const ID = "sidecar~10.8.0.2~web-0.shop~shop.svc.cluster.local";

/** The resources of a proxy with a named cluster, without the name. */
async function resourcesOf(port: number, http: number, cluster: string | undefined) {
  const metadata = cluster === undefined ? undefined : { CLUSTER_ID: cluster };
  using proxy = await QuestionClient.connect(port, ID, undefined, metadata);
  await proxy.subscribe();
  const ask = async (path: string) => (await page(http, `/debug/${path}?proxyID=web-0.shop`)).body;
  return { clusters: await ask("config_dump"), endpoints: await ask("edsz") };
}

for (const own of ["Orch", "Kubernetes"]) {
  Deno.test(`a server of cluster ${own} gives proxies the same resources, whether they name Orch, Kubernetes or no cluster`, async () => {
    await withServer({ "world.yaml": WORLD }, async ({ ports }) => {
      const said = await resourcesOf(ports.grpc, ports.http, undefined);
      assert.match(said.clusters, /inbound\|8080\|\|/);
      assert.match(said.endpoints, /outbound\|53\|\|dns\.kube-system\.svc\.cluster\.local[^}]*?"endpoints":\[\{/);
      for (const subset of ["here", "ours"]) {
        assert.match(said.endpoints, new RegExp(`outbound\\|80\\|${subset}\\|web[^}]*?"endpoints":\\[\\{`), subset);
      }
      for (const cluster of ["Orch", "Kubernetes"]) {
        const other = await resourcesOf(ports.grpc, ports.http, cluster);
        assert.equal(other.endpoints, said.endpoints, cluster);
        assert.match(other.clusters, /inbound\|8080\|\|/, cluster);
      }
      const found = JSON.parse((await page(ports.http, "/debug/warningz")).body) as { name: string }[];
      assert.deepEqual(found.filter(({ name }) => name === "unknown-cluster"), []);
    }, { options: { clusterId: own, manifestServices: true } });
  });
}

Deno.test("proxies of any other cluster are a finding and a log line, once for each name, until they disconnect", async () => {
  const log = openLog();
  await withServer({ "world.yaml": WORLD }, async ({ ports }) => {
    const warnings = async () => {
      const all = JSON.parse((await page(ports.http, "/debug/warningz")).body) as Record<string, string>[];
      return all.filter(({ name }) => name === "unknown-cluster");
    };
    {
      using one = await QuestionClient.connect(ports.grpc, ID, undefined, { CLUSTER_ID: "west" });
      using two = await QuestionClient.connect(ports.grpc, ID.replace("web-0", "web-1"), undefined, {
        CLUSTER_ID: "west",
      });
      await Promise.all([one.subscribe(), two.subscribe()]);
      const [found, ...more] = await warnings();
      assert.equal(more.length, 0);
      assert.deepEqual([found!["code"], found!["severity"]], ["MSH1058", "warning"]);
      assert.match(found!["message"]!, /name the cluster "west" \(CLUSTER_ID\), expected "Orch"/);
      const lines = () => log.lines.filter(({ what }) => what === "unknown-cluster");
      await until("the line is written", () => lines().length > 0);
      assert.equal(lines().length, 1);
    }
    await until("the finding goes with the proxies", async () => (await warnings()).length === 0);
  }, { log: log.log, options: { manifestServices: true } });
});

Deno.test("the list of clients' cluster names is bounded", async () => {
  await withServer({}, async ({ ports }) => {
    const clients = await Promise.all(Array.from({ length: 30 }, async (_, i) => {
      const id = `sidecar~10.9.0.${i}~a-${i}.x~x.svc.cluster.local`;
      const client = await QuestionClient.connect(ports.grpc, id, undefined, { CLUSTER_ID: `c${i}${"x".repeat(900)}` });
      await client.subscribe();
      return client;
    }));
    const { body } = await page(ports.http, "/debug/warningz");
    const found = (JSON.parse(body) as { name: string }[]).filter(({ name }) => name === "unknown-cluster");
    assert.equal(found.length, 20);
    assert.ok(body.length < 40_000);
    for (const client of clients) client[Symbol.dispose]();
  });
});

Deno.test("a token of a stock agent is reviewed by the server's own API, a token of another cluster is not", async () => {
  const asked: string[] = [];
  const user = { username: "system:serviceaccount:shop:cart", groups: ["system:serviceaccounts"] };
  const api = new ApiClient({
    access: { current: () => ({ server: "http://api.test" }), refused: () => {} },
    clock: createFakeClock(),
    exchange: (_, init) => {
      asked.push(JSON.parse(String(init.body)).spec.token);
      return Promise.resolve(Response.json({ status: { authenticated: true, audiences: ["istio-ca"], user } }));
    },
  });
  const part = (value: unknown) => btoa(JSON.stringify(value)).replaceAll("=", "");
  const token = (n: number) => `${part({ alg: "RS256" })}.${part({ sub: `a${n}`, exp: 4e9 })}.x`;
  const audiences = tokenAudiences(defaultSettings("pilot-discovery").TOKEN_AUDIENCES);
  const review = tokenReviewer(api, { clusterId: "Orch", clusterAliases: {} }, undefined);
  for (const [n, cluster] of ["Kubernetes", "Orch", undefined].entries()) {
    assert.equal((await review(token(n), audiences, cluster)).authenticated, true);
  }
  assert.equal(asked.length, 3);
  const named = tokenReviewer(api, { clusterId: "east", clusterAliases: {} }, undefined);
  for (const [review, cluster] of [[review_(api), "west"], [named, "Kubernetes"], [named, "constructor"]] as const) {
    await assert.rejects(review(token(9), audiences, cluster), /is not known here/);
  }
  assert.equal(asked.length, 3, "a server that has a name of its own is neither default");
});

const review_ = (api: ApiClient) => tokenReviewer(api, { clusterId: "Orch", clusterAliases: {} }, undefined);

/** Value by value: ours, and Istio's. A server and an agent without a flag take both. */
Deno.test("every default value that is sent between the programs is accepted in both spellings", () => {
  const settings = defaultSettings("pilot-discovery");
  const rows: Readonly<Record<string, readonly [readonly string[], readonly string[]]>> = {
    "audiences of tokens": [["mesh-ca", "istio-ca"], tokenAudiences(settings.TOKEN_AUDIENCES)],
    "tokens of an agent": [
      ["./var/run/secrets/tokens/mesh-token", "./var/run/secrets/tokens/istio-token"],
      AGENT_PATHS.tokens,
    ],
    "tokens of the server": [
      ["./var/run/secrets/tokens/mesh-token", "./var/run/secrets/tokens/istio-token"],
      OWN_TOKEN_FILES,
    ],
    "roots of an agent": [
      ["./var/run/secrets/mesh/root-cert.pem", "./var/run/secrets/istio/root-cert.pem"],
      AGENT_PATHS.roots,
    ],
    "labels of a pod in files": [["./etc/mesh/pod", "./etc/istio/pod"], AGENT_PATHS.pod],
    "names of the server": [
      ["meshd.mesh-system.svc", "istiod.mesh-system.svc", "istiod.istio-system.svc"],
      serverNames({ namespace: "mesh-system", revision: "default", customHosts: "", discoveryAddress: "" }),
    ],
    "trust domain": [["cluster.local"], [defaultMeshConfig({ systemNamespace: "mesh-system" }).trustDomain]],
  };
  for (const [what, [wanted, taken]] of Object.entries(rows)) {
    assert.deepEqual(wanted.filter((value) => !taken.includes(value)), [], what);
  }
  for (const type of ["sidecar", "router"]) {
    assert.equal(parseNodeId(`${type}~10.0.0.1~a.x~x.svc.cluster.local`).type, type);
  }
  const networks = { networks: { n: { endpoints: [{ fromRegistry: "Kubernetes" }], gateways: [] } } };
  assert.equal(networkLookup(networks, "Orch")("10.0.0.1"), "n");
  assert.equal(networkLookup(networks, "east")("10.0.0.1"), "");
  const secret = { name: "mesh-system/a", created: 1, entries: new Map([["Kubernetes", "a"], ["west", "b"]]) };
  assert.deepEqual([...wantedClusters([secret], "Orch").wanted.keys()], ["west"]);
  assert.deepEqual([...wantedClusters([secret], "east").wanted.keys()], ["Kubernetes", "west"]);
});
