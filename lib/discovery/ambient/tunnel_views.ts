/**
 * The wire's views of node tunnels. All tunnels have the same view, but for tunnels that ask for single addresses: such a
 * tunnel subscribes to everything, and ends the subscription in the same request.
 *
 * A tunnel gets the addresses of the whole mesh, so it must prove an identity, and the identity's namespace must be the
 * namespace of its node id.
 *
 * @module
 */
import { isSameCluster } from "../../config/spelling/cluster_name.ts";
import { Code } from "../../grpc/codes.ts";
import { structText } from "../../pb/wellknown.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import { isTunnelId, NodeRefused, parseTunnelId } from "../../translate/proxy/identity.ts";
import { type ConnectControl, type ConnectRequest, type ProxyView, XdsRefusal } from "../../xds/protocol/source.ts";
import { ADDRESS, WILDCARD, WORKLOAD } from "../../xds/protocol/types.ts";
import type { DiscoveryCallers } from "../identity/callers.ts";
import type { TunnelResources } from "./tunnels.ts";

/** Whether a client is a node tunnel. */
export function isTunnel({ node }: Pick<ConnectRequest, "node">): boolean {
  return isTunnelId(node.id ?? "");
}

/** Inputs of views. */
export interface TunnelViewParts {
  readonly resources: Pick<TunnelResources, "sets" | "revision" | "chosen">;
  /** Cluster of tunnels that name no cluster. */
  readonly clusterId: string;
  /** Undefined: every client may connect, without an identity. */
  readonly callers: Pick<DiscoveryCallers, "identify" | "identityAs" | "authenticates"> | undefined;
}

/** Makes views of tunnels. */
export class TunnelViews {
  readonly #parts: TunnelViewParts;

  constructor(parts: TunnelViewParts) {
    this.#parts = parts;
  }

  /**
   * The view of a tunnel.
   *
   * @throws {XdsRefusal} INVALID_ARGUMENT for a node id that is wrong, or for the state-of-the-world variant;
   * UNAUTHENTICATED or PERMISSION_DENIED without a fitting identity
   */
  async connect(request: ConnectRequest, control: Pick<ConnectControl, "signal" | "waitsFor">): Promise<ProxyView> {
    const { callers, clusterId, resources } = this.#parts;
    const { namespace } = readId(request.node.id ?? "");
    if (!request.delta) throw new XdsRefusal(Code.INVALID_ARGUMENT, "a node tunnel uses only incremental discovery");
    control.waitsFor("the proof of the client's identity");
    const caller = await callers?.identify(request);
    control.signal.throwIfAborted();
    if (caller === undefined && callers?.authenticates) {
      const how = "connect by TLS, with a token or a certificate";
      throw new XdsRefusal(Code.UNAUTHENTICATED, `a node tunnel must prove its identity: ${how}`);
    }
    const place = { namespace, serviceAccount: "" };
    const identity = caller && callers?.identityAs(place, caller, request.peer.address);
    const named = request.metadata["clusterid"] || clusterId;
    const node = structText(request.node.metadata, "NODE_NAME") ?? "";
    return new TunnelView({ id: request.node.id ?? "", node }, resources, identity, {
      namespace,
      clusterId: isSameCluster(named, clusterId) ? clusterId : named,
    });
  }
}

function readId(id: string) {
  try {
    return parseTunnelId(id);
  } catch (error) {
    if (error instanceof NodeRefused) throw new XdsRefusal(Code.INVALID_ARGUMENT, error.message);
    throw error;
  }
}

const NONE: readonly never[] = [];

/** What a tunnel asks for of a type whose resources it may choose. */
class TunnelChoice {
  /** The names of single resources. */
  readonly names = new Set<string>();
  isWhole = false;
  /**
   * Reads the names of resources from an earlier stream, until the first sets are read. A tunnel with everything has
   * tens of thousands, and its choice needs none of them.
   */
  had: (() => Iterable<string>) | undefined;
  /** The chosen resources, and the revision that they belong to. */
  chosen: { readonly revision: number; readonly sets: readonly ResourceSet[] } | undefined;

  want(names: Iterable<string>): void {
    for (const name of names) {
      if (name === WILDCARD) this.isWhole = true;
      else this.names.add(name);
    }
    this.chosen = undefined;
  }

  /** Takes the names of resources that the tunnel has. */
  hold(names: Iterable<string>): void {
    for (const name of names) this.names.add(name);
    this.chosen = undefined;
  }

  unwant(names: Iterable<string>): void {
    for (const name of names) {
      if (name === WILDCARD) this.isWhole = false;
      else this.names.delete(name);
    }
    this.chosen = undefined;
  }
}

/** The view of a proven tunnel. */
export class TunnelView implements ProxyView {
  readonly takesLarge = true;
  readonly id: string;
  readonly identity?: string;
  readonly home: NonNullable<ProxyView["home"]>;
  readonly #resources: TunnelViewParts["resources"];
  /** Name of the tunnel's node. */
  readonly #node: string;
  readonly #choices: ReadonlyMap<string, TunnelChoice> = new Map([[ADDRESS, new TunnelChoice()], [
    WORKLOAD,
    new TunnelChoice(),
  ]]);

  constructor(
    { id, node }: { readonly id: string; readonly node: string },
    resources: TunnelViewParts["resources"],
    identity: string | undefined,
    home: NonNullable<ProxyView["home"]>,
  ) {
    this.id = id;
    this.home = home;
    this.#node = node;
    this.#resources = resources;
    if (identity !== undefined) this.identity = identity;
  }

  get revision(): number {
    return this.#resources.revision;
  }

  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined {
    const choice = this.#choices.get(typeUrl);
    const had = choice?.had;
    if (choice !== undefined) choice.had = undefined;
    if (!this.choosesItself(typeUrl)) return this.#resources.sets(typeUrl);
    if (had !== undefined) choice!.hold(had());
    return this.#chosenSets(typeUrl);
  }

  choosesItself(typeUrl: string): boolean {
    return this.#choices.get(typeUrl)?.isWhole === false;
  }

  want(typeUrl: string, names: NameSet): Iterable<string> {
    this.#choices.get(typeUrl)?.want(names);
    return NONE;
  }

  unwant(typeUrl: string, names: NameSet): void {
    this.#choices.get(typeUrl)?.unwant(names);
  }

  had(typeUrl: string, names: () => Iterable<string>): void {
    const choice = this.#choices.get(typeUrl);
    if (choice !== undefined) choice.had = names;
  }

  #chosenSets(typeUrl: string): readonly ResourceSet[] {
    const choice = this.#choices.get(typeUrl)!;
    const { revision } = this.#resources;
    if (choice.chosen?.revision === revision) return choice.chosen.sets;
    const set = this.#resources.chosen(typeUrl, choice.names, this.#node);
    const [before] = choice.chosen?.sets ?? [];
    choice.chosen = { revision, sets: before?.digest === set.digest ? choice.chosen!.sets : [set] };
    return choice.chosen.sets;
  }

  virtualHosts(): readonly ResourceSet[] {
    return [];
  }

  close(): void {}
}
