/**
 * The states of a client of another control plane's configuration, without any input or output. The machine makes the
 * requests of a stream. The protocol is state of the world: each response has all objects of its kind.
 *
 *     opened ──> a request for each kind ──> answers, each acknowledged ──> synced with the first of every kind
 *        ^                                                                        │
 *        └──────────────── the stream is lost: what is known stays ───────────────┘
 *
 * @module
 */
import type { KindWireType } from "./wire_types.ts";
import type { Any } from "../pb/codec.ts";
import { kindOfTypeUrl, kindTypeUrl } from "./kind_codec.ts";

/** A request, as fields of `envoy.service.discovery.v3.DiscoveryRequest`. */
export interface KindRequest {
  readonly type_url: string;
  readonly version_info: string;
  readonly response_nonce: string;
  /** Only in the first request of a stream. */
  readonly node?: object;
  /** Set to refuse a response. */
  readonly error_detail?: { readonly code: number; readonly message: string };
}

/** An answer, as fields of `envoy.service.discovery.v3.DiscoveryResponse`. */
export interface KindResponse {
  readonly type_url?: string;
  readonly version_info?: string;
  readonly nonce?: string;
  readonly resources?: readonly Partial<Any>[];
}

/** gRPC's INVALID_ARGUMENT. */
const INVALID = 3;

export class KindClientMachine {
  readonly #types: readonly KindWireType[];
  readonly #node: object;
  readonly #missing: Set<string>;
  readonly #versions = new Map<string, string>();

  /** @param types The kinds to read. */
  constructor(types: readonly KindWireType[], node: object) {
    this.#types = types;
    this.#node = node;
    this.#missing = new Set(types.map(kindTypeUrl));
  }

  /** Whether every kind was answered once. */
  get synced(): boolean {
    return this.#missing.size === 0;
  }

  /** The first requests of a stream. */
  opened(): KindRequest[] {
    return this.#types.map((type, index) => {
      const type_url = kindTypeUrl(type);
      const known = { type_url, version_info: this.#versions.get(type_url) ?? "", response_nonce: "" };
      return index === 0 ? { ...known, node: this.#node } : known;
    });
  }

  /** The kind of a response; undefined: the kind was not requested. */
  kindOf({ type_url = "" }: KindResponse): KindWireType | undefined {
    const type = kindOfTypeUrl(type_url);
    return type !== undefined && this.#types.includes(type) ? type : undefined;
  }

  /** Notes an accepted response. @returns the acknowledging request */
  taken({ type_url = "", version_info = "", nonce = "" }: KindResponse): KindRequest {
    this.#missing.delete(type_url);
    this.#versions.set(type_url, version_info);
    return { type_url, version_info, response_nonce: nonce };
  }

  /** Notes a response with unreadable parts. @returns the rejecting request */
  refused({ type_url = "", nonce = "" }: KindResponse, message: string): KindRequest {
    this.#missing.delete(type_url);
    const version_info = this.#versions.get(type_url) ?? "";
    return { type_url, version_info, response_nonce: nonce, error_detail: { code: INVALID, message } };
  }
}
