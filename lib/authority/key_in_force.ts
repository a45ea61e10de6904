/**
 * The key of an authority while the key is in force, at the fastest signer.
 *
 * Until the signer has the key, and after a failure of the signer, the key itself signs. The signatures are the same.
 *
 * @module
 */
import type { Logger } from "../kernel/log/log.ts";
import type { PrivateKey } from "../pki/private_key.ts";
import type { Signer, SigningKey } from "../pki/signer.ts";

/** Gives a key to a signer. Rejects with the reason when the signer does not take the key. */
export type SignerOf = (key: PrivateKey) => Promise<Signer>;

export class KeyInForce {
  readonly #signerOf: SignerOf;
  readonly #log: Pick<Logger, "warn">;
  #key: PrivateKey | undefined;
  #signer: Signer | undefined;
  #taking: Promise<void> = Promise.resolve();

  constructor(signerOf: SignerOf, log: Pick<Logger, "warn">) {
    this.#signerOf = signerOf;
    this.#log = log;
  }

  /** Puts another key, or no key, into force. Resolves when the signer has the key. */
  take(key: PrivateKey | undefined): Promise<void> {
    if (key !== this.#key) {
      this.#key = key;
      this.#signer?.release();
      this.#signer = undefined;
      if (key !== undefined) this.#taking = this.#give(key);
    }
    return this.#taking;
  }

  /** Signs with a key: the signer if the signer has the key, else the key itself. */
  of(key: PrivateKey): SigningKey {
    const signer = this.#signer;
    if (signer === undefined || key !== this.#key) return key;
    const sign = async (body: Uint8Array): Promise<Uint8Array> => {
      try {
        return await signer.sign(body);
      } catch (error) {
        this.#failed(error, signer);
        return await key.sign(body);
      }
    };
    return { signatureAlgorithm: signer.signatureAlgorithm, sign };
  }

  async #give(key: PrivateKey): Promise<void> {
    try {
      const signer = await this.#signerOf(key);
      // Another key may have come meanwhile.
      if (key === this.#key) this.#signer = signer;
      else signer.release();
    } catch (error) {
      if (key !== this.#key) return;
      this.#log.warn("the authority's key signs by itself, slower: another signer did not take the key", { error });
    }
  }

  #failed(error: unknown, signer: Signer): void {
    if (this.#signer !== signer) return;
    this.#signer = undefined;
    signer.release();
    this.#log.warn("the authority's key signs by itself from now on, slower: another signer failed", { error });
  }
}
