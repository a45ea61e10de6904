/**
 * Private keys: generated, read from PEM, written as PKCS#8, and used for signatures.
 *
 * WebCrypto makes a signature outside the event loop's thread. Keys never appear in logs or on the console.
 *
 * @module
 */
import { createPrivateKey, createPublicKey } from "node:crypto";
import { NULL, objectId, sequence, unsignedInteger } from "./der_write.ts";
import { ObjectId } from "./object_ids.ts";
import { pemKind, readPem, writePem } from "./pem.ts";
import { PkiError } from "./pki_error.ts";
import { type KeySpec, keySpecOf, keySpecText } from "./public_key.ts";
import type { SigningKey } from "./signer.ts";

/** A private key with the public half. */
export class PrivateKey implements SigningKey {
  /** Algorithm and size. */
  readonly spec: KeySpec;
  /** The public half, as SubjectPublicKeyInfo. */
  readonly spki: Uint8Array;
  /** The AlgorithmIdentifier of the key's signatures, in DER: with SHA-256, on P-384 with SHA-384. */
  readonly signatureAlgorithm: Uint8Array;
  readonly #pkcs8: Uint8Array;
  readonly #key: CryptoKey;

  private constructor(spec: KeySpec, spki: Uint8Array, pkcs8: Uint8Array, key: CryptoKey) {
    this.spec = spec;
    this.spki = spki;
    this.#pkcs8 = pkcs8;
    this.#key = key;
    this.signatureAlgorithm = spec.type === "RSA"
      ? sequence(objectId(ObjectId.sha256WithRsa), NULL)
      : sequence(objectId(spec.curve === "P-256" ? ObjectId.ecdsaWithSha256 : ObjectId.ecdsaWithSha384));
  }

  /** A new key. */
  static async generate(spec: KeySpec): Promise<PrivateKey> {
    const { privateKey, publicKey } = await crypto.subtle.generateKey(generationOf(spec), true, ["sign", "verify"]);
    const [pkcs8, spki] = await Promise.all([
      crypto.subtle.exportKey("pkcs8", privateKey),
      crypto.subtle.exportKey("spki", publicKey),
    ]);
    return new PrivateKey(spec, new Uint8Array(spki), new Uint8Array(pkcs8), privateKey);
  }

  /**
   * The private key in a PEM text: PKCS#8, PKCS#1 (`RSA PRIVATE KEY`) or SEC1 (`EC PRIVATE KEY`). Other blocks, such as
   * EC parameters, may stand beside the key.
   *
   * @param what The name of the text in errors.
   * @throws {PkiError} unless the text holds exactly one key, unencrypted, of a supported algorithm and size.
   */
  static async read(pem: string, what = "private key"): Promise<PrivateKey> {
    const blocks = readPem(pem, what).filter(({ label }) => pemKind(label) === "private key");
    const [block] = blocks;
    if (block === undefined || blocks.length > 1) {
      throw new PkiError(`${what}: expected one private key in PEM, got ${blocks.length}`);
    }
    if (block.label === "ENCRYPTED PRIVATE KEY") {
      throw new PkiError(`${what}: expected a private key that is not encrypted`);
    }
    try {
      const key = createPrivateKey(writePem(block.label, block.der));
      const pkcs8 = new Uint8Array(key.export({ type: "pkcs8", format: "der" }));
      const spki = new Uint8Array(createPublicKey(key).export({ type: "spki", format: "der" }));
      const spec = keySpecOf(spki);
      return new PrivateKey(spec, spki, pkcs8, await importKey(spec, pkcs8));
    } catch (error) {
      throw new PkiError(`${what}: ${(error as Error).message}`);
    }
  }

  /** A copy of the key as PKCS#8 in DER. */
  der(): Uint8Array<ArrayBuffer> {
    return new Uint8Array(this.#pkcs8);
  }

  /** The key as PKCS#8 in PEM. */
  pem(): string {
    return writePem("PRIVATE KEY", this.#pkcs8);
  }

  /** The signature of bytes, in the form of certificates. */
  async sign(body: Uint8Array): Promise<Uint8Array> {
    const signature = new Uint8Array(await crypto.subtle.sign(signingOf(this.spec), this.#key, new Uint8Array(body)));
    return this.spec.type === "RSA" ? signature : ecdsaDer(signature);
  }

  /** The text in a log or in JSON, without the key. */
  toJSON(): string {
    return `${keySpecText(this.spec)} private key`;
  }

  /** The text on the console, without the key. */
  [Symbol.for("Deno.customInspect")](): string {
    return this.toJSON();
  }
}

function algorithmOf(spec: KeySpec): RsaHashedImportParams | EcKeyImportParams {
  return spec.type === "RSA"
    ? { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }
    : { name: "ECDSA", namedCurve: spec.curve };
}

function generationOf(spec: KeySpec): RsaHashedKeyGenParams | EcKeyGenParams {
  return spec.type === "RSA"
    ? {
      ...{ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
      ...{ modulusLength: spec.bits, publicExponent: Uint8Array.of(1, 0, 1) },
    }
    : { name: "ECDSA", namedCurve: spec.curve };
}

function importKey(spec: KeySpec, pkcs8: Uint8Array): Promise<CryptoKey> {
  return crypto.subtle.importKey("pkcs8", new Uint8Array(pkcs8), algorithmOf(spec), false, ["sign"]);
}

function signingOf(spec: KeySpec): { readonly name: string; readonly hash?: string } {
  if (spec.type === "RSA") return { name: "RSASSA-PKCS1-v1_5" };
  return { name: "ECDSA", hash: spec.curve === "P-256" ? "SHA-256" : "SHA-384" };
}

/** WebCrypto's two consecutive numbers as the SEQUENCE for certificates (RFC 3279, section 2.2.3). */
function ecdsaDer(pair: Uint8Array): Uint8Array {
  const half = pair.length / 2;
  return sequence(unsignedInteger(pair.subarray(0, half)), unsignedInteger(pair.subarray(half)));
}
