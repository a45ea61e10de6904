/**
 * What a change of the mesh affected, in the words in which traces note what they depend on (see `Trace.dependencies`).
 *
 * @module
 */
import { isWildcard, wildcardsOver } from "../../mesh/host_match.ts";
import type { AffectedKeys } from "../../mesh/mesh.ts";

/** Dependencies whose answers may be others now. */
export class InvalidatedKeys {
  readonly #names = new Set<string>();
  /** Wildcards stand for every host under them, whoever asked about it: a letter, and how such hosts end. */
  readonly #wildcards: { readonly letter: string; readonly suffix: string }[] = [];

  constructor(affected: AffectedKeys) {
    this.#addHosts("s/", affected.services);
    this.#addHosts("v/", affected.virtualServices);
    this.#addHosts("d/", affected.destinationRules);
    this.#addHosts("e/", affected.endpoints);
    for (const gateway of affected.gatewayRoutes) this.#names.add(`g/${gateway}`);
    if (affected.gateways) this.#names.add("g/");
  }

  /** Each host, the wildcards over it, and where it is a wildcard itself all hosts under it. */
  #addHosts(letter: string, hosts: Iterable<string>): void {
    for (const host of hosts) {
      this.#names.add(letter + host);
      for (const pattern of wildcardsOver(host)) this.#names.add(letter + pattern);
      if (isWildcard(host)) this.#wildcards.push({ letter, suffix: host.slice(1) });
    }
  }

  /** Whether this dependency was affected. */
  has(dependency: string): boolean {
    return this.#names.has(dependency) ||
      this.#wildcards.some(({ letter, suffix }) => dependency.startsWith(letter) && dependency.endsWith(suffix));
  }

  /** Whether any of these was affected. */
  hasAny(dependencies: Iterable<string>): boolean {
    for (const dependency of dependencies) if (this.has(dependency)) return true;
    return false;
  }

  /**
   * Those of an index's keys that were affected. Without wildcards it costs what changed, else a look at every key.
   *
   * @param index Anything by dependency.
   */
  among(index: ReadonlyMap<string, unknown>): Iterable<string> {
    if (this.#wildcards.length === 0) return [...this.#names].filter((name) => index.has(name));
    return [...index.keys()].filter((name) => this.has(name));
  }
}
