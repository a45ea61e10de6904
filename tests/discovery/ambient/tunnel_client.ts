/**
 * The discovery side of the tests' node tunnel, for tests of a server: what came, in which order, and waits for it.
 *
 * Permissions: net (the server).
 * @module
 */
import { PATIENCE } from "../../patience.ts";
import { HeldResources } from "../../tunnel/discovery/held.ts";
import { type StreamEnd, type TunnelResponse, TunnelStream } from "../../tunnel/discovery/stream.ts";

/** The node id of a tunnel. */
export const tunnelId = (namespace = "mesh-system", type = "ztunnel") =>
  `${type}~10.0.0.9~ztunnel-x.${namespace}~${namespace}.svc.cluster.local`;

export interface TunnelClientOptions {
  readonly id?: string;
  /** Name of the tunnel's node. Default: `n1`. */
  readonly node?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** What an earlier client held. Versions are sent back, or left empty as by older tunnels. */
  readonly earlier?: Pick<HeldResources, "addresses" | "policies">;
  readonly emptyVersions?: boolean;
  /** Asks for addresses one by one. */
  readonly onDemand?: boolean;
  /** Acknowledges no policies until {@linkcode TunnelClient.release}. */
  readonly holds?: boolean;
}

export class TunnelClient implements Disposable {
  readonly responses: TunnelResponse[] = [];
  /** Why a resource is wrong, by its name. Default: nothing is wrong. */
  isWrong: (name: string) => string | undefined = () => undefined;
  readonly #stream: TunnelStream;
  readonly #waiting = new Set<() => void>();
  readonly #unsent: (() => void)[] = [];

  constructor(port: number, options: TunnelClientOptions = {}) {
    const { id = tunnelId(), node = "n1", earlier, holds = false, ...rest } = options;
    let isHolding = holds;
    this.release = () => {
      isHolding = false;
      for (const send of this.#unsent.splice(0)) send();
    };
    this.#stream = new TunnelStream(`127.0.0.1:${port}`, {
      ...rest,
      id,
      metadata: { NAME: "ztunnel-x", NAMESPACE: "mesh-system", INSTANCE_IPS: "10.0.0.9", NODE_NAME: node },
      held: copyOf(earlier),
      alsoWrong: (name) => this.isWrong(name),
      answers: (type, send) => isHolding && type === "policies" ? void this.#unsent.push(send) : send(),
    }, (response) => {
      if (response !== undefined) this.responses.push(response);
      for (const look of this.#waiting) look();
    });
  }

  /** Sends the acknowledgements that were held back, and holds none back from then on. */
  readonly release: () => void;

  [Symbol.dispose](): void {
    this.#stream[Symbol.dispose]();
  }

  /** The status that ended the stream. */
  get ended(): StreamEnd | undefined {
    return this.#stream.ended;
  }

  /** What the client holds. */
  get held(): HeldResources {
    return this.#stream.held;
  }

  get addresses(): HeldResources["addresses"] {
    return this.held.addresses;
  }

  get policies(): HeldResources["policies"] {
    return this.held.policies;
  }

  /** Both types have been answered. */
  get isReady(): boolean {
    return ["policies", "addresses"].every((type) => this.responses.some((one) => one.type === type));
  }

  /** The versions of workloads and services by name, for comparisons. */
  get state(): Record<string, string> {
    return Object.fromEntries([...this.addresses].map(([name, { version }]) => [name, version]).sort());
  }

  /** Asks for an address by its name or alias. */
  demand(name: string): void {
    this.#stream.demand(name);
  }

  /**
   * Resolves when a condition holds.
   *
   * @throws {Error} after a time
   */
  async until(condition: () => boolean, what: string): Promise<void> {
    const done = Promise.withResolvers<void>();
    const look = () => {
      if (condition()) done.resolve();
    };
    this.#waiting.add(look);
    const timer = setTimeout(() => {
      done.reject(new Error(`${what}: got ${JSON.stringify([this.responses, this.ended])}`));
    }, PATIENCE);
    look();
    await done.promise.finally(() => {
      clearTimeout(timer);
      this.#waiting.delete(look);
    });
  }
}

function copyOf(earlier: TunnelClientOptions["earlier"]): HeldResources {
  const held = new HeldResources();
  for (const [name, one] of earlier?.addresses ?? []) held.addresses.set(name, one);
  for (const [name, one] of earlier?.policies ?? []) held.policies.set(name, one);
  return held;
}
