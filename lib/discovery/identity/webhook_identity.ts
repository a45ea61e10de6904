/**
 * The server's certificate on the port of webhooks. A new certificate is shown after its root has travelled.
 *
 * The orchestrator's API verifies webhooks by roots in their configurations. New roots arrive there by a patch and the
 * API's own watch. Until then the API refuses certificates of the new roots, and its requests fail. So new roots are
 * handed out at once beside the earlier roots, and the new certificate is shown a little later. Other servers of the
 * mesh may still show the old certificate, so the earlier roots stay for some minutes.
 *
 * @module
 */
import type { Kernel } from "../../kernel/kernel.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { CurrentValue, type ServerCertificate, type ServerIdentity, type TrustBundle } from "../../pki/current.ts";
import type { SecurePortOptions } from "./secure_port.ts";
import { certificateTexts } from "../../kernel/text/edges.ts";

/** Milliseconds until new roots are in all configurations: time for a repeated patch, and for a watch. */
const TRAVEL_MS = 10_000;

/** Milliseconds that other servers may take to read files that were replaced for all servers. */
const OVERLAP_MS = 10 * 60_000;

/** Most earlier sets of roots. Changes every second must not fill memory. */
const MAX_EARLIER = 3;

export class WebhookIdentity {
  /** The certificate on the port of webhooks. */
  readonly identity: ServerIdentity;
  /** Roots that verify the certificate: the present roots, and the earlier roots. */
  readonly roots: TrustBundle;
  readonly #shown: CurrentValue<ServerCertificate>;
  readonly #handedOut: CurrentValue<string>;
  readonly #own: ServerIdentity;
  readonly #clock: Pick<Clock, "after" | "monotonic">;
  readonly #ends: readonly (() => void)[];
  readonly #timers = new Set<Cancel>();
  #earlier: readonly string[] = [];
  #newest: string;
  #changedAt = -Infinity;
  #showing: Cancel | undefined;

  /**
   * @param own The certificate. Its roots must change before the certificate.
   * @param roots Roots that verify the certificate.
   */
  constructor(own: ServerIdentity, roots: TrustBundle, clock: Pick<Clock, "after" | "monotonic">) {
    this.#own = own;
    this.#clock = clock;
    this.#newest = roots.current();
    this.identity = this.#shown = new CurrentValue(own.current());
    this.roots = this.#handedOut = new CurrentValue(this.#newest);
    this.#ends = [roots.onChange((text) => this.#rootsChanged(text)), own.onChange(() => this.#showLater())];
  }

  /** Ends; the shown certificate stays. */
  stop(): void {
    for (const end of this.#ends) end();
    for (const cancel of this.#timers) cancel();
    this.#showing?.();
  }

  #rootsChanged(text: string): void {
    if (text === this.#newest) return;
    const before = this.#newest;
    this.#newest = text;
    this.#changedAt = this.#clock.monotonic();
    if (before !== "") {
      this.#earlier = [before, ...this.#earlier].slice(0, MAX_EARLIER);
      const cancel = this.#clock.after(OVERLAP_MS, () => {
        this.#timers.delete(cancel);
        this.#earlier = this.#earlier.filter((one) => one !== before);
        this.#handOut();
      });
      this.#timers.add(cancel);
    }
    this.#handOut();
  }

  #handOut(): void {
    const all = [this.#newest, ...this.#earlier];
    const text = all.length === 1 ? this.#newest : [...new Set(all.flatMap(certificatesOf))].join("");
    if (text !== this.#handedOut.current()) this.#handedOut.set(text);
  }

  #showLater(): void {
    this.#showing?.();
    this.#showing = undefined;
    const left = this.#changedAt + TRAVEL_MS - this.#clock.monotonic();
    const show = () => this.#shown.set(this.#own.current());
    if (left > 0) this.#showing = this.#clock.after(left, show);
    else show();
  }
}

/** The TLS of discovery for the port of webhooks, with a certificate that follows its root, until the kernel stops. */
export function followingTls(tls: SecurePortOptions, kernel: Pick<Kernel, "clock" | "stopper">): SecurePortOptions {
  const followed = new WebhookIdentity(tls.identity, tls.serverRoots, kernel.clock);
  kernel.stopper.add("the certificate of webhooks", () => followed.stop());
  const { identity, roots } = followed;
  return { ...tls, identity, serverRoots: roots };
}

/** The certificates of a PEM text, one text each. A certificate in two lists must appear once in the joined text. */
function certificatesOf(pem: string): string[] {
  return certificateTexts(pem).map((one) => `${one}\n`);
}
