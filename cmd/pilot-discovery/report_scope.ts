/**
 * What a report takes: namespaces, bounds, and notes about what is missing.
 *
 * @module
 */
import type { KnownVariables } from "../../lib/offline/report/secret_json.ts";
import { withoutSecretText } from "../../lib/offline/report/secret_text.ts";

/** Something that is not in the report. */
export interface MissingPart {
  readonly part: string;
  readonly why: string;
}

/** The choices of a report. */
export interface ReportScopeOptions {
  /** Empty: all but the excluded. */
  readonly include: readonly string[];
  readonly exclude: readonly string[];
  readonly maxProxies: number;
  /** Milliseconds until nothing more is collected. */
  readonly time: number;
  readonly known: KnownVariables;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
}

export class ReportScope {
  readonly maxProxies: number;
  readonly known: KnownVariables;
  readonly missing: MissingPart[] = [];
  /** The proxies of the asked server, `POD.NAMESPACE`. Undefined: no server said. */
  connected: ReadonlySet<string> | undefined;
  readonly #include: ReadonlySet<string>;
  readonly #exclude: ReadonlySet<string>;
  readonly #now: () => number;
  readonly #until: number;
  #saysOver = false;

  constructor({ include, exclude, maxProxies, time, known, now }: ReportScopeOptions) {
    this.#include = new Set(include);
    this.#exclude = new Set(exclude);
    this.maxProxies = maxProxies;
    this.known = known;
    this.#now = now;
    this.#until = now() + time;
  }

  /** Whether content of a namespace is in the report. An empty name stands for content without a namespace. */
  takes(namespace: string): boolean {
    if (namespace === "") return true;
    if (this.#include.size > 0) return this.#include.has(namespace);
    return !this.#exclude.has(namespace);
  }

  /** Notes what is missing. */
  failed(part: string, why: string): void {
    this.missing.push({ part, why: withoutSecretText(why) });
  }

  /** Milliseconds that are left. */
  left(): number {
    return this.#until - this.#now();
  }

  /** Whether the time is over, which is noted once. */
  isOver(): boolean {
    if (this.left() > 0) return false;
    if (!this.#saysOver) this.failed("the rest", "the time of --timeout is over");
    this.#saysOver = true;
    return true;
  }
}
