/**
 * The surroundings of a stream: its way out, its limits and its events.
 *
 * @module
 */
import type { DiffTable } from "../../resource/diff.ts";
import type { InternedNames } from "../../resource/names.ts";
import type { ResourceTable } from "../../resource/set.ts";
import type { XdsMetrics } from "../protocol/metrics.ts";
import type { RecentTexts } from "./recent_texts.ts";
import type { StackDigests } from "./set_stack.ts";

/** The way out, and the parts that the stream shares with others. */
export interface StreamContext {
  readonly delta: boolean;
  readonly gzip: boolean;
  readonly names: InternedNames;
  readonly texts: RecentTexts;
  readonly diffs: DiffTable;
  readonly digests: StackDigests;
  readonly resources: ResourceTable;
  readonly metrics: XdsMetrics;
  /** Plain bytes after which a response is split, where the protocol allows it. */
  readonly maxResponseBytes: number;
  /** Identifier of the server in responses; may be empty. */
  readonly controlPlane: string;
  /** Sends one message; `taken` is called when the connection has taken all of it. */
  send(parts: readonly Uint8Array[], compressed: boolean, taken: () => void): void;
  /** A response went out. */
  onResponse(info: ResponseInfo): void;
  /** The client rejected a response. */
  onReject(info: RejectInfo): void;
  /** The client no longer rejects anything of a type that it had rejected. */
  onAccept(typeUrl: string): void;
  /** The client asked for a type beyond {@linkcode MAX_UNKNOWN_TYPES}, which is not remembered. */
  onIgnored(typeUrl: string): void;
  /** Milliseconds for which a name may be pending. */
  readonly wantTimeout: number;
  /** Calls back after a time, ms; the result stops that. */
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
  /** It answers a change of the subscription rather than a change of the sets. */
  readonly asked: boolean;
}

/** A rejection. */
export interface RejectInfo {
  readonly typeUrl: string;
  readonly code: number;
  readonly message: string;
  /** The client's last rejection of this type said the same. */
  readonly repeated: boolean;
  /** The client had acknowledged the response before: it has the resources, and reports an error in them. */
  readonly late: boolean;
  /** Resources that the message names. */
  readonly resources: readonly string[];
  /** Configuration objects that made them. */
  readonly causes: readonly string[];
}
