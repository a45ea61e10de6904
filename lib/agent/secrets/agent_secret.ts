/**
 * Secrets of an agent, and their encoding for Envoy.
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
    /** Revocation lists of the roots' certificates. Absent: nothing is revoked. */
    readonly revocations?: string;
  };

/** Name of the workload's own certificate. */
export const WORKLOAD_SECRET = "default";
/** Name of the roots of the mesh. */
export const ROOTS_SECRET = "ROOTCA";
/** Type URL of secrets. */
export const SECRET_TYPE = "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret";

/** A secret in Envoy's encoding, with a version made from its content. */
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
  /** Called with the secret, and with each replacement. */
  secret(secret: AgentSecret): void;
  /** There is no such secret. */
  failed(reason: string): void;
}

export interface SecretSource {
  /**
   * Watches a secret. Calls back at once if the secret exists, otherwise when it appears, and again for every
   * replacement.
   * @returns A function that ends the watch. Undefined: this source has no secret of that name.
   */
  watch(name: string, listener: SecretListener): (() => void) | undefined;
}

/** Several sources in order. The first source that knows the name decides. */
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
