/**
 * An authority that another authority replaces while the server runs: an operator brings an authority along after the
 * servers had made their own.
 *
 * @module
 */
import { type Current, CurrentValue } from "../pki/current.ts";
import { PkiError } from "../pki/pki_error.ts";
import { sameCertificates, type SigningMaterial } from "./material.ts";

/** Where an authority comes from. */
export interface AuthoritySource {
  readonly material: Current<SigningMaterial | undefined>;
  /** Ends the watching of the source. */
  stop(): Promise<void>;
}

export class Succession implements AuthoritySource {
  readonly material: CurrentValue<SigningMaterial | undefined>;
  #source: AuthoritySource;
  #unlisten: () => void;

  constructor(first: AuthoritySource) {
    this.material = new CurrentValue(first.material.current());
    this.#source = first;
    this.#unlisten = first.material.onChange((next) => this.material.set(next));
  }

  /**
   * Replaces the present authority, and stops it.
   *
   * @param multiRoot Whether the next authority may have other roots (`MESH_MULTIROOT_MESH`).
   * @throws {PkiError} when the next authority has other roots without `multiRoot`
   */
  async take(next: AuthoritySource, multiRoot: boolean): Promise<void> {
    const [before, after] = [this.material.current(), next.material.current()];
    if (!multiRoot && before !== undefined && after !== undefined && !sameCertificates(before.roots, after.roots)) {
      throw new PkiError(
        "expected the roots in force: without MESH_MULTIROOT_MESH, proxies that trust only these roots would refuse the new " +
          "certificates; a restarted server takes the new authority",
      );
    }
    const old = this.#source;
    this.#unlisten();
    this.#source = next;
    this.#unlisten = next.material.onChange((value) => this.material.set(value));
    this.material.set(after);
    await old.stop();
  }

  async stop(): Promise<void> {
    this.#unlisten();
    await this.#source.stop();
  }
}
