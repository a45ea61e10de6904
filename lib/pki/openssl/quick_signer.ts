/**
 * Signatures on P-256 by OpenSSL, made on the calling thread: a signature takes less time than the way to a thread and
 * back.
 *
 * OpenSSL looks up the functions for the key once, instead of for each signature. The look-up took a third of a
 * signature's time.
 *
 * Permissions: ffi, by `./library.ts`.
 *
 * @module
 */
import { PkiError } from "../pki_error.ts";
import type { PrivateKey } from "../private_key.ts";
import type { Signer } from "../signer.ts";
import { lastError, type OpensslFunctions, sha256 } from "./library.ts";

/** Bytes of the longest signature: two numbers of 33 bytes, and the heads of three elements. */
const MOST = 72;

export class QuickSigner implements Signer {
  readonly signatureAlgorithm: Uint8Array;
  readonly #functions: OpensslFunctions;
  readonly #signature = new Uint8Array(MOST);
  readonly #length = new BigUint64Array(1);
  /** Holds the key. Null after both are freed. */
  #context: Deno.PointerValue;

  /**
   * @param read The key in OpenSSL's memory. The signer owns the key.
   * @throws {PkiError} when the key cannot sign.
   */
  constructor(
    functions: OpensslFunctions,
    read: Deno.PointerValue,
    { signatureAlgorithm }: Pick<PrivateKey, "signatureAlgorithm">,
  ) {
    this.#functions = functions;
    this.signatureAlgorithm = signatureAlgorithm;
    this.#context = functions.EVP_PKEY_CTX_new(read, null);
    functions.EVP_PKEY_free(read);
    if (this.#context !== null && functions.EVP_PKEY_sign_init(this.#context) === 1) return;
    this.release();
    throw new PkiError(`OpenSSL: expected a key that signs: ${lastError(functions)}`);
  }

  sign(body: Uint8Array): Promise<Uint8Array> {
    return Promise.try(() => this.#sign(body));
  }

  release(): void {
    if (this.#context !== null) this.#functions.EVP_PKEY_CTX_free(this.#context);
    this.#context = null;
  }

  #sign(body: Uint8Array): Uint8Array {
    if (this.#context === null) throw new PkiError("OpenSSL: expected a key, got one that was given back");
    const functions = this.#functions;
    const digest = sha256(functions, body);
    this.#length[0] = BigInt(MOST);
    const isSigned = digest !== undefined &&
      functions.EVP_PKEY_sign(this.#context, this.#signature, this.#length, digest, BigInt(digest.length)) === 1;
    if (isSigned) return this.#signature.slice(0, Number(this.#length[0]));
    throw new PkiError(`OpenSSL: expected a signature: ${lastError(functions)}`);
  }
}
