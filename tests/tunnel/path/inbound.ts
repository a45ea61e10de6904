/**
 * Connections to a pod: in a tunnel, by HBONE, or plain. Policies decide about both, and the application sees the
 * client's address.
 *
 * Permissions: ffi (the C library).
 *
 * @module
 */
import http2 from "node:http2";
import type { TLSSocket } from "node:tls";
import type { IssuedCertificate } from "../../../lib/agent/secrets/issued_certificate.ts";
import { sameIp } from "../../../lib/simulate/ip.ts";
import { textOf, type TunnelWorkload } from "../../../lib/simulate/tunnel/addresses.ts";
import { authorizeConnection, type TunnelConnection } from "../../../lib/simulate/tunnel/authorize.ts";
import type { SocketAddress } from "../../../lib/simulate/types.ts";
import { tunnelPorts } from "../../../lib/iptables/model/ambient_config.ts";
import type { ServedPod } from "../node/pods.ts";
import { urisOf } from "./hbone.ts";
import { join } from "./pipes.ts";
import { readAuthority, type TunnelWorld, written } from "./world.ts";

/** Longest wait for the application, ms. */
const TIMEOUT = 10_000;

const OWN_PORTS: ReadonlySet<number> = new Set(Object.values(tunnelPorts));

/** A refusal with the status for a tunnel. */
class Refusal extends Error {
  constructor(readonly status: number, message: string) {
    super(message);
  }
}

/** The place that a client in another network names by a service of the workload. Undefined: there is none. */
function portOfService(
  { services = {}, addresses = [] }: TunnelWorkload,
  authority: string,
): SocketAddress | undefined {
  const at = authority.lastIndexOf(":");
  const [host, port] = [authority.slice(0, at), Number(authority.slice(at + 1))];
  for (const [name, { ports = [] }] of Object.entries(services)) {
    if (name.slice(name.indexOf("/") + 1) !== host) continue;
    const target = ports.find(({ service_port }) => service_port === port)?.target_port;
    if (target !== undefined) return { ip: textOf(addresses[0]), port: target };
  }
  return undefined;
}

/** An open connection, which a change of policies may end. */
interface Open {
  readonly connection: TunnelConnection;
  readonly workload: TunnelWorkload;
  readonly end: () => void;
}

/** The inbound half. */
export class Inbound {
  readonly #world: TunnelWorld;
  readonly #open = new Set<Open>();
  /** TLS sessions of each pod. */
  readonly #sessions = new Map<string, Set<() => void>>();
  readonly #goAway = new Set<() => void>();

  constructor(world: TunnelWorld) {
    this.#world = world;
    world.onChange(() => this.#judgeAgain());
  }

  /** Ends the tunnels to a pod. */
  end({ uid }: ServedPod): void {
    for (const end of this.#sessions.get(uid) ?? []) end();
    this.#sessions.delete(uid);
  }

  /** Asks other tunnels to open no more streams here. Open streams go on. */
  goAway(): void {
    for (const say of this.#goAway) say();
  }

  /** Takes a redirected connection without a tunnel. */
  async takePlain(pod: ServedPod, fd: number, family: 4 | 6): Promise<void> {
    const { sockets, say } = this.#world;
    const peer = sockets.peer(fd).ip;
    const destination = sockets.originalDestination(fd, family);
    const common = { event: "connection", uid: pod.uid, way: "in", by: "plain", peer } as const;
    const target = destination === undefined ? "" : written(destination);
    try {
      if (destination === undefined || OWN_PORTS.has(destination.port)) throw new Refusal(0, "a port of the tunnel");
      const workload = await this.#world.workloadOf(pod);
      const connection = { source: peer, destination };
      this.#judge(connection, workload);
      const near = sockets.stream(await this.#application(pod, connection));
      say({ ...common, target });
      const far = sockets.stream(fd);
      const open = this.#remember(connection, workload, () => far.destroy());
      await join(far, near).finally(() => this.#open.delete(open));
    } catch (error) {
      say({ ...common, target, refused: (error as Error).message });
      sockets.reset(fd);
    }
  }

  /** Takes a connection of another tunnel or of a waypoint. */
  async takeTunnel(pod: ServedPod, fd: number): Promise<void> {
    const { sockets, identities } = this.#world;
    const peer = sockets.peer(fd).ip;
    let certificate: IssuedCertificate;
    try {
      certificate = await identities.of(this.#world.identityOf(pod));
    } catch {
      return sockets.reset(fd);
    }
    // A server for each connection: the streams of a session do not tell their peer's address.
    const server = http2.createSecureServer({
      ...{ cert: certificate.chain, key: certificate.key, ca: certificate.roots },
      ...{ requestCert: true, rejectUnauthorized: true, minVersion: "TLSv1.3" },
    });
    let identity: string | undefined;
    server.on("secureConnection", (socket: TLSSocket) => identity = urisOf(socket.getPeerCertificate())[0]);
    server.on(
      "stream",
      (stream: http2.ServerHttp2Stream, headers) => void this.#takeStream(pod, stream, headers, peer, identity),
    );
    server.on("session", (session: http2.ServerHttp2Session) => {
      const say = () => session.close();
      this.#goAway.add(say);
      session.on("close", () => this.#goAway.delete(say));
    });
    server.on("sessionError", () => {});
    server.on("tlsClientError", (error) => {
      const common = { event: "connection", uid: pod.uid, way: "in", by: "hbone", peer, target: "" } as const;
      this.#world.say({ ...common, refused: `TLS: ${error.message}` });
    });
    const socket = sockets.stream(fd);
    const end = () => void socket.destroy();
    const all = this.#sessions.getOrInsertComputed(pod.uid, () => new Set());
    all.add(end);
    socket.on("close", () => all.delete(end));
    socket.on("error", end);
    server.emit("connection", socket);
  }

  async #takeStream(
    pod: ServedPod,
    stream: http2.ServerHttp2Stream,
    headers: http2.IncomingHttpHeaders,
    peer: string,
    identity: string | undefined,
  ): Promise<void> {
    const { say, sockets } = this.#world;
    const target = headers[":authority"] ?? "";
    const common = { event: "connection", uid: pod.uid, way: "in", by: "hbone", peer, target } as const;
    const who = identity === undefined ? {} : { identity };
    stream.on("error", () => {});
    try {
      if (identity === undefined) throw new Refusal(400, "a client without an identity");
      if (headers[":method"] !== "CONNECT") throw new Refusal(400, `method ${headers[":method"]}`);
      const workload = await this.#world.workloadOf(pod).catch((error) => {
        throw new Refusal(503, error.message);
      });
      const own = workload.addresses?.map((bytes) => textOf(bytes)) ?? [];
      const destination = readAuthority(target) ?? portOfService(workload, target);
      if (destination === undefined || !own.some((ip) => sameIp(ip, destination.ip))) {
        throw new Refusal(400, "not an address of the pod");
      }
      const connection = { source: peer, identity, destination };
      this.#judge(connection, workload);
      const near = sockets.stream(await this.#application(pod, connection));
      stream.respond({ ":status": 200 });
      say({ ...common, ...who });
      const open = this.#remember(connection, workload, () => stream.destroy());
      await join(stream, near).finally(() => this.#open.delete(open));
    } catch (error) {
      say({ ...common, ...who, refused: (error as Error).message });
      if (!stream.headersSent && !stream.destroyed) {
        stream.respond({ ":status": error instanceof Refusal ? error.status : 503 }, { endStream: true });
      }
    }
  }

  /** @throws {Refusal} when a policy refuses */
  #judge(connection: TunnelConnection, workload: TunnelWorkload): void {
    const verdict = authorizeConnection(connection, workload, this.#world.held.state.policies);
    if (!verdict.accepted) throw new Refusal(401, `policy ${verdict.policy ?? "none of the ALLOW policies"}`);
  }

  #application({ namespace }: ServedPod, { source, destination }: TunnelConnection): Promise<number> {
    return this.#world.sockets.dial(namespace, destination, source, TIMEOUT);
  }

  #remember(connection: TunnelConnection, workload: TunnelWorkload, end: () => void): Open {
    const open = { connection, workload, end };
    this.#open.add(open);
    return open;
  }

  /** Policies may have changed. The workload counts as it was when the connection was opened. */
  #judgeAgain(): void {
    if (this.#open.size === 0) return;
    const { policies } = this.#world.held.state;
    for (const { connection, workload, end } of this.#open) {
      if (!authorizeConnection(connection, workload, policies).accepted) end();
    }
  }
}
