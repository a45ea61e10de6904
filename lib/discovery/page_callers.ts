/**
 * Decides which clients of other machines may see debug pages.
 *
 * @module
 */
import type { Authentication } from "../authenticators/authentication.ts";
import { failureText } from "../authenticators/caller.ts";
import { isLocalPeer, textResponse } from "../http/message.ts";
import type { Guard } from "../http/route.ts";

/**
 * Lets in clients of this machine, and clients of others that prove an identity of the mesh. To change something the
 * identity must be one of the control plane's own namespace.
 */
export function pageGuard(authentication: Pick<Authentication, "authenticate">, systemNamespace: string): Guard {
  return async ({ peer, headers, method }) => {
    if (isLocalPeer(peer)) return undefined;
    const result = await authentication.authenticate({ peer, headers });
    if ("failures" in result) {
      const who =
        "debug pages are for callers of the same machine, by 127.0.0.1 or [::1], and for who proves an identity";
      return textResponse(401, `${who}; ${failureText(result.failures)}\n`);
    }
    const { namespace } = result.caller.identity;
    if (method === "GET" || namespace === systemNamespace) return undefined;
    return textResponse(403, `namespace: got ${namespace}, expected ${systemNamespace} to change something\n`);
  };
}
