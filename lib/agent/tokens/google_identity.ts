/**
 * The token by which a machine of Google Compute Engine proves its identity. The token comes from the metadata server,
 * is renewed for as long as the agent lives, and is kept in a file for clients of the security token service.
 *
 * Permissions: net (the metadata server), write (the file).
 *
 * @module
 */
import * as z from "zod";
import type { Logger } from "../../kernel/log/log.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { GOOGLE_HEADERS } from "../cloud/google.ts";
import { metadataPages } from "../cloud/metadata_server.ts";

/** Options of the machine's token. */
export interface GoogleIdentityOptions {
  /** Address of the metadata server. */
  readonly server: string;
  /** The audience of the token: the trust domain. */
  readonly audience: string;
  /** Stores the token. Errors are logged. */
  readonly store: (token: string) => Promise<void>;
  /** Time for an answer, ms. Default: 2 s. */
  readonly deadline?: number;
  readonly clock: Clock;
  readonly log: Logger;
}

/** Time for an answer, ms. */
const DEADLINE = 2000;
/** Pause after a failed attempt, and least time between two tokens, ms. */
const PAUSE = 10_000;
/** Lifetime of a token without an end, ms. */
const LIFETIME = 3_600_000;

const claims = z.looseObject({ exp: z.number() });

export class GoogleIdentity {
  readonly #options: GoogleIdentityOptions;
  #current: { readonly token: string; readonly expires: number; readonly renewAt: number } | undefined;
  #asking: Promise<string> | undefined;
  #timer: Cancel | undefined;
  #stopped = false;

  constructor(options: GoogleIdentityOptions) {
    this.#options = options;
  }

  /** Begins to keep the token in date. */
  start(): void {
    this.#keep();
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.();
  }

  /**
   * The token.
   * @throws {Error} When there is no valid token.
   */
  async token(): Promise<string> {
    const now = this.#options.clock.now();
    if (this.#current !== undefined && now < this.#current.renewAt) return this.#current.token;
    try {
      return await (this.#asking ??= this.#ask().finally(() => this.#asking = undefined));
    } catch (error) {
      if (this.#current !== undefined && now < this.#current.expires) return this.#current.token;
      throw error;
    }
  }

  async #keep(): Promise<void> {
    const { clock, log } = this.#options;
    try {
      await this.token();
    } catch (error) {
      log.warn(`no token of this machine: ${(error as Error).message}; next attempt in ${PAUSE / 1000} s`);
    }
    if (this.#stopped) return;
    const due = this.#current === undefined ? 0 : this.#current.renewAt - clock.now();
    this.#timer = clock.after(Math.max(PAUSE, due), () => this.#keep());
  }

  async #ask(): Promise<string> {
    const { server, audience, clock, log, store, deadline = DEADLINE } = this.#options;
    const query = `audience=${encodeURIComponent(audience)}&format=full`;
    const page = metadataPages(server, deadline);
    const path = `/computeMetadata/v1/instance/service-accounts/default/identity?${query}`;
    const token = await page(path, { headers: GOOGLE_HEADERS });
    const now = clock.now();
    const expires = expiryOf(token) ?? now + LIFETIME;
    this.#current = { token, expires, renewAt: now + (expires - now) / 2 };
    await store(token).catch((error: Error) => log.warn(`the token of this machine is not kept: ${error.message}`));
    return token;
  }
}

/**
 * The claim `exp` in milliseconds since 1970. Undefined: the text has no such claim. The receiver of the token verifies
 * the token.
 */
function expiryOf(token: string): number | undefined {
  try {
    const part = (token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/");
    return claims.parse(JSON.parse(atob(part))).exp * 1000;
  } catch {
    return undefined;
  }
}
