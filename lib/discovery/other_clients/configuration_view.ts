/**
 * Configuration for other control planes (metadata `GENERATOR: api`): all objects of the kinds in Istio's messages,
 * under type URLs such as `networking.istio.io/v1/VirtualService`.
 *
 * A client with a proven identity gets the objects if the identity is of the system's namespace. A plain-text client
 * gets the objects too, where proxies need not prove an identity either.
 *
 * @module
 */
import type { ConfigStore } from "../../config/store.ts";
import { Code } from "../../grpc/codes.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { paced } from "../../kernel/time/paced.ts";
import type { KindSets } from "../../mcp/kind_sets.ts";
import { structText } from "../../pb/wellknown.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { type ConnectRequest, type ProxyView, XdsRefusal } from "../../xds/protocol/source.ts";
import type { DiscoveryCallers } from "../identity/callers.ts";

/** Whether a client asks for configuration instead of Envoy's resources. */
export function wantsConfiguration({ node }: ConnectRequest): boolean {
  return structText(node.metadata, "GENERATOR") === "api";
}

export interface ConfigurationViewParts {
  readonly store: Pick<ConfigStore, "list" | "subscribe">;
  readonly systemNamespace: string;
  readonly callers: Pick<DiscoveryCallers, "identify"> | undefined;
  readonly kernel: Pick<Kernel, "log" | "metrics" | "clock">;
}

/** Makes views of configuration; the sets are made for the first client, and shared by all. */
export class ConfigurationViews {
  readonly #parts: ConfigurationViewParts;
  #sets: Promise<KindSets> | undefined;

  constructor(parts: ConfigurationViewParts) {
    this.#parts = parts;
  }

  /** @throws {XdsRefusal} PERMISSION_DENIED to an identity of another namespace */
  async connect(request: ConnectRequest): Promise<ProxyView> {
    const { callers, systemNamespace } = this.#parts;
    const caller = await callers?.identify(request);
    if (caller !== undefined && caller.identity.namespace !== systemNamespace) {
      const reason = `configuration is for identities of namespace ${systemNamespace}`;
      throw new XdsRefusal(Code.PERMISSION_DENIED, `${reason}: got one of ${caller.identity.namespace}`);
    }
    const sets = await (this.#sets ??= this.#made());
    return new ConfigurationView(request.node.id ?? "", sets);
  }

  async #made(): Promise<KindSets> {
    const { store, kernel } = this.#parts;
    const { KindSets } = await import("../../mcp/kind_sets.ts");
    const sets = new KindSets(({ key }, error) => {
      kernel.log.scope("default").warn("an object cannot be sent to other control planes", { object: key, error });
    });
    store.subscribe((changes) => sets.take(changes));
    await paced(sets.fill((kind) => store.list(kind)));
    return sets;
  }
}

class ConfigurationView implements ProxyView {
  readonly id: string;
  readonly #sets: KindSets;
  /** The last answer for each type. An answer stays the same object while its set does. */
  readonly #last = new Map<string, readonly ResourceSet[]>();

  constructor(id: string, sets: KindSets) {
    this.id = id;
    this.#sets = sets;
  }

  get revision(): number {
    return this.#sets.changes;
  }

  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined {
    const set = this.#sets.get(typeUrl);
    if (set === undefined) return undefined;
    const last = this.#last.get(typeUrl);
    if (last?.[0] === set) return last;
    const sets = [set];
    this.#last.set(typeUrl, sets);
    return sets;
  }

  virtualHosts(): readonly ResourceSet[] {
    return [];
  }

  close(): void {}
}
