/**
 * The signers that there are, and OpenSSL's functions counted or failing.
 *
 * Permissions: ffi (`OPENSSL_PATHS`).
 *
 * @module
 */
import { openOpenssl, type OpensslFunctions } from "../../../lib/pki/openssl/library.ts";
import { opensslSigner } from "../../../lib/pki/openssl/signer.ts";
import type { PrivateKey } from "../../../lib/pki/private_key.ts";
import type { Signer } from "../../../lib/pki/signer.ts";

const opened = openOpenssl();

/** OpenSSL's functions; undefined: this machine has no release 3 of it. */
export const openssl: OpensslFunctions | undefined = "reason" in opened ? undefined : opened.functions;

/** Who signs for a key, by name. */
export const SIGNERS: Readonly<Record<string, (key: PrivateKey) => Promise<Signer>>> = {
  WebCrypto: (key) =>
    Promise.resolve({
      signatureAlgorithm: key.signatureAlgorithm,
      sign: (body) => key.sign(body),
      release: () => {},
    }),
  ...openssl !== undefined && { OpenSSL: (key: PrivateKey) => opensslSigner(openssl!, key) },
};

/** What has been made and not freed. */
export interface Held {
  keys: number;
  contexts: number;
  readers: number;
}

/** The functions, with what they hand out counted. */
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

/** The functions, with the public keys and numbers that are not freed, and how often a signature was judged. */
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
      // The key has them from then on.
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
