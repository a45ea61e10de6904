/**
 * Decides which HTTP clients may see which debug pages, by the rule of `../../debug/audience.ts`.
 *
 * @module
 */
import type { Authentication } from "../../authenticators/authentication.ts";
import { failureText } from "../../authenticators/caller.ts";
import { type AudienceOf, audienceOf } from "../../debug/audience.ts";
import { isLocalPeer, textResponse } from "../../http/message.ts";
import type { Guard } from "../../http/route.ts";
import { workloadUri } from "../../pki/spiffe.ts";

/** A client on the same machine sees everything. Other clients see the pages that their proven identity may see. */
export function pageAudience(
  authentication: Pick<Authentication, "authenticate">,
  systemNamespace: string,
): AudienceOf {
  return async ({ peer, headers }) => {
    if (isLocalPeer(peer)) return {};
    const result = await authentication.authenticate({ peer, headers });
    if ("failures" in result) {
      const who =
        "debug pages are for callers on the same machine (127.0.0.1 or [::1]) and for callers with a proven identity";
      return textResponse(401, `${who}; ${failureText(result.failures)}\n`);
    }
    const { identity } = result.caller;
    return audienceOf({ uri: workloadUri(identity), namespace: identity.namespace }, systemNamespace);
  };
}

/** Lets in clients that may see everything. Guards pages about the server as a whole. */
export function wholeGuard(audience: AudienceOf): Guard {
  return async (head) => {
    const sees = await audience(head);
    if ("status" in sees) return sees;
    if (sees.confined === undefined) return undefined;
    return textResponse(403, `${sees.confined.identity} is of another namespace than the server\n`);
  };
}
