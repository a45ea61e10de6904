/**
 * The interface between the discovery service and the rest of the server. The service owns streams and nothing else. It
 * asks for sets of encoded resources by type, and sends the difference to the resources of each stream's client.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import type { EncodedResource } from "../../resource/encoded.ts";
import type { NameSet } from "../../resource/name_set.ts";
import type { ResourceSet } from "../../resource/set.ts";
import type { Peer } from "../../sockets/transport/peer.ts";
import type { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";

/** A client's first request. */
export interface ConnectRequest {
  /** The node as described by the client. `id` is not empty. */
  readonly node: envoy.config.core.v3.Node;
  /** Whether the stream speaks the incremental variant. */
  readonly delta: boolean;
  /** The remote end of the client's connection, with the address and the identity proven by TLS. */
  readonly peer: Peer;
  /** Metadata of the call, e.g. `authorization`: lower-case names, values of one name joined by a comma. */
  readonly metadata: Readonly<Record<string, string | undefined>>;
}

/** The stream's side of one call of {@linkcode ResourceSource.connect}. Valid also after the call has returned. */
export interface ConnectControl {
  /** When the stream gives up waiting for the view, unless the view is certain: milliseconds since the epoch. */
  readonly deadline: number;
  /**
   * Aborted when the stream stops waiting for the view: the client left, the deadline passed, or `revoke` was called.
   */
  readonly signal: AbortSignal;
  /**
   * Names the awaited event, e.g. `pod shop/cart-1 to be known`. The name completes the message to the client after the
   * deadline: `waited 10 s for pod shop/cart-1 to be known`.
   */
  waitsFor(event: string): void;
  /**
   * The view comes for certain, after work of this server alone: the deadline no longer holds. A client that is sent away
   * during that work would only come again, and wait behind the same work.
   */
  comes(): void;
  /**
   * Takes the view back, or refuses the view before it is made. The stream ends with this status and sends nothing
   * more, and the view is closed. Without effect after the end of the stream.
   */
  revoke(code: Code, reason: string): void;
  /**
   * The source has decided about pending names ({@linkcode ProxyView.want}). Names in the view's sets are sent now; the
   * others do not exist. Nothing else of the view is looked at, and the view's revision may stay. For names that are
   * not pending, the sets of the type are looked at again.
   *
   * @param names default: all pending names of the type
   */
  answered(typeUrl: string, names?: Iterable<string>): void;
}

/**
 * Refuses a stream. The code and the message go to the client. Thrown by {@linkcode ResourceSource.connect}, or the
 * rejection of its promise.
 */
export class XdsRefusal extends RpcError {
  override name = "XdsRefusal";
  constructor(code: Code, message: string) {
    super(code, message);
  }
}

/** A changed configuration object. */
export interface PushedObject {
  /** `kind/namespace/name`. */
  readonly key: string;
  /** The place where the object is written, or was written before its removal. Plain data, not interpreted here. */
  readonly origin: object;
}

/** Sets have changed. */
export interface PushEvent {
  /** Increasing number. */
  readonly id: number;
  /** Why, with counts; keys are the values of label `type` of `pilot_push_triggers`. */
  readonly reasons: Readonly<Record<string, number>>;
  /** The changed configuration objects. */
  readonly objects: readonly PushedObject[];
  /** Whether more than endpoints may have changed. */
  readonly full: boolean;
  /** The time of the first change in this push, in milliseconds since the epoch. */
  readonly startedAt: number;
  /** The failed parts, kept in their earlier state. Absent: none. */
  readonly failures?: readonly PushFailure[];
}

/** A part that could not be made, or not be sent. */
export interface PushFailure {
  /** The kind of work and the name of the part, e.g. `clusters a.example.com`; `push`: nothing of the push was done. */
  readonly what: string;
  /** The exception's words. */
  readonly reason: string;
  /** The proxy, if the part belongs to a single proxy. */
  readonly proxy?: string;
}

/** Where resources come from. */
export interface ResourceSource {
  /** Whether all sources are synced; until then streams are refused with UNAVAILABLE. */
  readonly ready: boolean;
  /**
   * Whether the first request of a client may be larger than other requests, by the client's node. The client is not
   * proven yet. Absent: no.
   */
  takesLarge?(node: ConnectRequest["node"]): boolean;
  /**
   * The view of one proxy, now or later. Requests of the client are kept meanwhile, and served in order. Each returned
   * view is closed exactly once, also a late view.
   *
   * @throws XdsRefusal to refuse the stream
   */
  connect(request: ConnectRequest, control: ConnectControl): ProxyView | Promise<ProxyView>;
  /** Calls the listener after changes of sets; returns a function that ends the calls. */
  onPush(listener: (push: PushEvent) => void): () => void;
}

/**
 * What a client has of a rejected resource: the version taken before; `unknown`: possibly a version from an earlier
 * stream; undefined: nothing.
 */
export type EarlierVersion = EncodedResource | "unknown" | undefined;

/** A view's answer to a rejection. */
export interface RejectionAnswer {
  /** Whether the view will have other resources in place of the rejected ones. */
  readonly isOpen: boolean;
  /** Resources of the same response that count as rejected too, although the client names others. */
  readonly also: readonly EncodedResource[];
}

/** The answer of a view without other resources. */
export const NO_OTHERS: RejectionAnswer = { isOpen: false, also: [] };

/** The health of a client's workload, as probed by its agent. */
export interface ClientHealth {
  readonly healthy: boolean;
  /** The reason for bad health. */
  readonly reason?: string;
}

/** What a client gets when its workload calls a host: some clients get virtual hosts and clusters on demand. */
export interface ResourcesOnDemand extends Pick<ProxyView, "resourceSets" | "virtualHosts"> {
  /** The hosts that the client has asked for, by route configuration. */
  readonly hosts: ReadonlyMap<string, ReadonlySet<string>>;
  /** Virtual hosts and clusters that the client got before it asked, because its workload had called them. */
  readonly handed: readonly string[];
  /** Route configurations that the client has whole, with the reason. */
  readonly whole: ReadonlyMap<string, string>;
}

/** Everything visible to one proxy. Calls must be cheap: every push makes the calls for every stream. */
export interface ProxyView {
  /** Increases whenever a set may have changed. With an unchanged revision the sets are not read again. */
  readonly revision: number;
  /** A name for logs and debug pages, e.g. the node id. */
  readonly id: string;
  /** Whether some resources could not be made and are older than they should be. Absent: no. */
  readonly failing?: boolean;
  /** Whether later requests of the client may be larger than those of other clients. Default: false. */
  readonly takesLarge?: boolean;
  /** The client takes resources by name alone: a wildcard selects nothing. Default: false. */
  readonly byName?: boolean;
  /**
   * Whether the sets of a type are chosen by the view itself, from the wanted names ({@linkcode ProxyView.want}): the
   * client gets everything in the sets, under its asked name or not. Asked after each change of the subscription.
   * Absent: the client's names choose.
   */
  choosesItself?(typeUrl: string): boolean;
  /**
   * Names of the client's resources from an earlier stream. Called once for a type, before the sets of the type are
   * compared with the client's.
   *
   * @param names Reads the names, which costs time with many resources.
   */
  had?(typeUrl: string, names: () => Iterable<string>): void;
  /** The client's SPIFFE ID, proven and fitting the node; absent: none. */
  readonly identity?: string;
  /**
   * Takes the client's report on the health of its workload. Absent: the report does not count, because the identity of
   * the client is not proven.
   */
  reportHealth?(health: ClientHealth): void;
  /**
   * The client rejects these resources of a response. If the client's message names no resource, at least one of the
   * resources is rejected. From now on the view's sets may hold other resources in their place; the view reports the
   * replacement by {@linkcode ConnectControl.answered}. Absent: the view has no other resources.
   *
   * @param earlier The client's version of a resource before.
   * @param whole All resources of the response.
   */
  rejected?(
    typeUrl: string,
    resources: readonly EncodedResource[],
    message: string,
    earlier: (name: string) => EarlierVersion,
    whole: readonly EncodedResource[],
  ): RejectionAnswer;
  /** The client has taken a response. @param has The client's version of a resource of the type. */
  accepted?(typeUrl: string, has: (name: string) => EncodedResource | undefined): void;
  /**
   * Objects that the client lacks because of rejections, by key, with the client's reason; an empty reason: not known
   * yet. Absent: none.
   */
  readonly withheld?: ReadonlyMap<string, string>;
  /**
   * Why a resource is not sent to the client when asked for by name; undefined: the resource is sent, or the reason is
   * not known yet. Absent: nothing is withheld.
   */
  whyNotSent?(typeUrl: string, name: string): string | undefined;
  /** The namespace and cluster of the proxy, for debug pages; absent: the source does not know. */
  readonly home?: { readonly namespace: string; readonly clusterId: string };
  /**
   * All resources of a type for this proxy, in a few sets: typically a set shared by many proxies, and a set of its
   * own. If two sets have the same name, the later set wins, and the earlier set is no longer shared. Must return the
   * same sets until their content changes. Undefined: the type is not served.
   */
  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined;
  /** The same sets for pages, without the parts that only the client may read. Default: the same sets. */
  shownSets?(typeUrl: string): readonly ResourceSet[] | undefined;
  /**
   * All resources that requests of the client's workload may bring. Absent: the client has its resources before the first
   * request.
   */
  readonly onDemand?: ResourcesOnDemand;
  /** Why the client gets everything although it is told to ask, for pages. Absent: it asks, or is not told to. */
  readonly whyNotOnDemand?: string;
  /** The virtual hosts of a route configuration by VHDS, named `<route configuration>/<any>`. */
  virtualHosts(routeConfiguration: string): readonly ResourceSet[];
  /**
   * The client subscribes to names of a type, for the first time or again; `*` is everything. Returns the pending
   * names: names whose existence the source cannot decide yet. Each other name is present if
   * {@linkcode ProxyView.resourceSets} holds it, and absent if not.
   *
   * The client hears nothing of a pending name until {@linkcode ConnectControl.answered}. After a time (10 s by
   * default) the name counts as absent until it is answered. Streams with the same names pass the same set of names,
   * so that a source can do the work once for many clients. Without this method no name is ever pending.
   *
   * @param isKnown The client does not ask for the names, but has their resources from an earlier stream, and its
   * wildcard may cover them. Default: the client asks.
   */
  want?(typeUrl: string, names: NameSet, isKnown?: boolean): Iterable<string>;
  /** The client no longer wants the names. Some may never have been wanted. {@linkcode close} ends all wants. */
  unwant?(typeUrl: string, names: NameSet): void;
  /** The stream is over. */
  close(): void;
}
