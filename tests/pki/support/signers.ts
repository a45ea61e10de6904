/**
 * All signers, and OpenSSL's functions with counts or failures.
 *
 * Permissions: ffi (`OPENSSL_PATHS`).
 * @module
 */
import { openOpenssl, type OpensslFunctions } from "../../../lib/pki/openssl/library.ts";
import { opensslSigner } from "../../../lib/pki/openssl/signer.ts";
import type { PrivateKey } from "../../../lib/pki/private_key.ts";
import type { Signer } from "../../../lib/pki/signer.ts";

const opened = openOpenssl();

/** OpenSSL's functions; undefined: this machine lacks OpenSSL 3. */
export const openssl: OpensslFunctions | undefined = "reason" in opened ? undefined : opened.functions;

/** Signers of a key, by name. */
export const SIGNERS: Readonly<Record<string, (key: PrivateKey) => Promise<Signer>>> = {
  WebCrypto: (key) =>
    Promise.resolve({
      signatureAlgorithm: key.signatureAlgorithm,
      sign: (body) => key.sign(body),
      release: () => {},
    }),
  ...openssl !== undefined && { OpenSSL: (key: PrivateKey) => opensslSigner(openssl!, key) },
};

/** Made and not freed objects. */
export interface Held {
  keys: number;
  contexts: number;
  readers: number;
}

/** The functions, with counts of held objects. */
export function counted(functions: OpensslFunctions): { readonly functions: OpensslFunctions; readonly held: Held } {
  const held: Held = { keys: 0, contexts: 0, readers: 0 };
  const made = (kind: keyof Held, pointer: Deno.PointerValue) => {
    if (pointer !== null) held[kind]++;
    return pointer;
  };
  return {
    held,
    functions: {
      ...functions,
      BIO_new_mem_buf: (bytes, length) => made("readers", functions.BIO_new_mem_buf(bytes, length)),
      BIO_free: (pointer) => {
        held.readers--;
        return functions.BIO_free(pointer);
      },
      d2i_PrivateKey_bio: (reader, at) => made("keys", functions.d2i_PrivateKey_bio(reader, at)),
      EVP_PKEY_free: (pointer) => {
        held.keys--;
        functions.EVP_PKEY_free(pointer);
      },
      EVP_PKEY_CTX_new: (key, engine) => made("contexts", functions.EVP_PKEY_CTX_new(key, engine)),
      EVP_PKEY_CTX_free: (pointer) => {
        held.contexts--;
        functions.EVP_PKEY_CTX_free(pointer);
      },
      EVP_MD_CTX_new: () => made("contexts", functions.EVP_MD_CTX_new()),
      EVP_MD_CTX_free: (pointer) => {
        held.contexts--;
        functions.EVP_MD_CTX_free(pointer);
      },
    },
  };
}

/** The functions, with counts of held public keys and numbers, and of judged signatures. */
export function countedKeys(functions: OpensslFunctions) {
  const held = { keys: 0, numbers: 0 };
  const calls = { verdicts: 0 };
  const made = (kind: keyof typeof held, pointer: Deno.PointerValue) => {
    if (pointer !== null) held[kind]++;
    return pointer;
  };
  const counting: OpensslFunctions = {
    ...functions,
    EC_KEY_new_by_curve_name: (curve) => made("keys", functions.EC_KEY_new_by_curve_name(curve)),
    EC_KEY_free: (pointer) => {
      if (pointer !== null) held.keys--;
      functions.EC_KEY_free(pointer);
    },
    RSA_new: () => made("keys", functions.RSA_new()),
    RSA_free: (pointer) => {
      if (pointer !== null) held.keys--;
      functions.RSA_free(pointer);
    },
    BN_bin2bn: (bytes, length, into) => made("numbers", functions.BN_bin2bn(bytes, length, into)),
    BN_free: (pointer) => {
      if (pointer !== null) held.numbers--;
      functions.BN_free(pointer);
    },
    RSA_set0_key: (key, n, e, d) => {
      const status = functions.RSA_set0_key(key, n, e, d);
      // From then on the key owns the numbers.
      if (status === 1) held.numbers -= 2;
      return status;
    },
    ECDSA_verify: (...args) => {
      calls.verdicts++;
      return functions.ECDSA_verify(...args);
    },
    RSA_verify: (...args) => {
      calls.verdicts++;
      return functions.RSA_verify(...args);
    },
  };
  return { functions: counting, held, calls };
}
