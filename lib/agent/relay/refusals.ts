/**
 * Refusals that wait for the proxy's acknowledgement: before it, a server would take the response for one that the
 * proxy does not have, and would not replace the resources that the proxy has.
 *
 * @module
 */
import { isRejection, type RejectedResponse, rejectRequest, type RelayVariant, requestNonce } from "./messages.ts";

/** The pending refusal of each type's last response. */
export type PendingRefusals = ReadonlyMap<string, RejectedResponse>;

/** The pending refusals with that of one more response. */
export function withRefusal(refusals: PendingRefusals, { typeUrl, nonce, reason }: RejectedResponse): PendingRefusals {
  return new Map(refusals).set(typeUrl, { typeUrl, nonce, reason });
}

/**
 * The requests that go to the server for a request of the proxy, and the refusals that stay pending. A rejection by the
 * proxy needs no refusal beside it.
 */
export function withRefused(
  variant: RelayVariant,
  refusals: PendingRefusals,
  typeUrl: string,
  bytes: Uint8Array,
): { readonly requests: readonly Uint8Array[]; readonly refusals: PendingRefusals } {
  const refusal = refusals.get(typeUrl);
  if (refusal === undefined || requestNonce(variant, bytes) !== refusal.nonce) return { requests: [bytes], refusals };
  const left = new Map(refusals);
  left.delete(typeUrl);
  return {
    requests: isRejection(variant, bytes) ? [bytes] : [bytes, rejectRequest(variant, refusal, bytes)],
    refusals: left,
  };
}
