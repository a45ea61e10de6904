/**
 * Tunnels to other tunnels and to waypoints: HTTP/2 over mutual TLS, one connection for each pod and destination.
 *
 * Permissions: ffi (the C library).
 *
 * @module
 */
import http2 from "node:http2";
import type { Duplex } from "node:stream";
import { connect, type PeerCertificate, type TLSSocket } from "node:tls";
import type { IssuedCertificate } from "../../../lib/agent/secrets/issued_certificate.ts";
import type { SocketAddress } from "../../../lib/simulate/types.ts";
import type { NetworkSockets } from "../network/sockets.ts";
import type { ServedPod } from "../node/pods.ts";

/** Longest wait for a connection, its handshake and the answer to a request together, ms. */
const TIMEOUT = 10_000;

/** One end of a tunnel. */
export interface HboneEnd {
  readonly dialled: SocketAddress;
  /** Uid of the other end's workload: a later workload may have the same address. */
  readonly server: string;
  /** Identities that the other end may prove, each a SPIFFE ID. */
  readonly expected: readonly string[];
  readonly authority: string;
}

/** A request of a pod. */
export interface HboneRequest extends HboneEnd {
  readonly pod: ServedPod;
  readonly certificate: IssuedCertificate;
  readonly headers: Readonly<Record<string, string>>;
  /** The gateway that carries the tunnel in a tunnel to it. Absent: the other end is dialled itself. */
  readonly by?: HboneEnd;
}

/** The URIs in a certificate. */
export function urisOf({ subjectaltname = "" }: Partial<PeerCertificate>): string[] {
  return subjectaltname.split(", ").flatMap((name) => /^URI:(.*)$/.exec(name)?.[1] ?? []);
}

/** The other end answered with a status. */
export class HboneRefusal extends Error {
  override readonly name = "HboneRefusal";
}

async function openStream(session: http2.ClientHttp2Session, request: HboneRequest): Promise<Duplex> {
  const stream = session.request(
    { ":method": "CONNECT", ":authority": request.authority, ...request.headers },
    { endStream: false },
  );
  const { promise, resolve, reject } = Promise.withResolvers<Duplex>();
  const timer = setTimeout(() => reject(new Error("no answer in time")), TIMEOUT);
  stream.on("response", (headers) => {
    const status = headers[":status"];
    if (status === 200) resolve(stream);
    else reject(new HboneRefusal(`status ${status}`));
  });
  stream.on("error", (error) => reject(error));
  stream.on("close", () => reject(new Error("the stream ended without an answer")));
  try {
    return await promise;
  } catch (error) {
    stream.close();
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

function keyOf({ pod, server, dialled, expected, by, authority }: HboneRequest): string {
  const gateway = by === undefined ? [] : ["by", by.server, by.dialled.ip, by.dialled.port, authority, ...by.expected];
  return [pod.uid, pod.identity, server, dialled.ip, dialled.port, ...expected, ...gateway].join(" ");
}

/** The tunnels of all pods. */
export class HboneTunnels {
  readonly #sockets: NetworkSockets;
  readonly #sessions = new Map<string, Promise<http2.ClientHttp2Session>>();

  constructor(sockets: NetworkSockets) {
    this.#sockets = sockets;
  }

  /**
   * Opens a stream to a destination behind a tunnel. An earlier connection may be broken without anybody's knowledge:
   * then a new one is tried once. No byte of the application has been sent by then.
   *
   * @throws {HboneRefusal} when the other end refuses
   * @throws {Error} when there is no tunnel
   */
  async open(request: HboneRequest): Promise<Duplex> {
    const earlier = await this.#earlier(request);
    if (earlier !== undefined) {
      try {
        return await openStream(earlier, request);
      } catch (error) {
        if (error instanceof HboneRefusal) throw error;
        earlier.close();
      }
    }
    return await openStream(await this.#made(request), request);
  }

  /** Ends the tunnels of a pod. */
  end({ uid }: ServedPod): void {
    for (const [key, session] of this.#sessions) {
      if (!key.startsWith(`${uid} `)) continue;
      this.#sessions.delete(key);
      session.then((open) => open.destroy(), () => {});
    }
  }

  async #earlier(request: HboneRequest): Promise<http2.ClientHttp2Session | undefined> {
    const found = await this.#sessions.get(keyOf(request))?.catch(() => undefined);
    return found === undefined || found.closed || found.destroyed ? undefined : found;
  }

  async #made(request: HboneRequest): Promise<http2.ClientHttp2Session> {
    const [key, made] = [keyOf(request), this.#connect(request)];
    this.#sessions.set(key, made);
    const forget = () => {
      if (this.#sessions.get(key) === made) this.#sessions.delete(key);
    };
    made.then((session) => session.on("goaway", forget).on("close", forget), forget);
    return await made;
  }

  async #connect(request: HboneRequest): Promise<http2.ClientHttp2Session> {
    const { certificate, expected } = request;
    const carrier = await this.#carrier(request);
    const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
    const socket = connect({
      socket: carrier,
      ...{ cert: certificate.chain, key: certificate.key, ca: certificate.roots },
      ALPNProtocols: ["h2"],
      minVersion: "TLSv1.3",
      checkServerIdentity: () => undefined,
    }, () => {
      const proved = urisOf(socket.getPeerCertificate());
      if (proved.length === 1 && expected.includes(proved[0]!)) return resolve(socket);
      socket.destroy();
      reject(new Error(`the other end is ${proved.join(", ") || "nobody"}, expected ${expected.join(" or ")}`));
    });
    socket.on("error", reject);
    const timer = setTimeout(() => {
      reject(new Error("no handshake in time"));
      socket.destroy();
    }, TIMEOUT);
    await promise.finally(() => clearTimeout(timer));
    const session = http2.connect("https://tunnel", { createConnection: () => socket });
    // Streams tell their own errors.
    session.on("error", () => {});
    return session;
  }

  /** The bytes to the other end: a connection, or a stream in a tunnel to the gateway. */
  async #carrier({ pod, dialled, certificate, by, headers }: HboneRequest): Promise<Duplex> {
    if (by !== undefined) return await this.open({ ...by, pod, certificate, headers });
    return this.#sockets.stream(await this.#sockets.dial(pod.namespace, dialled, undefined, TIMEOUT));
  }
}
