/**
 * Whether a connected proxy gets the secrets that its TLS needs.
 *
 * @module
 */
import { neverHolds } from "../config/credentials/named.ts";
import type { SecretLookup } from "../simulate/secret_types.ts";
import type { ProxyView } from "../xds/protocol/source.ts";
import { SECRET } from "../xds/protocol/types.ts";

/** Tells of the secrets of a connected proxy. */
export function servedSecrets(view: Pick<ProxyView, "whyNotSent"> | undefined): SecretLookup {
  return (resource, part) => {
    if (!/^[a-z-]+:\/\//.test(resource)) return undefined;
    const why = neverHolds({ resource, part }) ?? view?.whyNotSent?.(SECRET, resource);
    return why === undefined ? undefined : { why, isCertain: true };
  };
}
