/**
 * Secrets as an agent serves them, and their encoding for Envoy.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { MessageWriter } from "../../grpc/message_writer.ts";
import { utf8Bytes } from "../../resource/protowire.ts";

/** A certificate with its key, or roots; all texts are PEM. */
export type AgentSecret =
  | { readonly kind: "certificate"; readonly chain: string; readonly key: string }
  | {
    readonly kind: "roots";
    readonly roots: string;
    /** Revocation lists of their certificates; absent: nothing is revoked. */
    readonly revocations?: string;
  };

/** Name of the workload's own certificate. */
export const WORKLOAD_SECRET = "default";
/** Name of the roots of the mesh. */
export const ROOTS_SECRET = "ROOTCA";
/** Type URL of secrets. */
export const SECRET_TYPE = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/** A secret as Envoy reads it, and a version by its content. */
export interface EncodedSecret {
  readonly name: string;
  readonly version: string;
  readonly bytes: Uint8Array;
}

/** Encodes a secret: envoy/extensions/transport_sockets/tls/v3/secret.proto and common.proto. */
export function encodeSecret(name: string, secret: AgentSecret): EncodedSecret {
  const out = new MessageWriter().string(1, name);
  if (secret.kind === "certificate") {
    const certificate = new MessageWriter().bytes(1, dataSource(secret.chain)).bytes(2, dataSource(secret.key));
    out.bytes(2, certificate.finish());
  } else {
    const context = new MessageWriter().bytes(1, dataSource(secret.roots));
    if (secret.revocations !== undefined) context.bytes(7, dataSource(secret.revocations));
    out.bytes(4, context.finish());
  }
  const bytes = out.finish();
  return { name, bytes, version: createHash("sha256").update(bytes).digest("hex").slice(0, 32) };
}

/** `DataSource`: inline_bytes = 2. */
function dataSource(text: string): Uint8Array {
  return new MessageWriter().bytes(2, utf8Bytes(text)).finish();
}

/** A listener for one secret. */
export interface SecretListener {
  /** The secret, and each one that takes its place. */
  secret(secret: AgentSecret): void;
  /** There is no such secret. */
  failed(reason: string): void;
}

/** A source of secrets. */
export interface SecretSource {
  /**
   * Watches a secret: calls back at once when it is there, else when it is, and again for every other one in its place.
   *
   * @returns a function that ends the watch; undefined: this source has no secret of that name
   */
  watch(name: string, listener: SecretListener): (() => void) | undefined;
}

/** Sources one after the other: the first one that has a name decides. */
export function firstSource(sources: readonly SecretSource[]): SecretSource {
  return {
    watch(name, listener) {
      for (const source of sources) {
        const stop = source.watch(name, listener);
        if (stop !== undefined) return stop;
      }
      return undefined;
    },
  };
}
