/**
 * Proof by a token of the orchestrator, which is asked about it (TokenReview): it knows when a token's pod is gone.
 *
 * @module
 */
import { bearerToken } from "./bearer.ts";
import { ApiError } from "../orch/client/api_error.ts";
import {
  type Authenticator,
  type CallerCredentials,
  type CallerPod,
  CannotBeAsked,
  NotAuthenticated,
} from "./caller.ts";
import { accountIdentity, shownText, type TrustDomains } from "./trust.ts";

/** The orchestrator's answer about a token. */
export interface TokenReview {
  readonly authenticated: boolean;
  /** `system:serviceaccount:namespace:account`, for a service account. */
  readonly username: string;
  readonly groups: readonly string[];
  /** The pod that the token is bound to; absent: none. */
  readonly pod?: CallerPod;
  /** Why it is not authenticated, as far as the orchestrator says. */
  readonly error?: string;
}

/**
 * Asks the orchestrator of a cluster about a token.
 *
 * @param clusterId as the caller names its cluster; undefined: it names none, so it is this server's
 * @param address the caller's, with its port: those of different addresses are asked about by turns. Default: one that is
 * not known, shared with all such callers.
 * @throws Error when it cannot be asked
 */
export type TokenReviewer = (
  token: string,
  audiences: readonly string[],
  clusterId: string | undefined,
  address?: string,
) => Promise<TokenReview>;

/** The group of all service accounts. */
const ACCOUNTS_GROUP = "system:serviceaccounts";

/**
 * @param audiences that the token must be for, as {@linkcode tokenAudiences} reads them; one is enough
 * @param domains asked at each call, since the mesh configuration may change
 */
export function orchestratorTokenAuthenticator(
  review: TokenReviewer,
  audiences: readonly string[],
  domains: () => TrustDomains,
): Authenticator {
  return {
    name: "orchestrator token",
    async authenticate(credentials: CallerCredentials) {
      const token = bearerToken(credentials);
      let answer: TokenReview;
      try {
        const { peer, headers } = credentials;
        answer = await review(token, audiences, headers["clusterid"], peer.address);
      } catch (error) {
        const reason = `the orchestrator cannot be asked: ${(error as Error).message}`;
        throw error instanceof ApiError && error.transient ? new CannotBeAsked(reason) : new NotAuthenticated(reason);
      }
      if (!answer.authenticated) throw new NotAuthenticated(answer.error ?? "the orchestrator does not know the token");
      if (!answer.groups.includes(ACCOUNTS_GROUP)) {
        throw new NotAuthenticated(`got user ${shownText(answer.username)}, expected a service account`);
      }
      return { ...accountIdentity(answer.username, domains()), ...(answer.pod && { pod: answer.pod }) };
    },
  };
}
