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
      EVP_MD_CTX_new: () => made("contexts", functions.EVP_MD_CTX_new()),
      EVP_MD_CTX_free: (pointer) => {
        held.contexts--;
        functions.EVP_MD_CTX_free(pointer);
      },
    },
  };
}
