/**
 * Which clients of discovery may connect, and as whom.
 *
 * @module
 */
import type { Authentication } from "../authenticators/authentication.ts";
import {
  type AuthenticationResult,
  type Caller,
  type CallerCredentials,
  failureText,
} from "../authenticators/caller.ts";
import { Code } from "../grpc/codes.ts";
import type { Logger } from "../kernel/log/log.ts";
import { workloadUri } from "../pki/spiffe.ts";
import type { Proxy } from "../translate/proxy/node.ts";
import { type ConnectRequest, XdsRefusal } from "../xds/protocol/source.ts";

/** How clients are checked. */
export interface CallerRules {
  /** `XDS_AUTH`: clients prove who they are, in plain text only where `XDS_AUTH_PLAINTEXT` says so. */
  readonly authenticate: boolean;
  /** `PILOT_ENABLE_XDS_IDENTITY_CHECK`: they are the node that they say they are. */
  readonly checkIdentity: boolean;
}

/** See the module. */
export class DiscoveryCallers {
  readonly #authentication: Pick<Authentication, "mayProve" | "authenticate">;
  readonly #rules: CallerRules;
  readonly #log: Pick<Logger, "warn">;

  constructor(
    authentication: Pick<Authentication, "mayProve" | "authenticate">,
    rules: CallerRules,
    log: Pick<Logger, "warn">,
  ) {
    this.#authentication = authentication;
    this.#rules = rules;
    this.#log = log;
  }

  /**
   * Finds out who a client is. Undefined: it need not say.
   *
   * @throws {XdsRefusal} UNAUTHENTICATED with all reasons, as the promise's rejection
   */
  identify({ peer, metadata }: ConnectRequest): Promise<Caller> | undefined {
    const credentials: CallerCredentials = { peer, headers: metadata };
    if (!this.#rules.authenticate || !this.#authentication.mayProve(credentials)) return undefined;
    return this.#authentication.authenticate(credentials).then((result) => this.#callerOf(result, peer.address));
  }

  /**
   * The SPIFFE ID of a caller as this node; undefined where identities are not checked against nodes, so that nothing is
   * given out because of them.
   *
   * @throws {XdsRefusal} PERMISSION_DENIED when the node is of another namespace or service account
   */
  identityAs(
    { namespace, serviceAccount }: Pick<Proxy, "namespace" | "serviceAccount">,
    caller: Caller,
  ): string | undefined {
    if (!this.#rules.checkIdentity) return undefined;
    const { identity } = caller;
    const wrong: string[] = [];
    if (namespace !== identity.namespace) {
      wrong.push(`namespace: got ${JSON.stringify(namespace)}, expected ${JSON.stringify(identity.namespace)}`);
    }
    if (serviceAccount !== "" && serviceAccount !== identity.serviceAccount) {
      const expected = JSON.stringify(identity.serviceAccount);
      wrong.push(`service account: got ${JSON.stringify(serviceAccount)}, expected ${expected}`);
    }
    const uri = workloadUri(identity);
    if (wrong.length === 0) return uri;
    throw new XdsRefusal(Code.PERMISSION_DENIED, `the node is not that of ${uri}: ${wrong.join(", ")}`);
  }

  #callerOf(result: AuthenticationResult, address: string): Caller {
    if ("caller" in result) return result.caller;
    const reasons = failureText(result.failures);
    this.#log.warn("a client could not prove who it is", { address, reasons });
    throw new XdsRefusal(Code.UNAUTHENTICATED, `not authenticated: ${reasons}`);
  }
}
