/**
 * Signatures by OpenSSL: an RSA signature takes a quarter of WebCrypto's time, and a signature on P-256 takes a tenth.
 *
 * Threads of the runtime make the signatures, except on P-256 (`./quick_signer.ts`).
 *
 * Permissions: ffi, by `./library.ts`.
 *
 * @module
 */
import { ObjectId } from "../object_ids.ts";
import { PkiError } from "../pki_error.ts";
import type { PrivateKey } from "../private_key.ts";
import { type KeySpec, keySpecText } from "../public_key.ts";
import { isSignedBy } from "../signed.ts";
import type { Signer } from "../signer.ts";
import { lastError, type OpensslFunctions } from "./library.ts";
import { QuickSigner } from "./quick_signer.ts";

/** Bytes of the longest signature on P-384, the longest curve in use. */
const MOST_ECDSA = 104;

/**
 * Gives a key to OpenSSL, and verifies a first signature with WebCrypto.
 *
 * @throws {PkiError} when OpenSSL does not accept the key, or the signature is wrong.
 */
export async function opensslSigner(functions: OpensslFunctions, key: PrivateKey): Promise<Signer> {
  const isQuick = algorithmOf(key.spec) === ObjectId.ecdsaWithSha256;
  const signer = isQuick ? new QuickSigner(functions, readKey(functions, key), key) : new ThreadSigner(functions, key);
  try {
    const body = crypto.getRandomValues(new Uint8Array(32));
    const signature = await signer.sign(body);
    if (await isSignedBy({ body, signature, signatureAlgorithm: algorithmOf(key.spec) }, key.spki)) return signer;
    throw new PkiError(`OpenSSL: expected a signature by the ${keySpecText(key.spec)} key, got another`);
  } catch (error) {
    signer.release();
    throw error;
  }
}

/** A signature under way. OpenSSL works on the buffers in another thread, so the buffers have to live until the end. */
interface Job {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly signature: Uint8Array<ArrayBuffer>;
  readonly length: BigUint64Array<ArrayBuffer>;
}

/** Signs on threads of the runtime. */
class ThreadSigner implements Signer {
  readonly signatureAlgorithm: Uint8Array;
  readonly #functions: OpensslFunctions;
  readonly #hash: Deno.PointerValue;
  /** Bytes of the longest signature. */
  readonly #most: number;
  readonly #jobs = new Set<Job>();
  /** Null after the key is freed. */
  #key: Deno.PointerValue;
  #isReleased = false;

  constructor(functions: OpensslFunctions, key: PrivateKey) {
    this.#functions = functions;
    this.signatureAlgorithm = key.signatureAlgorithm;
    this.#hash = algorithmOf(key.spec) === ObjectId.ecdsaWithSha384 ? functions.EVP_sha384() : functions.EVP_sha256();
    this.#most = key.spec.type === "RSA" ? Math.ceil(key.spec.bits / 8) : MOST_ECDSA;
    this.#key = readKey(functions, key);
  }

  async sign(body: Uint8Array): Promise<Uint8Array> {
    if (this.#isReleased) throw new PkiError("OpenSSL: expected a key, got one that was given back");
    // A copy, so that no caller changes the bytes during the work.
    const job: Job = {
      body: new Uint8Array(body),
      signature: new Uint8Array(this.#most),
      length: new BigUint64Array(1),
    };
    this.#jobs.add(job);
    try {
      return await this.#signElsewhere(job) === 1 ? signatureOf(job) : this.#signHere(job);
    } finally {
      this.#jobs.delete(job);
      this.#freeWhenDone();
    }
  }

  release(): void {
    this.#isReleased = true;
    this.#freeWhenDone();
  }

  async #signElsewhere({ body, signature, length }: Job): Promise<number> {
    const context = this.#begin();
    try {
      length[0] = BigInt(signature.length);
      const size = BigInt(body.length);
      return await this.#functions.EVP_DigestSign(context, signature, length, body, size);
    } finally {
      this.#functions.EVP_MD_CTX_free(context);
    }
  }

  /** Signs again on this thread, because the reason of a failure on another thread cannot be read. */
  #signHere(job: Job): Uint8Array {
    const { body, signature, length } = job;
    const context = this.#begin();
    try {
      length[0] = BigInt(signature.length);
      const size = BigInt(body.length);
      if (this.#functions.digestSignHere(context, signature, length, body, size) === 1) return signatureOf(job);
      throw new PkiError(`OpenSSL: expected a signature: ${lastError(this.#functions)}`);
    } finally {
      this.#functions.EVP_MD_CTX_free(context);
    }
  }

  /** A context for a signature. */
  #begin(): Deno.PointerValue {
    const context = this.#functions.EVP_MD_CTX_new();
    if (context === null) throw new PkiError(`OpenSSL: expected a context: ${lastError(this.#functions)}`);
    if (this.#functions.EVP_DigestSignInit(context, null, this.#hash, null, this.#key) === 1) return context;
    this.#functions.EVP_MD_CTX_free(context);
    throw new PkiError(`OpenSSL: expected a key that signs: ${lastError(this.#functions)}`);
  }

  #freeWhenDone(): void {
    if (!this.#isReleased || this.#jobs.size > 0 || this.#key === null) return;
    this.#functions.EVP_PKEY_free(this.#key);
    this.#key = null;
  }
}

function signatureOf({ signature, length }: Job): Uint8Array {
  return signature.subarray(0, Number(length[0]));
}

/** OpenSSL's copy of a key. */
function readKey(functions: OpensslFunctions, key: PrivateKey): Deno.PointerValue {
  const der = key.der();
  const reader = functions.BIO_new_mem_buf(der, der.length);
  try {
    const read = reader === null ? null : functions.d2i_PrivateKey_bio(reader, null);
    if (read !== null) return read;
    throw new PkiError(`OpenSSL: expected a private key: ${lastError(functions)}`);
  } finally {
    if (reader !== null) functions.BIO_free(reader);
    der.fill(0);
  }
}

/** The algorithm of a key's signatures. */
function algorithmOf(spec: KeySpec): string {
  if (spec.type === "RSA") return ObjectId.sha256WithRsa;
  return spec.curve === "P-256" ? ObjectId.ecdsaWithSha256 : ObjectId.ecdsaWithSha384;
}
