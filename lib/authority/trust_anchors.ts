/**
 * Roots in the mesh configuration (`caCertificates`), beside the authority's roots. The roots are written in the mesh
 * configuration, or published at the bundle endpoint of another trust domain, which is read again and again.
 *
 * Permissions: net (the endpoints).
 *
 * @module
 */
import { fetchText, type TextExchange } from "../kernel/fetch/fetch_text.ts";
import type { Logger } from "../kernel/log/log.ts";
import type { Cancel, Clock } from "../kernel/time/clock.ts";
import { readCertificates } from "../pki/certificate.ts";
import { CurrentValue } from "../pki/current.ts";
import { certificatePem } from "../pki/pem.ts";
import { readSpiffeBundle } from "./spiffe_bundle.ts";

/** A source of roots. One of `pem` and `spiffeBundleUrl` is set. */
export interface AnchorSource {
  readonly pem?: string;
  readonly spiffeBundleUrl?: string;
  /** Trust domains that the roots verify. Default: the mesh's own. */
  readonly trustDomains?: readonly string[];
}

/** A root and its trust domains. */
export interface TrustAnchor {
  /** A certificate in PEM. */
  readonly pem: string;
  /** Empty: the mesh's own trust domain. */
  readonly trustDomains: readonly string[];
}

/** Times between two readings of an endpoint, ms. */
const REFRESH = {
  /** For a bundle without a refresh hint; also the longest time, whatever the hint. */
  usual: 30 * 60_000,
  /** The shortest time, whatever the hint. */
  least: 60_000,
  /** After the first failure. The time doubles with each further failure. */
  failed: 10_000,
};
/** Limits of a reading: milliseconds, and bytes (enough for hundreds of roots). */
const LIMITS = { timeout: 10_000, size: 1024 * 1024 };

/** How anchors are kept. */
export interface TrustAnchorsOptions {
  readonly clock: Pick<Clock, "after">;
  readonly log: Logger;
  /** Gets the text at an address; default: over the network, within 10 s and 1 MiB. */
  readonly fetchBundle?: FetchBundle;
}

/** Gets the text at an address. */
export type FetchBundle = (url: string, signal: AbortSignal) => Promise<string>;

export class TrustAnchors {
  /** The present roots. */
  readonly all = new CurrentValue<readonly TrustAnchor[]>([]);
  readonly #options: TrustAnchorsOptions;
  readonly #endpoints = new Map<string, BundleEndpoint>();
  #sources: readonly AnchorSource[] = [];

  constructor(options: TrustAnchorsOptions) {
    this.#options = options;
  }

  /** Replaces the sources. Endpoints in both the old and the new sources keep their roots. */
  use(sources: readonly AnchorSource[]): void {
    this.#sources = sources;
    const urls = new Set(sources.flatMap(({ spiffeBundleUrl }) => spiffeBundleUrl ?? []));
    for (const [url, endpoint] of this.#endpoints) {
      if (urls.has(url)) continue;
      endpoint.stop();
      this.#endpoints.delete(url);
    }
    for (const url of urls) {
      if (this.#endpoints.has(url)) continue;
      const endpoint = new BundleEndpoint(url, this.#options, () => this.#publish());
      this.#endpoints.set(url, endpoint);
      endpoint.start();
    }
    this.#publish();
  }

  /** Asks no endpoint any more. */
  stop(): void {
    for (const endpoint of this.#endpoints.values()) endpoint.stop();
  }

  #publish(): void {
    const next = this.#sources.flatMap(({ pem = "", spiffeBundleUrl = "", trustDomains = [] }) => {
      const roots = pem === "" ? this.#endpoints.get(spiffeBundleUrl)?.roots ?? [] : this.#written(pem);
      return roots.map((root): TrustAnchor => ({ pem: root, trustDomains }));
    });
    if (JSON.stringify(next) !== JSON.stringify(this.all.current())) this.all.set(next);
  }

  /** Invalid texts were refused with the mesh configuration. A text that slips through adds no root. */
  #written(pem: string): string[] {
    try {
      return readCertificates(pem).filter(({ isCa }) => isCa).map(({ der }) => certificatePem(der));
    } catch (error) {
      this.#options.log.error("roots of caCertificates cannot be read", { error });
      return [];
    }
  }
}

/** The roots for the given trust domains: the mesh's own domain and its aliases. */
export function anchorsOf(anchors: readonly TrustAnchor[], domains: readonly string[]): string[] {
  const fits = ({ trustDomains }: TrustAnchor) =>
    trustDomains.length === 0 || trustDomains.some((domain) => domains.includes(domain));
  return anchors.filter(fits).map(({ pem }) => pem);
}

/** A bundle endpoint. Its last roots stay in force while the endpoint cannot be read. */
class BundleEndpoint {
  /** PEM, one certificate per text; undefined: the endpoint was not read yet. */
  roots: readonly string[] | undefined;
  readonly #url: string;
  readonly #options: TrustAnchorsOptions;
  readonly #changed: () => void;
  readonly #stopped = new AbortController();
  #timer: Cancel | undefined;
  #failures = 0;

  constructor(url: string, options: TrustAnchorsOptions, changed: () => void) {
    this.#url = url;
    this.#options = options;
    this.#changed = changed;
  }

  start(): void {
    void this.#read().then((delay) => {
      if (!this.#stopped.signal.aborted) this.#timer = this.#options.clock.after(delay, () => this.start());
    });
  }

  stop(): void {
    this.#stopped.abort();
    this.#timer?.();
  }

  /** Reads the endpoint; returns the ms until the next reading. */
  async #read(): Promise<number> {
    const { log, fetchBundle = bundlesBy(fetch) } = this.#options;
    const { signal } = this.#stopped;
    try {
      const { roots, refreshAfter = REFRESH.usual } = readSpiffeBundle(await fetchBundle(this.#url, signal));
      if (signal.aborted) return 0;
      if (this.#failures > 0) log.info("a trust domain's roots can be read again", { url: this.#url });
      this.#failures = 0;
      this.roots = roots;
      this.#changed();
      return Math.min(REFRESH.usual, Math.max(REFRESH.least, refreshAfter));
    } catch (error) {
      if (signal.aborted) return 0;
      const kept = this.roots === undefined ? "there are no roots yet" : "the earlier roots stay in force";
      if (this.#failures === 0) log.warn(`a trust domain's roots cannot be read; ${kept}`, { url: this.#url, error });
      return Math.min(REFRESH.usual, REFRESH.failed * 2 ** this.#failures++);
    }
  }
}

/** Fetches bundles over the network. @param exchange Makes the HTTP requests. */
export function bundlesBy(exchange: TextExchange): FetchBundle {
  return (url, signal) => fetchText(url, LIMITS, { signal, exchange });
}
