/**
 * Proof by a token of the orchestrator. The orchestrator is asked about the token (TokenReview), because it knows when
 * a token's pod is gone.
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
  /** The pod that the token is bound to; absent: the token is not bound to a pod. */
  readonly pod?: CallerPod;
  /** Why the token is not authenticated, if the orchestrator gives a reason. */
  readonly error?: string;
}

/**
 * Asks the orchestrator of a cluster about a token.
 *
 * @param clusterId The caller's name of its cluster; undefined: the cluster of the server.
 * @param address The caller's address with port. Different addresses take turns. Default: an unknown address, shared by
 * all such callers.
 * @throws Error when the orchestrator cannot be asked
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
 * @param audiences Audiences of the token, from {@linkcode tokenAudiences}. The token must have one of the audiences.
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
