/**
 * The certificates of a node tunnel: one for each identity of the node's workloads, ordered for the tunnel's own token,
 * and ordered anew at half of its lifetime.
 *
 * Permissions: net (the authority).
 *
 * @module
 */
import { type IssuedCertificate, orderCertificate } from "../../../lib/agent/secrets/issued_certificate.ts";
import { readCertificates } from "../../../lib/pki/certificate.ts";
import { certificateFor } from "../../wire_conformance/support/certificate_client.ts";

/** First and longest pause between two orders that fail, ms. */
const FIRST_PAUSE = 100, LONGEST_PAUSE = 15_000;

/** The authority, and the words that prove who the tunnel is. */
export interface AuthorityPlace {
  readonly host: string;
  readonly port: number;
  /** The authority's own root, as PEM. */
  readonly root: string;
  /** The tunnel's token, read for each order. */
  readonly token: () => Promise<string>;
}

interface Entry {
  /** The newest certificate, or the first order. */
  certificate: Promise<IssuedCertificate>;
  timer?: ReturnType<typeof setTimeout>;
}

/**
 * Orders a certificate for an identity.
 *
 * @throws {Error} with the authority's status, or when the certificate is for another identity
 */
export async function orderFor(identity: string, place: AuthorityPlace): Promise<IssuedCertificate> {
  const token = await place.token();
  const sign = async (csr: string, seconds: number) => {
    const { host, port, root } = place;
    const answer = await certificateFor({
      ...{ host, port, root, token, csr, seconds },
      asked: { ImpersonatedIdentity: identity },
    });
    if (typeof answer === "string") throw new Error(answer);
    return answer;
  };
  const order = { uri: identity, key: { type: "EC", curve: "P-256" }, ttl: 86_400_000, pkcs8: true } as const;
  const issued = await orderCertificate({ ...order, now: () => Date.now() }, sign);
  const found = readCertificates(issued.chain, "chain")[0]?.names.uris ?? [];
  if (found.length !== 1 || found[0] !== identity) {
    throw new Error(`got a certificate of ${found.join(", ") || "nobody"}, expected one of ${identity}`);
  }
  return issued;
}

/** The certificates in use. */
export class Identities implements Disposable {
  readonly #order: (identity: string) => Promise<IssuedCertificate>;
  readonly #failed: (identity: string, error: Error) => void;
  readonly #entries = new Map<string, Entry>();
  readonly #stop = new AbortController();

  /**
   * @param order for instance {@linkcode orderFor}
   * @param failed Called for each order that fails. It is tried again.
   */
  constructor(
    order: (identity: string) => Promise<IssuedCertificate>,
    failed: (identity: string, error: Error) => void,
  ) {
    this.#order = order;
    this.#failed = failed;
  }

  /** The certificate of an identity; waits for the first. A call ahead of time makes later calls quick. */
  of(identity: string): Promise<IssuedCertificate> {
    return this.#entries.getOrInsertComputed(identity, () => {
      const certificate = this.#untilOrdered(identity);
      const entry: Entry = { certificate };
      // Who waits is told; an order ahead of time has nobody who waits.
      certificate.then((issued) => this.#renewLater(identity, entry, issued), () => {});
      return entry;
    }).certificate;
  }

  /** Ends all orders. */
  [Symbol.dispose](): void {
    this.#stop.abort(new Error("the tunnel ends"));
    for (const { timer } of this.#entries.values()) clearTimeout(timer);
  }

  async #untilOrdered(identity: string): Promise<IssuedCertificate> {
    for (let pause = FIRST_PAUSE;; pause = Math.min(2 * pause, LONGEST_PAUSE)) {
      this.#stop.signal.throwIfAborted();
      try {
        return await this.#order(identity);
      } catch (error) {
        this.#failed(identity, error as Error);
      }
      await this.#pause(pause);
    }
  }

  #renewLater(identity: string, entry: Entry, { notAfter, notBefore }: IssuedCertificate): void {
    if (this.#stop.signal.aborted) return;
    const half = Math.max(1000, (notAfter + notBefore) / 2 - Date.now());
    entry.timer = setTimeout(async () => {
      const next = await this.#untilOrdered(identity).catch(() => undefined);
      if (next === undefined) return;
      entry.certificate = Promise.resolve(next);
      this.#renewLater(identity, entry, next);
    }, Math.min(half, 2 ** 31 - 1));
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#stop.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        resolve();
      }, { once: true });
    });
  }
}
