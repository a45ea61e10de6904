/**
 * What both directions of the tunnel share: the mesh as the tunnel knows it, certificates, sockets.
 *
 * @module
 */
import type { SocketAddress } from "../../../lib/simulate/types.ts";
import type { TunnelWorkload } from "../../../lib/simulate/tunnel/addresses.ts";
import type { Identities } from "../certificates/identities.ts";
import type { HeldResources } from "../discovery/held.ts";
import type { NetworkSockets } from "../network/sockets.ts";
import type { ServedPod } from "../node/pods.ts";
import type { ConnectionEvent } from "./log.ts";

/** Longest wait for the workload of a new pod, ms. */
const WORKLOAD_WAIT = 5000;

/** The shared parts. */
export class TunnelWorld {
  readonly #changed = new Set<() => void>();

  constructor(
    readonly held: HeldResources,
    readonly identities: Identities,
    readonly sockets: NetworkSockets,
    readonly trustDomain: string,
    readonly say: (event: ConnectionEvent) => void,
  ) {}

  /** Tells that a response has been taken in. */
  changed(): void {
    for (const look of this.#changed) look();
  }

  /** Calls a function after each change, until the returned function is called. */
  onChange(look: () => void): () => void {
    this.#changed.add(look);
    return () => void this.#changed.delete(look);
  }

  /** The identity that a pod's certificate is for. */
  identityOf({ pod: { namespace, serviceAccount } }: ServedPod): string {
    return `spiffe://${this.trustDomain}/ns/${namespace}/sa/${serviceAccount || "default"}`;
  }

  /**
   * The workload of a pod, which may be so new that it is not known yet.
   *
   * @throws {Error} when it is not known in time
   */
  async workloadOf({ pod }: ServedPod): Promise<TunnelWorkload> {
    const found = this.held.workloadOf(pod);
    if (found !== undefined) return found;
    const { promise, resolve, reject } = Promise.withResolvers<TunnelWorkload>();
    const forget = this.onChange(() => {
      const workload = this.held.workloadOf(pod);
      if (workload !== undefined) resolve(workload);
    });
    const timer = setTimeout(() => reject(new Error("timed out waiting for workload")), WORKLOAD_WAIT);
    return await promise.finally(() => {
      forget();
      clearTimeout(timer);
    });
  }
}

/** An address and port as in an authority. */
export function written({ ip, port }: SocketAddress): string {
  return ip.includes(":") ? `[${ip}]:${port}` : `${ip}:${port}`;
}

/** Reads an authority with an address. Undefined: the authority has another form. */
export function readAuthority(authority: string): SocketAddress | undefined {
  const [, v6, v4, port] = /^(?:\[([0-9a-fA-F:.]+)\]|([0-9.]+)):(\d{1,5})$/.exec(authority) ?? [];
  const ip = v6 ?? v4;
  return ip === undefined ? undefined : { ip, port: Number(port) };
}
