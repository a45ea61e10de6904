/**
 * The interface between the discovery service and the rest of the server. The service owns streams and nothing else: it
 * asks for sets of encoded resources by type, and sends the difference to the resources that a stream already has.
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
  /** The node as the client describes itself; `id` is not empty. */
  readonly node: envoy.config.core.v3.Node;
  /** Whether the stream speaks the incremental variant. */
  readonly delta: boolean;
  /** The remote end of the client's connection: its address, and the identity that TLS proved. */
  readonly peer: Peer;
  /** Metadata of the call (lower-case names, several of one name joined by a comma), e.g. `authorization`. */
  readonly metadata: Readonly<Record<string, string | undefined>>;
}

/** The stream's side of one call of {@linkcode ResourceSource.connect}. Valid after the call has returned, too. */
export interface ConnectControl {
  /** When the stream gives up waiting for the view: milliseconds since the epoch. */
  readonly deadline: number;
  /**
   * Aborted when the view is not waited for any longer: the client left, the deadline passed, or `revoke` was called.
   */
  readonly signal: AbortSignal;
  /**
   * Names the event that the source waits for, e.g. `pod shop/cart-1 to be known`. The client reads it when the deadline
   * passes: `waited 10 s for pod shop/cart-1 to be known`.
   */
  waitsFor(event: string): void;
  /**
   * Takes the view back, or refuses it before it is made: the stream ends with this status, nothing is sent on it any
   * more, and the view is closed. Has no effect on a stream that is over.
   */
  revoke(code: Code, reason: string): void;
  /**
   * The source has decided about names that were pending ({@linkcode ProxyView.want}): those that the view's sets hold
   * now are sent, the others do not exist. Nothing else of the view is looked at. The view's revision may stay, and for
   * names that are not pending this has the sets of the type looked at again.
   *
   * @param names default: all of the type that are pending
   */
  answered(typeUrl: string, names?: Iterable<string>): void;
}

/**
 * Refuses a stream; the code and the message go to the client. Thrown by {@linkcode ResourceSource.connect}, or the
 * rejection of its promise.
 */
export class XdsRefusal extends RpcError {
  override name = "XdsRefusal";
  constructor(code: Code, message: string) {
    super(code, message);
  }
}

/** A configuration object that changed. */
export interface PushedObject {
  /** `kind/namespace/name`. */
  readonly key: string;
  /** Where it comes from, or came from before it went: plain data, of which nothing here depends. */
  readonly origin: object;
}

/** Sets have changed. */
export interface PushEvent {
  /** Increasing number. */
  readonly id: number;
  /** Why, with counts; keys are the values of label `type` of `pilot_push_triggers`. */
  readonly reasons: Readonly<Record<string, number>>;
  /** The configuration objects that changed. */
  readonly objects: readonly PushedObject[];
  /** Whether more than endpoints may have changed. */
  readonly full: boolean;
  /** When the first change of this push happened: milliseconds since the epoch. */
  readonly startedAt: number;
  /** The parts that could not be made in it, and stay as they were. Absent: none. */
  readonly failures?: readonly PushFailure[];
}

/** Something that could not be made, or not be sent. */
export interface PushFailure {
  /** The kind of work and its name, e.g. `clusters a.example.com`; `push` where nothing of a push was done. */
  readonly what: string;
  /** The exception's words. */
  readonly reason: string;
  /** The proxy, where it is one proxy's own. */
  readonly proxy?: string;
}

/** Where resources come from. */
export interface ResourceSource {
  /** Whether all sources are synced; until then streams are refused with UNAVAILABLE. */
  readonly ready: boolean;
  /**
   * The view of one proxy, now or later. Requests that the client sends meanwhile are kept and served in order. Each view
   * that is returned is closed exactly once, also when it comes too late.
   *
   * @throws XdsRefusal to refuse the stream
   */
  connect(request: ConnectRequest, control: ConnectControl): ProxyView | Promise<ProxyView>;
  /** Calls the listener after sets have changed; returns the way to stop that. */
  onPush(listener: (push: PushEvent) => void): () => void;
}

/**
 * What a client has of a resource that it rejects: the version that it took before; `unknown`: it may have one from an
 * earlier stream; undefined: nothing.
 */
export type EarlierVersion = EncodedResource | "unknown" | undefined;

/** What a view does about a rejection. */
export interface RejectionAnswer {
  /** It will have others in the place of rejected resources. */
  readonly isOpen: boolean;
  /** Resources of the same response that are treated as rejected, though the client names others. */
  readonly also: readonly EncodedResource[];
}

/** A view has nothing else. */
export const NO_OTHERS: RejectionAnswer = { isOpen: false, also: [] };

/** The health of a client's workload, as its agent has probed it. */
export interface ClientHealth {
  readonly healthy: boolean;
  /** Why it is not. */
  readonly reason?: string;
}

/** All that one proxy may see. Calls must be cheap: they are made for every stream at every push. */
export interface ProxyView {
  /** Increases whenever any set may have changed; while it stays the same, the sets are not read again. */
  readonly revision: number;
  /** A name for logs and debug pages, e.g. the node id. */
  readonly id: string;
  /** Some of its resources could not be made and are older than they should be. Absent: none. */
  readonly failing?: boolean;
  /** The client takes resources by name alone: a wildcard selects nothing. Default: false. */
  readonly byName?: boolean;
  /** The client's SPIFFE ID, proven and found to fit its node; absent: there is none. */
  readonly identity?: string;
  /** The client reports the health of its workload. Absent: it is not believed, because its identity is not proven. */
  reportHealth?(health: ClientHealth): void;
  /**
   * The client rejects these resources of a response, or one of them where its message names none. The view's sets may
   * hold others in their place from then on, which it reports by {@linkcode ConnectControl.answered}. Absent: it has none.
   *
   * @param earlier What the client has of a resource.
   * @param whole All resources of the response.
   */
  rejected?(
    typeUrl: string,
    resources: readonly EncodedResource[],
    message: string,
    earlier: (name: string) => EarlierVersion,
    whole: readonly EncodedResource[],
  ): RejectionAnswer;
  /** The client has taken a response. @param has A resource of the type as the client has it. */
  accepted?(typeUrl: string, has: (name: string) => EncodedResource | undefined): void;
  /**
   * Objects that the client goes without because it rejects what is made of them, by key, with its words; without words:
   * it is not known yet. Absent: none.
   */
  readonly withheld?: ReadonlyMap<string, string>;
  /**
   * Why the client is not sent a resource that it asks for by name, or would ask for; undefined: it is sent, or nobody
   * knows yet. Absent: nothing is kept from it.
   */
  whyNotSent?(typeUrl: string, name: string): string | undefined;
  /** Where it belongs to, for debug pages; absent: the source does not know. */
  readonly home?: { readonly namespace: string; readonly clusterId: string };
  /**
   * All resources of a type for this proxy: a few sets, typically one that many proxies share and one of its own.
   * Where two sets hold a name, the later one wins (sharing is then lost for the earlier one). The same sets must
   * be returned until their content changes. Undefined when the type is not served.
   */
  resourceSets(typeUrl: string): readonly ResourceSet[] | undefined;
  /**
   * The same without the parts that only the client may read, for pages. Default: the same.
   */
  shownSets?(typeUrl: string): readonly ResourceSet[] | undefined;
  /** The virtual hosts, named `<route configuration>/<any>`, that a route configuration gets by VHDS. */
  virtualHosts(routeConfiguration: string): readonly ResourceSet[];
  /**
   * The client subscribes to names of a type, for the first time or again; `*` is everything. Returns those of them that
   * are pending: the source cannot say yet whether they exist. Each other name is present if {@linkcode
   * ProxyView.resourceSets} holds it, and absent if not.
   *
   * Of a pending name the client hears nothing until {@linkcode ConnectControl.answered}; after a time (10 s by
   * default) it counts as absent until it is answered. Also called with names that the client has from an earlier
   * stream, where its wildcard may cover them. Streams with the same names give the same set of names, so that a source
   * can do the work for many clients once. Without this method no name is ever pending.
   */
  want?(typeUrl: string, names: NameSet): Iterable<string>;
  /** The client wants these names no longer. Some of them it may never have wanted; {@linkcode close} ends all wants. */
  unwant?(typeUrl: string, names: NameSet): void;
  /** The stream is over. */
  close(): void;
}
