/**
 * Asks authenticators in order until one accepts a caller.
 *
 * @module
 */
import type { Logger } from "../kernel/log/log.ts";
import { PacedLines } from "../kernel/log/paced_lines.ts";
import {
  type AuthenticationFailure,
  type AuthenticationResult,
  type Authenticator,
  type CallerCredentials,
  CannotBeAsked,
  NotAuthenticated,
} from "./caller.ts";

/** How authenticators are asked. */
export interface AuthenticationOptions {
  /**
   * Whether callers in plain text may prove an identity (`XDS_AUTH_PLAINTEXT`). Others can read the tokens of such
   * callers.
   */
  readonly plaintext: boolean;
  /**
   * Logs a defect of an authenticator, which refuses the caller. At most one line a second: callers can cause the
   * lines.
   */
  readonly log: Pick<Logger, "error">;
}

export class Authentication {
  readonly #authenticators: readonly Authenticator[];
  readonly #options: AuthenticationOptions;
  readonly #lines = new PacedLines();

  /** @param authenticators In the order of asking. */
  constructor(authenticators: readonly Authenticator[], options: AuthenticationOptions) {
    this.#authenticators = authenticators;
    this.#options = options;
  }

  /** Whether a caller on this connection can prove an identity at all. */
  mayProve({ peer }: Pick<CallerCredentials, "peer">): boolean {
    return peer.tls !== undefined || this.#options.plaintext;
  }

  /** Adds an authenticator at the end. */
  with(last: Authenticator): Authentication {
    return new Authentication([...this.#authenticators, last], this.#options);
  }

  /** Never throws. */
  async authenticate(credentials: CallerCredentials): Promise<AuthenticationResult> {
    if (!this.mayProve(credentials)) {
      const reason = "the connection is in plain text, and XDS_AUTH_PLAINTEXT does not allow a proof in plain text";
      return { failures: [{ authenticator: "connection", reason }] };
    }
    const failures: AuthenticationFailure[] = [];
    for (const authenticator of this.#authenticators) {
      const { name } = authenticator;
      try {
        const { pod, ...identity } = await authenticator.authenticate(credentials);
        return { caller: { identity, provenBy: name, ...(pod && { pod }) } };
      } catch (error) {
        if (error instanceof NotAuthenticated) {
          const isTemporary = error instanceof CannotBeAsked;
          failures.push({ authenticator: name, reason: error.message, ...(isTemporary && { isTemporary }) });
        } else {
          const unsaid = this.#lines.next();
          if (unsaid) this.#options.log.error("an authenticator failed", { authenticator: name, error, ...unsaid });
          failures.push({ authenticator: name, reason: "an internal error" });
        }
      }
    }
    return { failures };
  }
}
