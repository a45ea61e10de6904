/**
 * A node in ambient mode without pods: a real API server, the discovery server with its authority, the node agent's
 * socket process and rules, and the node tunnel.
 *
 * Permissions: all of the servers', of the agent's and of the networks'; root.
 *
 * @module
 */
import { ownCommandLine } from "../../../cmd/install-cni/own_command_line.ts";
import { podRules } from "../../../lib/cni/ambient/pod_rules.ts";
import { systemKeeper } from "../../../lib/cni/ambient/start.ts";
import { spawnNsenter } from "../../../lib/cni/plugin/enter.ts";
import { startZds, ZdsClient } from "../../../lib/cni/zds/client.ts";
import { createLog, defaultLogOptions } from "../../../lib/kernel/log/log.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { readCertificates, writeCertificates } from "../../../lib/pki/certificate.ts";
import { withServer } from "../../discovery/running.ts";
import { type ApiServer, startApiServer } from "../../orch/support/server/api_server.ts";
import { until } from "../../patience.ts";
import { NODE_ADDRESS, type PodNetwork, PodNetworks } from "./network.ts";
import { makePod, NODE } from "./objects.ts";
import { TunnelProcess } from "./tunnel_process.ts";

const ROOT_NAMESPACE = "mesh-system";
const PROBE_SOURCE = { 4: "169.254.7.127", 6: "fd16:9254:7127:1337:ffff:ffff:ffff:ffff" };

/** How a node is set up. */
export interface NodeDraft {
  /** Files of the discovery server, by name. */
  readonly files: Readonly<Record<string, string>>;
  readonly meshConfig: object;
  readonly namespaces: readonly string[];
  /** DNS of captured pods goes to the tunnel. */
  readonly capturesDns: boolean;
}

/** Where the discovery server is, and files. */
export interface ServerPlace {
  /** Folder of the server's configuration. */
  readonly folder: string;
  /** Folder of other files, for the lifetime of the node. */
  readonly kept: string;
  readonly port: number;
  /** The mesh's root certificate. */
  readonly root: string;
}

/** A pod for the node agent. */
export interface CapturedPod {
  readonly network: PodNetwork;
  readonly uid: string;
  readonly namespace: string;
  /** Default: the name of the network. */
  readonly name?: string;
  readonly serviceAccount: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** The running node. */
export interface AmbientNode {
  readonly api: ApiServer;
  readonly networks: PodNetworks;
  readonly place: ServerPlace;
  readonly zds: ZdsClient;
  /** Puts rules into a pod, and hands the pod to the tunnel. */
  capture(pod: CapturedPod): Promise<void>;
  /** Starts the agent's socket, and the tunnel. */
  start(): Promise<TunnelProcess>;
  /** Kills the socket process of the node agent, which starts another. */
  killAgent(): void;
  /** Writes objects of the server's folder. None: removes the file. */
  write(file: string, ...objects: readonly object[]): Promise<void>;
}

/** Runs a node. */
export async function withAmbientNode(
  { files, meshConfig, namespaces, capturesDns }: NodeDraft,
  run: (node: AmbientNode) => Promise<void>,
): Promise<void> {
  await using networks = new PodNetworks();
  await networks.lay();
  await using api = await startApiServer();
  const kept = await Deno.makeTempDir();
  const orch = {
    place: { from: "files", files: [api.kubeconfig], by: "test" },
    ...{ qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: true },
  } as const;
  for (const name of [ROOT_NAMESPACE, ...namespaces]) {
    await api.objects.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  }
  const meshFile = `${kept}/mesh.json`;
  await Deno.writeTextFile(meshFile, JSON.stringify(meshConfig));
  await withServer(files, async ({ ports }, folder) => {
    const place = { folder, kept, port: ports.secureGrpc!, root: await rootOf(api) };
    await runNode(api, networks, place, capturesDns, run);
  }, {
    options: {
      ...{ orch, meshConfig: meshFile, clusterId: "Kubernetes", secureGrpc: "0.0.0.0:0", tls: { cipherSuites: [] } },
    },
    settings: {
      ...{ PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_MULTI_NETWORK: true, MESHD_CUSTOM_HOST: "localhost" },
      ...{ ROOT_CA_DIR: `${kept}/none`, MESH_SELF_SIGNED_CA_DIR: kept },
      CA_TRUSTED_NODE_ACCOUNTS: `${ROOT_NAMESPACE}/ztunnel`,
    },
  }).finally(() => Deno.remove(kept, { recursive: true }));
}

async function runNode(
  api: ApiServer,
  networks: PodNetworks,
  place: ServerPlace,
  capturesDns: boolean,
  run: (node: AmbientNode) => Promise<void>,
): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const socket = `${place.kept}/ztunnel.sock`;
  const log = createLog([], { ...defaultLogOptions, targets: [] }).scope("cni-agent");
  const agents: Deno.ChildProcess[] = [];
  const spawn = (options: Deno.CommandOptions) => {
    const child = spawnNsenter(options);
    agents.push(child);
    return child;
  };
  const zds = new ZdsClient(
    () => startZds(ownCommandLine(), socket, spawn, log),
    { answered() {}, connected() {} },
    systemClock,
    log,
  );
  stack.defer(() => zds.stop());
  const keeper = systemKeeper({ scopedLock: true, factsFile: undefined });
  const rules = { probeSource: PROBE_SOURCE, capturesDns, ipv6: false };
  await run({
    ...{ api, networks, place, zds },
    async capture({ network, uid, namespace, name = network.name, serviceAccount, annotations = {} }) {
      const { netns, identity } = network;
      await keeper.apply(netns, podRules({ annotations }, rules), () => {});
      await zds.hold({ ...{ uid, name, namespace, serviceAccount }, ...{ netns, identity } });
    },
    async start() {
      await zds.serve();
      return stack.use(await startTunnel(api, place, socket));
    },
    killAgent: () => agents.at(-1)!.kill("SIGKILL"),
    async write(file, ...objects) {
      const path = `${place.folder}/${file}.yaml`;
      if (objects.length === 0) return await Deno.remove(path);
      await Deno.writeTextFile(path, objects.map((one) => JSON.stringify(one)).join("\n---\n"));
    },
  });
}

async function startTunnel(api: ApiServer, { kept, port, root }: ServerPlace, socket: string): Promise<TunnelProcess> {
  const name = "ztunnel-x";
  const uid = await makePod(api, ROOT_NAMESPACE, { name, address: NODE_ADDRESS }, { app: "ztunnel" }, {}, "ztunnel");
  await Deno.writeTextFile(
    `${kept}/token`,
    await api.users.token(ROOT_NAMESPACE, "ztunnel", ["mesh-ca"], { name, uid }),
  );
  await Deno.writeTextFile(`${kept}/root.pem`, root);
  return new TunnelProcess({
    ...{ XDS_ADDRESS: `https://localhost:${port}`, XDS_ROOT_CA: `${kept}/root.pem`, AUTH_TOKEN: `${kept}/token` },
    ...{ ZTUNNEL_UDS_ADDRESS: socket, POD_NAME: name, POD_NAMESPACE: ROOT_NAMESPACE, NODE_NAME: NODE },
    INSTANCE_IP: NODE_ADDRESS,
  });
}

/** The mesh's root, as soon as the server has made it. */
async function rootOf(api: ApiServer): Promise<string> {
  const id = { apiVersion: "v1", kind: "Secret", metadata: { namespace: ROOT_NAMESPACE, name: "mesh-ca-secret" } };
  let data: Readonly<Record<string, string>> | undefined;
  await until("the authority's secret", async () => {
    data = (await api.objects.get(id))?.["data"] as typeof data;
    return data?.["root-cert.pem"] !== undefined;
  });
  return writeCertificates(readCertificates(atob(data!["root-cert.pem"]!)));
}
