/**
 * A mesh in ambient mode on one node: a real API server, the discovery server with its authority, the node agent's
 * socket process and rules, a waypoint by `pilot-agent`, and the node tunnel.
 *
 *     client ── 15001, tunnel ══ HBONE ══> waypoint (Envoy) ══ HBONE ══> tunnel, 15008 ──> web
 *                      └─────── HBONE in HBONE ══> gateway of network far (Envoy) ══ HBONE ══> tunnel, 15008 ──> far
 *
 * Permissions: all of the servers', of the agent's and of the networks'; root.
 *
 * @module
 */
import type { ZdsClient } from "../../../lib/cni/zds/client.ts";
import type { IssuedCertificate } from "../../../lib/agent/secrets/issued_certificate.ts";
import { AgentProcess } from "../../agent/support/agent_process.ts";
import type { ApiServer } from "../../orch/support/server/api_server.ts";
import { orderFor } from "../certificates/identities.ts";
import { NODE_ADDRESS, type PodNetwork, type PodNetworks } from "./network.ts";
import { type AmbientNode, type ServerPlace, withAmbientNode } from "./node.ts";
import { CAPTURED, makePod, makeService, type Placed } from "./objects.ts";
import type { TunnelProcess } from "./tunnel_process.ts";

const OF_DOOR = { "gateway.networking.k8s.io/gateway-name": "door" };

/** The Gateway of the waypoint. */
const DOOR = {
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: { name: "door", namespace: "shop" },
  spec: { gatewayClassName: "istio-waypoint", listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
  status: { addresses: [{ type: "Hostname", value: "door.shop.svc.cluster.local" }] },
};

/** The other network. */
const FAR = { "topology.istio.io/network": "far" };
const OF_BORDER = {
  "gateway.networking.k8s.io/gateway-name": "border",
  "gateway.istio.io/managed": "istio.io-eastwest-controller",
  ...FAR,
};

/** The Gateway into the other network. */
const borderAt = (address: string, account: string) => ({
  apiVersion: "gateway.networking.k8s.io/v1",
  kind: "Gateway",
  metadata: {
    ...{ name: "border", namespace: "shop", labels: FAR },
    annotations: { "gateway.istio.io/service-account": account },
  },
  spec: { gatewayClassName: "istio-east-west", listeners: [{ name: "mesh", port: 15008, protocol: "HBONE" }] },
  status: { addresses: [{ type: "IPAddress", value: address }] },
});

/** The name of the workload in the other network. Pods of a cluster are in the cluster's network. */
const FAR_NAME = "far-machine";

/** The workload in the other network. The pod at its address proves its account. */
const farEntry = (address: string) => ({
  apiVersion: "networking.istio.io/v1",
  kind: "WorkloadEntry",
  metadata: { name: FAR_NAME, namespace: "shop" },
  spec: {
    ...{ address, network: "far", serviceAccount: "far" },
    labels: { app: "far", "networking.istio.io/tunnel": "http", "security.istio.io/tlsMode": "disabled" },
  },
});

/** Services with this label are reached from other networks. */
const GLOBAL = { "istio.io/global": "true" };
const MESH = {
  serviceScopeConfigs: [{
    servicesSelector: { matchExpressions: [{ key: "istio.io/global", operator: "In", values: ["true"] }] },
    scope: "GLOBAL",
  }],
};

/** The running mesh. */
export interface AmbientWorld {
  readonly networks: PodNetworks;
  /** Pods: `client`, `web` and `far` are captured, `far` in another network behind the gateway `border`. */
  readonly pods: Readonly<Record<"client" | "web" | "outside" | "far" | "border", PodNetwork>>;
  /** Addresses of the services: `web` is behind the waypoint, `direct` and `lost` have the same pods. */
  readonly services: Readonly<Record<"web" | "direct" | "lost" | "far", string>>;
  readonly uids: Readonly<Record<"client" | "web" | "far", string>>;
  readonly zds: ZdsClient;
  readonly tunnel: TunnelProcess;
  /** Puts rules into a pod, and hands the pod to the tunnel under its name. */
  capture(network: PodNetwork, uid: string, serviceAccount: string): Promise<void>;
  /** Tells the orchestrator of a captured pod, whose account has its name. @returns its uid */
  publish(network: PodNetwork, name: string): Promise<string>;
  /** Kills the socket process of the node agent, which starts another. */
  killAgent(): void;
  /** A certificate of the mesh, ordered as the tunnel does. */
  certificate(identity: string): Promise<IssuedCertificate>;
  /** The Gateway into the other network, with the account of its proxy. */
  gateway(account: string): object;
  /** Writes objects of the folder. None: removes the file. */
  write(file: string, ...objects: readonly object[]): Promise<void>;
}

/** Runs a mesh. */
export function withAmbientWorld(run: (world: AmbientWorld) => Promise<void>): Promise<void> {
  const files = { "door.yaml": JSON.stringify(DOOR) };
  const draft = { files, meshConfig: MESH, namespaces: ["shop"], capturesDns: false };
  return withAmbientNode(draft, (node) => runWorld(node, run));
}

async function runWorld(node: AmbientNode, run: (world: AmbientWorld) => Promise<void>): Promise<void> {
  const { api, networks, place, zds, killAgent, write } = node;
  const made = async (name: string, labels: Readonly<Record<string, string>>, annotations = {}): Promise<Placed> => {
    const network = await networks.pod(name);
    return { network, uid: await makePod(api, "shop", network, labels, annotations) };
  };
  const client = await made("client", { app: "client" }, CAPTURED);
  const web = await made("web", { app: "web" }, CAPTURED);
  const door = await made("door", OF_DOOR);
  const far = await made("far", {});
  const gate = await made("border", OF_BORDER);
  await write("far", farEntry(far.network.address));
  await write("border", borderAt(gate.network.address, "border"));
  const outside = await networks.pod("outside");
  const behind = { pods: [web], port: { name: "http", port: 80, targetPort: 8080 }, selector: { app: "web" } };
  const services = {
    web: await makeService(api, { ...behind, name: "web", waypoint: "door" }),
    direct: await makeService(api, { ...behind, name: "direct" }),
    lost: await makeService(api, { ...behind, name: "lost", waypoint: "missing" }),
    far: await makeService(api, { name: "far", port: behind.port, selector: { app: "far" }, labels: GLOBAL }),
  };
  const tunnelled = { name: "hbone", port: 15008, targetPort: 15008 };
  await makeService(api, { name: "door", pods: [door], port: tunnelled, selector: OF_DOOR });
  for (const { network } of [web, far]) await networks.startApplication(network);
  await using stack = new AsyncDisposableStack();
  const capture = (network: PodNetwork, uid: string, serviceAccount: string) =>
    node.capture({ network, uid, namespace: "shop", serviceAccount });
  for (const { network, uid } of [client, web]) await capture(network, uid, network.name);
  await node.capture({ ...far, name: FAR_NAME, namespace: "shop", serviceAccount: far.network.name });
  const tunnel = await node.start();
  stack.use(await startProxy(api, door, OF_DOOR, place));
  stack.use(await startProxy(api, gate, OF_BORDER, place));
  await tunnel.until("snapshot");
  const pods = {
    ...{ client: client.network, web: web.network, outside },
    ...{ far: far.network, border: gate.network },
  };
  const uids = { client: client.uid, web: web.uid, far: far.uid };
  const publish = (network: PodNetwork, name: string) =>
    makePod(api, "shop", { ...network, name }, { app: name }, CAPTURED);
  const { kept, port, root } = place;
  const authority = { host: "localhost", port, root, token: () => Deno.readTextFile(`${kept}/token`) };
  const certificate = (identity: string) => orderFor(identity, authority);
  const gateway = (account: string) => borderAt(gate.network.address, account);
  await run({ networks, pods, services, uids, zds, tunnel, capture, publish, killAgent, certificate, gateway, write });
}

/** Starts the Envoy of a waypoint, or of a gateway between networks. */
async function startProxy(
  api: ApiServer,
  { network, uid }: Placed,
  labels: Readonly<Record<string, string>>,
  { port, root }: ServerPlace,
): Promise<AgentProcess> {
  const { name, address } = network;
  return await AgentProcess.start({
    args: ["waypoint"],
    runner: ["nsenter", `--net=${network.netns}`],
    files: {
      "etc/mesh/pod/labels": Object.entries(labels).map(([key, value]) => `${key}="${value}"\n`).join(""),
      "var/run/secrets/tokens/mesh-token": await api.users.token("shop", name, ["mesh-ca"], { name, uid }),
      "var/run/secrets/mesh/root-cert.pem": root,
    },
    env: {
      ...{ POD_NAME: name, POD_NAMESPACE: "shop", INSTANCE_IP: address, SERVICE_ACCOUNT: name },
      ...{ MESHD_SAN: "localhost", CA_ADDR: `${NODE_ADDRESS}:${port}` },
      PROXY_CONFIG: JSON.stringify({
        ...{ binaryPath: "envoy", discoveryAddress: `${NODE_ADDRESS}:${port}`, concurrency: 1 },
        terminationDrainDuration: "0.1s",
      }),
    },
  });
}
