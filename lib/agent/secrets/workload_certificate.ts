/**
 * The workload's certificate: obtained, served, renewed in time, for as long as the agent lives.
 *
 * @module
 */
import type { Logger } from "../../kernel/log/log.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import type { Cancel, Clock } from "../../kernel/time/clock.ts";
import { joinPem } from "../../pki/pem.ts";
import { type RenewalOptions, renewalTime, whenDue } from "../../pki/renewal.ts";
import { ROOTS_SECRET, type SecretListener, type SecretSource, WORKLOAD_SECRET } from "./agent_secret.ts";
import type { IssuedCertificate } from "./issued_certificate.ts";

/** Options of a workload certificate. */
export interface WorkloadCertificateOptions {
  /** Gets a certificate. */
  readonly order: () => Promise<IssuedCertificate>;
  readonly renewal: RenewalOptions;
  /** Trusted roots in addition to the authority's roots, as PEM. */
  readonly moreRoots: readonly string[];
  /**
   * Called with each new certificate before the certificate is served. An exception is logged, and the call is repeated
   * later.
   */
  readonly store?: (certificate: IssuedCertificate) => Promise<void>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** From 0 to 1; default: `Math.random`. */
  readonly random?: () => number;
}

/** Times between attempts, ms: the first time is doubled up to the longest. */
const RETRY = { first: 500, longest: 60_000 };

/** The pause before the next attempt, ms. `failures`: the number of earlier failures, without the last one. */
function pauseAfter(failures: number): number {
  return Math.min(RETRY.longest, RETRY.first * 2 ** failures);
}

/** The certificate, as a source of the secrets `default` and `ROOTCA`. */
export class WorkloadCertificate implements SecretSource {
  readonly #options: WorkloadCertificateOptions;
  readonly #listeners = new Set<{ readonly name: string; readonly listener: SecretListener }>();
  #current: IssuedCertificate | undefined;
  #moreRoots: readonly string[];
  #revocations: string | undefined;
  #timer: Cancel | undefined;
  #storeTimer: Cancel | undefined;
  #written: Promise<void> = Promise.resolve();
  /** The certificate that belongs on the disk. */
  #newest: IssuedCertificate | undefined;
  #failures = 0;
  #running = false;
  #stopped = false;

  constructor(options: WorkloadCertificateOptions) {
    this.#options = options;
    this.#moreRoots = options.moreRoots;
  }

  /** The served certificate. Undefined: there is none yet. */
  get current(): IssuedCertificate | undefined {
    return this.#current;
  }

  /** Begins to ask for the certificate. */
  start(): void {
    if (this.#timer === undefined && !this.#running) this.#renew();
  }

  /** Replaces the additional roots. */
  trust(moreRoots: readonly string[]): void {
    this.#moreRoots = moreRoots;
    this.#tell(ROOTS_SECRET);
  }

  /** Replaces the revocation lists of the trusted roots; undefined: there are none. */
  revoke(lists: string | undefined): void {
    if (lists === this.#revocations) return;
    this.#revocations = lists;
    this.#tell(ROOTS_SECRET);
  }

  stop(): void {
    this.#stopped = true;
    this.#timer?.();
    this.#storeTimer?.();
  }

  watch(name: string, listener: SecretListener): (() => void) | undefined {
    if (name !== WORKLOAD_SECRET && name !== ROOTS_SECRET) return undefined;
    const entry = { name, listener };
    this.#listeners.add(entry);
    this.#give(entry);
    return () => void this.#listeners.delete(entry);
  }

  #give({ name, listener }: { readonly name: string; readonly listener: SecretListener }): void {
    const current = this.#current;
    if (current === undefined) return;
    const { chain, key, roots } = current;
    if (name === WORKLOAD_SECRET) listener.secret({ kind: "certificate", chain, key });
    else {
      const revocations = this.#revocations === undefined ? {} : { revocations: this.#revocations };
      listener.secret({ kind: "roots", roots: this.#allRoots(roots), ...revocations });
    }
  }

  /** The server may send the authority's own roots as well. */
  #allRoots(roots: string): string {
    return joinPem([roots, ...new Set(this.#moreRoots)].filter((one, i) => i === 0 || !roots.includes(one.trim())));
  }

  #tell(name: string): void {
    for (const entry of [...this.#listeners]) if (entry.name === name) this.#give(entry);
  }

  async #renew(): Promise<void> {
    this.#running = true;
    const { order, clock, metrics } = this.#options;
    const started = clock.monotonic();
    metrics.counter("num_outgoing_requests").inc({ request_type: "csr" });
    if (this.#failures > 0) metrics.counter("num_outgoing_retries").inc({ request_type: "csr" });
    try {
      const certificate = await order();
      metrics.counter("outgoing_latency").inc({ request_type: "csr" }, clock.monotonic() - started);
      if (!this.#stopped) await this.#serve(certificate);
    } catch (error) {
      metrics.counter("num_failed_outgoing_requests").inc({ request_type: "csr" });
      if (!this.#stopped) this.#retry(error as Error);
    } finally {
      this.#running = false;
    }
  }

  async #serve(certificate: IssuedCertificate): Promise<void> {
    const { store, renewal, clock, log, random = Math.random } = this.#options;
    this.#failures = 0;
    this.#storeTimer?.();
    this.#newest = certificate;
    if (store !== undefined) await this.#store(certificate, store);
    if (this.#stopped) return;
    this.#current = certificate;
    this.#tell(WORKLOAD_SECRET);
    this.#tell(ROOTS_SECRET);
    // Authorities backdate a certificate by minutes, for clocks that are behind. These minutes are not part of the
    // certificate's life.
    const life = { notBefore: Math.max(certificate.notBefore, clock.now()), notAfter: certificate.notAfter };
    const due = renewalTime(life, { ...renewal, random });
    log.info(
      `certificate valid until ${new Date(certificate.notAfter).toISOString()}, renewed at ${
        new Date(due).toISOString()
      }`,
    );
    // An authority with certificates of seconds must not be asked without a pause.
    const times = { notBefore: certificate.notBefore, notAfter: certificate.notAfter, due, least: RETRY.first };
    this.#timer = whenDue(times, clock, () => this.#renew());
  }

  /** A full disk may have room again later. Attempts for old files end before the next certificate arrives. */
  async #store(
    certificate: IssuedCertificate,
    write: (certificate: IssuedCertificate) => Promise<void>,
    failures = 0,
  ): Promise<void> {
    const { clock, log } = this.#options;
    try {
      // One write after the other: an older certificate must not overwrite a newer certificate.
      const written = this.#written.then(() => write(certificate));
      this.#written = written.catch(() => {/* reported below */});
      await written;
      if (failures > 0) log.info("the certificate is written now");
    } catch (error) {
      if (failures === 0) log.error(`${(error as Error).message}; the write is tried again until it succeeds`);
      if (this.#stopped || certificate !== this.#newest) return;
      this.#storeTimer = clock.after(pauseAfter(failures), () => this.#store(certificate, write, failures + 1));
    }
  }

  /** The present certificate is served on, even after its end: a proxy without a certificate refuses everybody. */
  #retry(error: Error): void {
    const { clock, log, random = Math.random } = this.#options;
    const delay = pauseAfter(this.#failures++) * (0.5 + random() / 2);
    const left = this.#current === undefined ? "there is none yet" : validityText(this.#current, clock.now());
    log.warn(`no certificate: ${error.message}; ${left}; next attempt in ${(delay / 1000).toFixed(1)} s`);
    this.#timer = clock.after(delay, () => this.#renew());
  }
}

function validityText({ notBefore, notAfter }: IssuedCertificate, now: number): string {
  const time = (ms: number) => new Date(ms).toISOString();
  return now < notBefore
    ? `the present one is not valid before ${time(notBefore)}, and it is ${time(now)} by this machine's clock`
    : `the present one is valid until ${time(notAfter)}`;
}
