/**
 * The pods of the node tunnel: in the network namespace of each, the tunnel's listeners.
 *
 * Permissions: ffi (the C library).
 *
 * @module
 */
import type { Libc } from "../../../lib/cni/zds/libc.ts";
import { tunnelPorts } from "../../../lib/iptables/model/ambient_config.ts";
import type { NamedPod } from "../discovery/held.ts";
import type { Acceptor } from "../network/acceptor.ts";
import type { NetworkSockets } from "../network/sockets.ts";
import type { PodKeeper } from "./agent_socket.ts";

/** Pause before another try at a pod whose ports are taken, ms. */
const RETRY = 5000;

/** A pod of the tunnel. */
export interface ServedPod {
  readonly uid: string;
  readonly pod: NamedPod;
  /** Descriptor of the network namespace. */
  readonly namespace: number;
  /** Device and inode of the namespace. */
  readonly identity: string;
}

/** Where a connection came in. */
export type ListenerKind = "outbound" | "inboundPlain" | "inboundTunnel" | "dns";
const KINDS: readonly ListenerKind[] = ["outbound", "inboundPlain", "inboundTunnel"];

/** Takes the descriptor of a connection. */
export type TakeConnection = (pod: ServedPod, kind: ListenerKind, fd: number, family: 4 | 6) => void;

/** What becomes of the pods and their packets. */
export interface PodListeners {
  readonly added: (pod: ServedPod) => void;
  readonly ended: (pod: ServedPod) => void;
  /** Takes a packet with a question about a name. Undefined: the tunnel has no DNS proxy. */
  readonly asked:
    | ((pod: ServedPod, packet: Uint8Array<ArrayBuffer>, reply: (answer: Uint8Array<ArrayBuffer>) => void) => void)
    | undefined;
}

interface Entry extends ServedPod {
  readonly listeners: number[];
  retry?: ReturnType<typeof setTimeout>;
}

/** All pods. */
export class ServedPods implements PodKeeper {
  readonly #libc: Libc;
  readonly #sockets: NetworkSockets;
  readonly #acceptor: Acceptor;
  readonly #take: TakeConnection;
  readonly #listeners: PodListeners;
  readonly #pods = new Map<string, Entry>();

  constructor(
    parts: { readonly libc: Libc; readonly sockets: NetworkSockets; readonly acceptor: Acceptor },
    take: TakeConnection,
    listeners: PodListeners,
  ) {
    this.#libc = parts.libc;
    this.#sockets = parts.sockets;
    this.#acceptor = parts.acceptor;
    this.#take = take;
    this.#listeners = listeners;
  }

  /** Whether every pod is served. */
  get isReady(): boolean {
    return [...this.#pods.values()].every(({ listeners }) => listeners.length > 0);
  }

  add(uid: string, pod: NamedPod, namespace: number): void {
    const identity = this.#libc.identity(namespace);
    if (this.#pods.get(uid)?.identity === identity) return this.#libc.close(namespace);
    this.del(uid);
    const entry: Entry = { uid, pod, namespace, identity, listeners: [] };
    this.#pods.set(uid, entry);
    this.#listeners.added(entry);
    this.#open(entry);
  }

  del(uid: string): void {
    const entry = this.#pods.get(uid);
    if (entry === undefined) return;
    this.#pods.delete(uid);
    clearTimeout(entry.retry);
    this.#closeListeners(entry);
    this.#listeners.ended(entry);
    this.#libc.close(entry.namespace);
  }

  keepOnly(uids: ReadonlySet<string>): void {
    for (const uid of this.#pods.keys()) if (!uids.has(uid)) this.del(uid);
  }

  /** Listens no more. Open connections go on. */
  closeAll(): void {
    for (const entry of this.#pods.values()) {
      clearTimeout(entry.retry);
      this.#closeListeners(entry);
    }
  }

  #open(entry: Entry): void {
    try {
      for (const kind of KINDS) {
        for (const family of [4, 6] as const) {
          const listener = this.#sockets.listen(entry.namespace, family, tunnelPorts[kind]);
          if (listener === undefined) continue;
          entry.listeners.push(listener);
          this.#acceptor.add(listener, (fd) => this.#take(entry, kind, fd, family));
        }
      }
      if (this.#listeners.asked !== undefined) this.#openNames(entry);
    } catch (error) {
      this.#closeListeners(entry);
      entry.retry = setTimeout(() => {
        try {
          this.#open(entry);
        } catch {
          // The next try is set, and the agent knows since the first.
        }
      }, RETRY);
      throw error;
    }
  }

  #openNames(entry: Entry): void {
    for (const family of [4, 6] as const) {
      const listener = this.#sockets.listenInside(entry.namespace, family, tunnelPorts.dns);
      if (listener === undefined) continue;
      entry.listeners.push(listener);
      this.#acceptor.add(listener, (fd) => this.#take(entry, "dns", fd, family));
      const packets = this.#sockets.listenForPackets(entry.namespace, family, tunnelPorts.dns)!;
      entry.listeners.push(packets);
      this.#acceptor.watch(packets, () => this.#receiveAll(entry, packets));
    }
  }

  #receiveAll(entry: Entry, socket: number): void {
    for (let packet = this.#sockets.receive(socket); packet !== undefined; packet = this.#sockets.receive(socket)) {
      const { bytes, from } = packet;
      this.#listeners.asked?.(entry, bytes, (answer) => {
        // The number of a closed socket may be another socket's.
        if (entry.listeners.includes(socket)) this.#sockets.send(socket, answer, from);
      });
    }
  }

  #closeListeners(entry: Entry): void {
    for (const listener of entry.listeners.splice(0)) this.#acceptor.remove(listener);
  }
}
