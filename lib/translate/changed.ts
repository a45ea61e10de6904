/**
 * What a change of the mesh touched, in the words in which traces note what they depend on (see `Trace.dependencies`).
 *
 * @module
 */
import { isWildcard, wildcardsOver } from "../mesh/host_match.ts";
import type { Touched } from "../mesh/mesh.ts";

/** Dependencies whose answers may be others now. */
export class Changed {
  readonly #names = new Set<string>();
  /** Wildcards stand for every host under them, whoever asked about it: a letter, and how such hosts end. */
  readonly #wildcards: { readonly letter: string; readonly suffix: string }[] = [];

  constructor(touched: Touched) {
    this.#addHosts("s/", touched.services);
    this.#addHosts("v/", touched.virtualServices);
    this.#addHosts("d/", touched.destinationRules);
    this.#addHosts("e/", touched.endpoints);
    for (const gateway of touched.gatewayRoutes) this.#names.add(`g/${gateway}`);
    if (touched.gateways) this.#names.add("g/");
  }

  /** Each host, the wildcards over it, and where it is a wildcard itself all hosts under it. */
  #addHosts(letter: string, hosts: Iterable<string>): void {
    for (const host of hosts) {
      this.#names.add(letter + host);
      for (const pattern of wildcardsOver(host)) this.#names.add(letter + pattern);
      if (isWildcard(host)) this.#wildcards.push({ letter, suffix: host.slice(1) });
    }
  }

  /** Whether this dependency was touched. */
  has(dependency: string): boolean {
    return this.#names.has(dependency) ||
      this.#wildcards.some(({ letter, suffix }) => dependency.startsWith(letter) && dependency.endsWith(suffix));
  }

  /** Whether any of these was touched. */
  hasAny(dependencies: Iterable<string>): boolean {
    for (const dependency of dependencies) if (this.has(dependency)) return true;
    return false;
  }

  /**
   * Those of an index's keys that were touched. Without wildcards it costs what changed, else a look at every key.
   *
   * @param index Anything by dependency.
   */
  among(index: ReadonlyMap<string, unknown>): Iterable<string> {
    if (this.#wildcards.length === 0) return [...this.#names].filter((name) => index.has(name));
    return [...index.keys()].filter((name) => this.has(name));
  }
}
