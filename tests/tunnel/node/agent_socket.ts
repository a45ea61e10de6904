/**
 * The node tunnel's end of the node agent's socket: greets, takes pods with the descriptors of their network
 * namespaces, and answers each request in its turn.
 *
 * Permissions: ffi (the C library).
 *
 * @module
 */
import { MAX_MESSAGE } from "../../../lib/cni/zds/messages.ts";
import type { Libc } from "../../../lib/cni/zds/libc.ts";
import { WireCursor } from "../../../lib/resource/protowire.ts";
import type { NamedPod } from "../discovery/held.ts";
import type { NetworkSockets } from "../network/sockets.ts";

/** Pauses between connections, ms. */
const FIRST_PAUSE = 10, LONGEST_PAUSE = 15_000;

/** `ZdsHello` of the only version. */
export const HELLO = Uint8Array.of(0x08, 0x01);

/** A request of the node agent. */
export type AgentRequest =
  | { readonly do: "add"; readonly uid: string; readonly pod: NamedPod }
  | { readonly do: "keep" | "del"; readonly uid: string }
  | { readonly do: "snapshot sent" };

/** What becomes of the pods. */
export interface PodKeeper {
  /**
   * Takes a pod, whose namespace's descriptor becomes the keeper's.
   *
   * @throws {Error} when the pod is not served yet; the keeper tries again by itself
   */
  add(uid: string, pod: NamedPod, namespace: number): void;
  del(uid: string): void;
  /** Drops all pods but these. */
  keepOnly(uids: ReadonlySet<string>): void;
}

/**
 * Reads a request.
 *
 * @throws {Error} for bytes of another form
 */
export function readRequest(bytes: Uint8Array): AgentRequest {
  const cursor = new WireCursor(bytes);
  if (!cursor.next()) throw new Error("an empty request");
  const { field } = cursor;
  const body = fieldsOf(cursor.bytes());
  if (field === 3) return { do: "snapshot sent" };
  if (field === 5) return { do: "keep", uid: textOf(body, 1) };
  if (field === 2) return { do: "del", uid: textOf(body, 2) };
  const info = body.get(2);
  if (field !== 1 || info === undefined) throw new Error(`request ${field} without what it needs`);
  const words = fieldsOf(info);
  const pod = { name: textOf(words, 1), namespace: textOf(words, 2), serviceAccount: textOf(words, 3) };
  return { do: "add", uid: textOf(body, 1), pod };
}

function fieldsOf(bytes: Uint8Array): Map<number, Uint8Array> {
  const fields = new Map<number, Uint8Array>();
  for (const cursor = new WireCursor(bytes); cursor.next();) fields.set(cursor.field, cursor.bytes());
  return fields;
}

function textOf(fields: ReadonlyMap<number, Uint8Array>, number: number): string {
  return new TextDecoder().decode(fields.get(number));
}

/** `WorkloadResponse.ack`. An empty error is success. */
export function ackMessage(error: string): Uint8Array<ArrayBuffer> {
  const text = new TextEncoder().encode(error).slice(0, 100);
  const ack = text.length === 0 ? [] : [0x0a, text.length, ...text];
  return Uint8Array.of(0x0a, ack.length, ...ack);
}

/** The connections to the node agent, one after another. */
export class AgentSocket {
  readonly #libc: Libc;
  readonly #sockets: NetworkSockets;
  readonly #keeper: PodKeeper;
  readonly #say: (event: string, why: string) => void;

  /** @param say Told of each snapshot and of each end of a connection. */
  constructor(libc: Libc, sockets: NetworkSockets, keeper: PodKeeper, say: (event: string, why: string) => void) {
    this.#libc = libc;
    this.#sockets = sockets;
    this.#keeper = keeper;
    this.#say = say;
  }

  /** Serves for ever. */
  async serve(path: string): Promise<never> {
    for (let pause = FIRST_PAUSE;; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      const fd = this.#sockets.connectPackets(path);
      if (fd !== undefined) {
        pause = FIRST_PAUSE;
        const why = await this.#serveOne(fd).then(() => "the agent closed it", (error) => (error as Error).message);
        this.#libc.close(fd);
        this.#say("agent left", why);
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
    }
  }

  async #serveOne(fd: number): Promise<void> {
    if (!this.#libc.send(fd, HELLO)) return;
    // Pods that the snapshot names. Undefined: the snapshot is over.
    let named: Set<string> | undefined = new Set();
    for (;;) {
      await this.#libc.readable([fd]);
      const packet = this.#sockets.receivePassed(fd, MAX_MESSAGE);
      if (packet === undefined) return;
      const request = this.#take(packet.bytes, packet.descriptors);
      const error = this.#carryOut(request, packet.descriptors);
      if (request.do === "snapshot sent" || request.do === "keep") {
        if (named === undefined) throw new Error(`"${request.do}" after the snapshot`);
      }
      if (request.do === "snapshot sent") {
        this.#keeper.keepOnly(named!);
        named = undefined;
        this.#say("snapshot", "");
      } else if (request.do !== "del") named?.add(request.uid);
      if (!this.#libc.send(fd, ackMessage(error))) return;
    }
  }

  /** Reads a request. An add has one descriptor, and nothing else has any. */
  #take(bytes: Uint8Array, descriptors: readonly number[]): AgentRequest {
    try {
      const request = readRequest(bytes);
      const wanted = request.do === "add" ? 1 : 0;
      if (descriptors.length === wanted) return request;
      throw new Error(`"${request.do}" with ${descriptors.length} descriptors, expected ${wanted}`);
    } catch (error) {
      for (const descriptor of descriptors) this.#libc.close(descriptor);
      throw error;
    }
  }

  #carryOut(request: AgentRequest, [namespace]: readonly number[]): string {
    try {
      if (request.do === "add") this.#keeper.add(request.uid, request.pod, namespace!);
      else if (request.do === "del") this.#keeper.del(request.uid);
      return "";
    } catch (error) {
      return (error as Error).message;
    }
  }
}
