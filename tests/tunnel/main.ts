/**
 * A node tunnel for tests: takes the node's pods from the node agent, asks the discovery server for the mesh and the
 * authority for certificates, and carries the connections of the pods. It stands where the tunnel of a user stands, so
 * it has the same variables, files and ports, and takes the arguments `proxy ztunnel`, which change nothing:
 *
 * | variable | meaning |
 * | --- | --- |
 * | `XDS_ADDRESS`, `CA_ADDRESS` | `https://HOST:PORT` of the discovery server, and of the authority (default: the same) |
 * | `XDS_ROOT_CA` | file with the root certificate of both; default `./var/run/secrets/istio/root-cert.pem` |
 * | `AUTH_TOKEN` | file with the tunnel's token; default `./var/run/secrets/tokens/istio-token` |
 * | `ZTUNNEL_UDS_ADDRESS` | socket of the node agent; default `/var/run/ztunnel/ztunnel.sock` |
 * | `POD_NAME`, `POD_NAMESPACE`, `INSTANCE_IP`, `NODE_NAME`, `CLUSTER_ID` | the tunnel's pod |
 * | `TRUST_DOMAIN` | default `cluster.local` |
 * | `CLUSTER_DOMAIN` | DNS suffix of services; default `cluster.local` |
 * | `ISTIO_META_DNS_CAPTURE` | anything but `true`: the tunnel has no DNS proxy; default `true` |
 * | `TERMINATION_GRACE_PERIOD_SECONDS` | time of the drain at SIGTERM, less a second; default 0: none |
 *
 * Port 15021 has `/healthz/ready`. Each connection has a line on standard output. SIGUSR1 makes a mark there: events
 * before the mark have their lines before the mark.
 *
 * At SIGTERM the tunnel listens no more and tells other tunnels so. It ends when its connections have ended, or at the
 * end of the drain.
 *
 * The DNS proxy answers names of the mesh. It asks the name servers of the tunnel's own `resolv.conf` about other names.
 *
 * Permissions: ffi (the C library), net, env, read (token and root); root with SYS_ADMIN and NET_ADMIN.
 *
 * @module
 */
import { Libc } from "../../lib/cni/zds/libc.ts";
import { parseResolvConf } from "../../lib/dns/resolv_conf.ts";
import { Identities, orderFor } from "./certificates/identities.ts";
import { HeldResources } from "./discovery/held.ts";
import { TunnelStream } from "./discovery/stream.ts";
import { Acceptor } from "./network/acceptor.ts";
import { NetworkSockets } from "./network/sockets.ts";
import { NameProxy } from "./names/proxy.ts";
import { AgentSocket } from "./node/agent_socket.ts";
import { type ListenerKind, type ServedPod, ServedPods } from "./node/pods.ts";
import { Inbound } from "./path/inbound.ts";
import { say } from "./path/log.ts";
import { Outbound } from "./path/outbound.ts";
import { carried } from "./path/pipes.ts";
import { TunnelWorld } from "./path/world.ts";

/** Pauses between connections to the discovery server, ms. */
const FIRST_PAUSE = 100, LONGEST_PAUSE = 15_000;

/** Pause between looks at the connections of a drain, ms. */
const QUIET = 500;

/** Port of the page about readiness. */
const READINESS_PORT = 15021;

interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

interface Place {
  readonly discovery: ServerAddress;
  readonly authority: ServerAddress;
  readonly rootFile: string;
  readonly tokenFile: string;
  readonly agentSocket: string;
  readonly trustDomain: string;
  readonly domain: string;
  readonly hasNames: boolean;
  readonly clusterId: string;
  readonly name: string;
  readonly namespace: string;
  readonly address: string;
  readonly node: string;
  /** Time of the drain, ms. */
  readonly drain: number;
}

/** @throws {TypeError} naming every wrong variable */
function readPlace(env: (name: string) => string | undefined): Place {
  const problems: string[] = [];
  const need = (name: string) => {
    const value = env(name) ?? "";
    if (value === "") problems.push(`${name}: got nothing, expected a text`);
    return value;
  };
  const server = (name: string, otherwise?: string): ServerAddress => {
    const text = env(name) ?? otherwise ?? "";
    const [, host, port] = /^https:\/\/([^:/]+):(\d{1,5})$/.exec(text) ?? [];
    if (host === undefined) problems.push(`${name}: got "${text}", expected https://HOST:PORT`);
    return { host: host ?? "", port: Number(port) };
  };
  const place: Place = {
    discovery: server("XDS_ADDRESS"),
    authority: server("CA_ADDRESS", env("XDS_ADDRESS")),
    rootFile: env("XDS_ROOT_CA") ?? "./var/run/secrets/istio/root-cert.pem",
    tokenFile: env("AUTH_TOKEN") ?? "./var/run/secrets/tokens/istio-token",
    agentSocket: env("ZTUNNEL_UDS_ADDRESS") ?? "/var/run/ztunnel/ztunnel.sock",
    trustDomain: env("TRUST_DOMAIN") ?? "cluster.local",
    domain: env("CLUSTER_DOMAIN") ?? "cluster.local",
    hasNames: (env("ISTIO_META_DNS_CAPTURE") ?? "true").toLowerCase() === "true",
    clusterId: env("CLUSTER_ID") ?? "Kubernetes",
    name: need("POD_NAME"),
    namespace: need("POD_NAMESPACE"),
    address: need("INSTANCE_IP"),
    node: need("NODE_NAME"),
    drain: Math.max(0, Number(env("TERMINATION_GRACE_PERIOD_SECONDS") ?? 0) - 1) * 1000,
  };
  if (problems.length > 0) throw new TypeError(problems.join("\n"));
  return place;
}

/** Follows the discovery server, over any number of connections. Resolves when both types have been answered. */
function follow(place: Place, held: HeldResources, changed: () => void): Promise<void> {
  const ready = Promise.withResolvers<void>();
  const connectOnce = async () => {
    const [root, token] = await Promise.all([Deno.readTextFile(place.rootFile), Deno.readTextFile(place.tokenFile)]);
    const ended = Promise.withResolvers<string>();
    using stream = new TunnelStream(`${place.discovery.host}:${place.discovery.port}`, {
      id: `ztunnel~${place.address}~${place.name}.${place.namespace}~${place.namespace}.svc.cluster.local`,
      metadata: {
        ...{ NAME: place.name, NAMESPACE: place.namespace, INSTANCE_IPS: place.address, NODE_NAME: place.node },
      },
      headers: { authorization: `Bearer ${token.trim()}`, clusterid: place.clusterId },
      ...{ root, held },
    }, (response) => {
      if (response === undefined) ended.resolve(`${stream.ended?.code}: ${stream.ended?.details}`);
      else changed();
      if (stream.isReady) ready.resolve();
    });
    return await ended.promise;
  };
  (async () => {
    for (let pause = FIRST_PAUSE;; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const began = performance.now();
      const why = await connectOnce().catch((error) => (error as Error).message);
      say({ event: "discovery left", why });
      if (performance.now() - began > LONGEST_PAUSE) pause = FIRST_PAUSE;
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  })();
  return ready.promise;
}

/** Runs the tunnel for ever. */
async function run(place: Place): Promise<never> {
  const [libc, sockets, held] = [Libc.open(), new NetworkSockets(), new HeldResources()];
  const root = async () => await Deno.readTextFile(place.rootFile);
  const token = async () => (await Deno.readTextFile(place.tokenFile)).trim();
  const identities = new Identities(
    async (identity) => await orderFor(identity, { ...place.authority, root: await root(), token }),
    (identity, { message }) => say({ event: "certificate", why: `${identity}: ${message}` }),
  );
  const world = new TunnelWorld(held, identities, sockets, place.trustDomain, say);
  const [outbound, inbound] = [new Outbound(world), new Inbound(world)];
  const { servers } = parseResolvConf(place.hasNames ? await Deno.readTextFile("/etc/resolv.conf") : "");
  const names = new NameProxy(world, place.domain, servers);
  const takers: Readonly<Record<ListenerKind, (pod: ServedPod, fd: number, family: 4 | 6) => Promise<void>>> = {
    outbound: (pod, fd, family) => outbound.take(pod, fd, family),
    inboundPlain: (pod, fd, family) => inbound.takePlain(pod, fd, family),
    inboundTunnel: (pod, fd) => inbound.takeTunnel(pod, fd),
    dns: (pod, fd) => names.take(pod, fd),
  };
  const pods = new ServedPods(
    { libc, sockets, acceptor: new Acceptor(libc) },
    (pod, kind, fd, family) => void takers[kind](pod, fd, family),
    {
      // Ordered ahead of the first connection.
      added: (pod) => {
        say({ event: "pod", uid: pod.uid, namespace: pod.identity });
        void identities.of(world.identityOf(pod)).catch(() => {});
      },
      ended: (pod) => {
        outbound.end(pod);
        inbound.end(pod);
      },
      asked: place.hasNames ? (pod, packet, reply) => void names.packet(pod, packet, reply) : undefined,
    },
  );
  Deno.addSignalListener("SIGTERM", () => {
    pods.closeAll();
    inbound.goAway();
    void drained(place.drain).then(() => Deno.exit(0));
  });
  let hasSnapshot = false;
  Deno.serve(
    { port: READINESS_PORT, onListen() {} },
    () => new Response("", { status: hasSnapshot && pods.isReady ? 200 : 503 }),
  );
  await follow(place, held, () => world.changed());
  say({ event: "ready" });
  return await new AgentSocket(libc, sockets, pods, (event, why) => {
    if (event === "snapshot") {
      hasSnapshot = true;
      say({ event });
    } else say({ event: "agent left", why });
  }).serve(place.agentSocket);
}

/** Resolves when no connection is left that a request may be on, or after a time. */
async function drained(longest: number): Promise<void> {
  const end = performance.now() + longest;
  // Connections that were accepted last are not counted before they are carried.
  do await new Promise((resolve) => setTimeout(resolve, Math.min(longest, QUIET))); while (
    carried() > 0 && performance.now() < end
  );
}

if (import.meta.main) {
  Deno.addSignalListener("SIGUSR1", () => say({ event: "mark" }));
  await run(readPlace((name) => Deno.env.get(name)));
}
