/**
 * The server's certificate, signed by its own authority or by an external signer. The certificate is made at the start,
 * and renewed before its expiry and after a change of the roots.
 *
 * @module
 */
import type { Logger } from "../kernel/log/log.ts";
import type { Cancel, Clock } from "../kernel/time/clock.ts";
import { CurrentValue, type ServerCertificate, type ServerIdentity } from "../pki/current.ts";
import { PrivateKey } from "../pki/private_key.ts";
import { renewalTime, whenDue } from "../pki/renewal.ts";
import type { IssuedChain, OwnIssuer } from "./issuing.ts";

/** Part of the certificate's lifetime after which the certificate is renewed. */
const GRACE_RATIO = 0.5;
/** Milliseconds until a failed renewal is tried again. */
const RETRY = 10_000;

/** How the certificate is made. */
export interface OwnIdentityOptions {
  readonly authority: OwnIssuer;
  readonly names: readonly string[];
  readonly clock: Pick<Clock, "now" | "after">;
  readonly log: Logger;
}

export class OwnIdentity implements ServerIdentity {
  readonly #options: OwnIdentityOptions;
  readonly #value: CurrentValue<ServerCertificate>;
  readonly #unlisten: () => void;
  #cancel: Cancel | undefined;
  #renewing: Promise<void> = Promise.resolve();
  #stopped = false;

  private constructor(options: OwnIdentityOptions, made: MadeIdentity) {
    this.#options = options;
    this.#value = new CurrentValue(made.certificate);
    this.#unlisten = options.authority.material.onChange(() => void this.renew());
    this.#renewWhenDue(made);
  }

  /** Makes the first certificate. Throws the authority's errors. */
  static async start(options: OwnIdentityOptions): Promise<OwnIdentity> {
    return new OwnIdentity(options, await makeIdentity(options));
  }

  current(): ServerCertificate {
    return this.#value.current();
  }

  onChange(listener: (value: ServerCertificate) => void): () => void {
    return this.#value.onChange(listener);
  }

  /** Makes a new certificate now. After a failure the old certificate stays, and a later try follows. */
  renew(): Promise<void> {
    return this.#renewing = this.#renewing.then(async () => {
      if (this.#stopped) return;
      const { clock, log } = this.#options;
      try {
        const made = await makeIdentity(this.#options);
        if (this.#stopped) return;
        this.#renewWhenDue(made);
        this.#value.set(made.certificate);
      } catch (error) {
        log.error("the server's own certificate could not be renewed; the server tries again", { error });
        this.#cancel?.();
        if (!this.#stopped) this.#cancel = clock.after(RETRY, () => void this.renew());
      }
    });
  }

  /** Ends the renewals. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#unlisten();
    this.#cancel?.();
    await this.#renewing;
  }

  #renewWhenDue({ issued, renewAt }: MadeIdentity): void {
    this.#cancel?.();
    if (this.#stopped) return;
    const times = { notBefore: issued.notBefore, notAfter: issued.notAfter, due: renewAt, least: RETRY };
    this.#cancel = whenDue(times, this.#options.clock, () => void this.renew());
  }
}

interface MadeIdentity {
  readonly certificate: ServerCertificate;
  readonly issued: Pick<IssuedChain, "notBefore" | "notAfter">;
  /** Milliseconds since 1970. */
  readonly renewAt: number;
}

/** A new key each time, on curve P-256, whose signatures make handshakes cheapest. */
async function makeIdentity({ authority, names }: OwnIdentityOptions): Promise<MadeIdentity> {
  const key = await PrivateKey.generate({ type: "EC", curve: "P-256" });
  const issued = await authority.issueServer(key, names);
  return {
    certificate: { certificatePem: issued.chain.join(""), keyPem: key.pem() },
    issued,
    renewAt: renewalTime(issued, { graceRatio: GRACE_RATIO }),
  };
}
