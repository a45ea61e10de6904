/**
 * The surroundings of a stream: connection, limits and events.
 *
 * @module
 */
import type { DiffTable } from "../../resource/diff.ts";
import type { InternedNames } from "../../resource/names.ts";
import type { ResourceTable } from "../../resource/set.ts";
import type { XdsMetrics } from "../protocol/metrics.ts";
import type { RecentTexts } from "./recent_texts.ts";
import type { StackDigests } from "./set_stack.ts";

/** The way to the client, and the parts shared with other streams. */
export interface StreamContext {
  readonly delta: boolean;
  readonly gzip: boolean;
  readonly names: InternedNames;
  readonly texts: RecentTexts;
  readonly diffs: DiffTable;
  readonly digests: StackDigests;
  readonly resources: ResourceTable;
  readonly metrics: XdsMetrics;
  /** Uncompressed bytes beyond which a response is split, where the protocol allows a split. */
  readonly maxResponseBytes: number;
  /** Identifier of the server in responses; may be empty. */
  readonly controlPlane: string;
  /** Sends a message. `taken` is called when the connection has taken the whole message. */
  send(parts: readonly Uint8Array[], compressed: boolean, taken: () => void): void;
  /** A response went out. */
  onResponse(info: ResponseInfo): void;
  /** The client rejected a response. */
  onReject(info: RejectInfo): void;
  /** The client no longer rejects anything of a type, after a rejection. */
  onAccept(typeUrl: string): void;
  /** The client asked for a type beyond {@linkcode MAX_UNKNOWN_TYPES}. The type is not remembered. */
  onIgnored(typeUrl: string): void;
  /** Longest time that a name may be pending, in milliseconds. */
  readonly wantTimeout: number;
  /** Calls back after a time in milliseconds; the returned function cancels the call. */
  later(delay: number, run: () => void): () => void;
  /** Names have been pending for too long: {@linkcode AdsStream.reconcile} is due. */
  onAnswered(): void;
  /** All watched types are up to date and answered. */
  onSettled(): void;
}

/** A response, for metrics and the ledger. */
export interface ResponseInfo {
  readonly typeUrl: string;
  readonly resources: number;
  readonly removed: number;
  /** Bytes of the message, compressed or not. */
  readonly bytes: number;
  /** The response answers a change of the subscription, not a change of the sets. */
  readonly asked: boolean;
}

/** A rejection. */
export interface RejectInfo {
  readonly typeUrl: string;
  readonly code: number;
  readonly message: string;
  /** The client's last rejection of this type had the same text. */
  readonly repeated: boolean;
  /** The client had already acknowledged the response: the client has the resources, and reports an error in them. */
  readonly late: boolean;
  /** Resources named by the message. */
  readonly resources: readonly string[];
  /** Configuration objects behind the named resources. */
  readonly causes: readonly string[];
}
