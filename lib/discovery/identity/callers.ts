/**
 * Decides which clients of discovery may connect, and under which identity.
 *
 * @module
 */
import type { Authentication } from "../../authenticators/authentication.ts";
import {
  type AuthenticationResult,
  type Caller,
  type CallerCredentials,
  failureText,
  mayBeAccepted,
} from "../../authenticators/caller.ts";
import { shownText } from "../../authenticators/trust.ts";
import { Code } from "../../grpc/codes.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { RefusalLog } from "../../kernel/log/refusal_log.ts";
import { workloadUri } from "../../pki/spiffe.ts";
import type { Proxy } from "../../translate/proxy/node.ts";
import { type ConnectRequest, XdsRefusal } from "../../xds/protocol/source.ts";
import type { ServerAuthentication } from "./authentication.ts";
import type { DiscoverySettings } from "../settings/settings.ts";

/** How clients are checked. */
export interface CallerRules {
  /** `XDS_AUTH`: clients must prove their identity; in plain text only with `XDS_AUTH_PLAINTEXT`. */
  readonly authenticate: boolean;
  /** `PILOT_ENABLE_XDS_IDENTITY_CHECK`: the proven identity must match the node in the request. */
  readonly checkIdentity: boolean;
}

export class DiscoveryCallers {
  readonly #authentication: Pick<Authentication, "mayProve" | "authenticate">;
  readonly #rules: CallerRules;
  readonly #refusals: Pick<RefusalLog, "add">;

  constructor(
    authentication: Pick<Authentication, "mayProve" | "authenticate">,
    rules: CallerRules,
    refusals: Pick<RefusalLog, "add">,
  ) {
    this.#authentication = authentication;
    this.#rules = rules;
    this.#refusals = refusals;
  }

  /** Whether clients must prove their identity, except where plain text needs no proof. */
  get authenticates(): boolean {
    return this.#rules.authenticate;
  }

  /**
   * Finds out the identity of a client. Undefined: the client need not prove an identity.
   *
   * @throws {XdsRefusal} UNAUTHENTICATED with all reasons (UNAVAILABLE when a reason may pass), as the promise's
   * rejection
   */
  identify({ peer, metadata }: ConnectRequest): Promise<Caller> | undefined {
    const credentials: CallerCredentials = { peer, headers: metadata };
    if (!this.#rules.authenticate || !this.#authentication.mayProve(credentials)) return undefined;
    return this.#authentication.authenticate(credentials).then((result) => this.#callerOf(result, peer.address));
  }

  /**
   * The SPIFFE ID of a caller as this node. Undefined when identities are not checked against nodes: an unchecked
   * identity must not give a client access to anything.
   *
   * @throws {XdsRefusal} PERMISSION_DENIED when the node is of another namespace or service account
   */
  identityAs(
    { namespace, serviceAccount }: Pick<Proxy, "namespace" | "serviceAccount">,
    caller: Caller,
    address: string,
  ): string | undefined {
    if (!this.#rules.checkIdentity) return undefined;
    const { identity } = caller;
    const wrong: string[] = [];
    if (namespace !== identity.namespace) {
      wrong.push(`namespace: got ${shownText(namespace)}, expected ${JSON.stringify(identity.namespace)}`);
    }
    if (serviceAccount !== "" && serviceAccount !== identity.serviceAccount) {
      const expected = JSON.stringify(identity.serviceAccount);
      wrong.push(`service account: got ${shownText(serviceAccount)}, expected ${expected}`);
    }
    const uri = workloadUri(identity);
    if (wrong.length === 0) return uri;
    throw this.#refusal(Code.PERMISSION_DENIED, `the node does not belong to ${uri}: ${wrong.join(", ")}`, address);
  }

  #callerOf(result: AuthenticationResult, address: string): Caller {
    if ("caller" in result) return result.caller;
    const code = mayBeAccepted(result.failures) ? Code.UNAVAILABLE : Code.UNAUTHENTICATED;
    throw this.#refusal(code, `not authenticated: ${failureText(result.failures)}`, address);
  }

  #refusal(code: Code, message: string, address: string): XdsRefusal {
    this.#refusals.add(address, message);
    return new XdsRefusal(code, message);
  }
}

/** The callers of a server by its settings. Refusals are logged. */
export function newCallers(
  authentication: Pick<ServerAuthentication, "forDiscovery">,
  settings: Pick<DiscoverySettings, "XDS_AUTH" | "PILOT_ENABLE_XDS_IDENTITY_CHECK">,
  { log, clock }: Pick<Kernel, "log" | "clock">,
): DiscoveryCallers {
  const rules: CallerRules = {
    authenticate: settings.XDS_AUTH,
    checkIdentity: settings.PILOT_ENABLE_XDS_IDENTITY_CHECK,
  };
  const refusals = new RefusalLog("refused a client of discovery", log.scope("authn"), clock);
  return new DiscoveryCallers(authentication.forDiscovery(), rules, refusals);
}
