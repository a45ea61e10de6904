/**
 * Opens the machine's libcrypto of OpenSSL 3 if the program has permission, and gives access to the library's
 * functions.
 *
 * The library's code runs outside the runtime's permissions, so the library parses no text from strangers. From a
 * stranger's key the library gets only numbers of known size (docs/decisions). The code here reads no memory through a
 * pointer: with a permission for a single path, the runtime refuses such reads.
 *
 * Permissions: ffi (the paths of `OPENSSL_PATHS`).
 *
 * @module
 */
import { errorMessage } from "../../kernel/text/error_message.ts";

/** Paths of the library: Debian on both processors, Fedora, others. The permission set has the same paths. */
export const OPENSSL_PATHS = [
  "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
  "/usr/lib/aarch64-linux-gnu/libcrypto.so.3",
  "/usr/lib64/libcrypto.so.3",
  "/usr/lib/libcrypto.so.3",
] as const;

/** The functions in use. OpenSSL's manual describes each function by name. */
const SYMBOLS = {
  OpenSSL_version_num: { parameters: [], result: "u64" },
  OPENSSL_init_crypto: { parameters: ["u64", "pointer"], result: "i32" },
  BIO_new_mem_buf: { parameters: ["buffer", "i32"], result: "pointer" },
  BIO_free: { parameters: ["pointer"], result: "i32" },
  d2i_PrivateKey_bio: { parameters: ["pointer", "pointer"], result: "pointer" },
  EVP_PKEY_free: { parameters: ["pointer"], result: "void" },
  EVP_sha256: { parameters: [], result: "pointer" },
  EVP_sha384: { parameters: [], result: "pointer" },
  EVP_Digest: { parameters: ["buffer", "usize", "buffer", "pointer", "pointer", "pointer"], result: "i32" },
  EVP_PKEY_CTX_new: { parameters: ["pointer", "pointer"], result: "pointer" },
  EVP_PKEY_CTX_free: { parameters: ["pointer"], result: "void" },
  EVP_PKEY_sign_init: { parameters: ["pointer"], result: "i32" },
  EVP_PKEY_sign: { parameters: ["pointer", "buffer", "buffer", "buffer", "usize"], result: "i32" },
  EVP_MD_CTX_new: { parameters: [], result: "pointer" },
  EVP_MD_CTX_free: { parameters: ["pointer"], result: "void" },
  EVP_DigestSignInit: { parameters: ["pointer", "pointer", "pointer", "pointer", "pointer"], result: "i32" },
  EVP_DigestSign: { parameters: ["pointer", "buffer", "buffer", "buffer", "usize"], result: "i32", nonblocking: true },
  /**
   * `EVP_DigestSign` on the calling thread. OpenSSL keeps errors per thread, so only errors of the calling thread can
   * be read.
   */
  digestSignHere: {
    name: "EVP_DigestSign",
    parameters: ["pointer", "buffer", "buffer", "buffer", "usize"],
    result: "i32",
  },
  EC_KEY_new_by_curve_name: { parameters: ["i32"], result: "pointer" },
  EC_KEY_oct2key: { parameters: ["pointer", "buffer", "usize", "pointer"], result: "i32" },
  EC_KEY_free: { parameters: ["pointer"], result: "void" },
  ECDSA_verify: { parameters: ["i32", "buffer", "i32", "buffer", "i32", "pointer"], result: "i32" },
  BN_bin2bn: { parameters: ["buffer", "i32", "pointer"], result: "pointer" },
  BN_free: { parameters: ["pointer"], result: "void" },
  RSA_new: { parameters: [], result: "pointer" },
  RSA_set0_key: { parameters: ["pointer", "pointer", "pointer", "pointer"], result: "i32" },
  RSA_free: { parameters: ["pointer"], result: "void" },
  RSA_verify: { parameters: ["i32", "buffer", "u32", "buffer", "u32", "pointer"], result: "i32" },
  ERR_get_error: { parameters: [], result: "u64" },
  ERR_error_string_n: { parameters: ["u64", "buffer", "usize"], result: "void" },
  ERR_clear_error: { parameters: [], result: "void" },
} as const;

/** The functions, callable. */
export type OpensslFunctions = Deno.DynamicLibrary<typeof SYMBOLS>["symbols"];

/** An opened library, never closed because threads of the runtime keep state in the library. */
export interface OpensslLibrary {
  readonly path: string;
  /** `3.0.19` */
  readonly version: string;
  readonly functions: OpensslFunctions;
}

/**
 * No configuration file, because a configuration may load foreign modules. No handler at exit, because threads may
 * still be at work.
 */
const INIT = { noConfiguration: 0x80n, noExitHandler: 0x80000n } as const;

/**
 * Opens the library, without a permission prompt.
 *
 * @returns The library, or the reason for the failure.
 */
export function openOpenssl(paths: readonly string[] = OPENSSL_PATHS): OpensslLibrary | { readonly reason: string } {
  const allowed = paths.filter((path) => Deno.permissions.querySync({ name: "ffi", path }).state === "granted");
  if (allowed.length === 0) return { reason: "the program has no permission to use it" };
  const reasons: string[] = [];
  for (const path of allowed) {
    try {
      return opened(path);
    } catch (error) {
      reasons.push(`${path}: ${errorMessage(error)}`);
    }
  }
  return { reason: reasons.join("; ") };
}

function opened(path: string): OpensslLibrary {
  const { symbols: functions } = Deno.dlopen(path, SYMBOLS);
  const number = functions.OpenSSL_version_num();
  const [major, minor, patch] = [number >> 28n, (number >> 20n) & 0xffn, (number >> 4n) & 0xffffn];
  const version = `${major}.${minor}.${patch}`;
  if (major !== 3n) throw new Error(`expected release 3, got ${version}`);
  if (functions.OPENSSL_init_crypto(INIT.noConfiguration | INIT.noExitHandler, null) !== 1) {
    throw new Error(`expected it to start: ${lastError(functions)}`);
  }
  return { path, version, functions };
}

/** Bytes of a SHA-256. */
const SHA256_LENGTH = 32;

/** The SHA-256 of bytes. Undefined when OpenSSL fails. */
export function sha256(functions: OpensslFunctions, bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const digest = new Uint8Array(SHA256_LENGTH);
  const made = functions.EVP_Digest(unshared(bytes), BigInt(bytes.length), digest, null, functions.EVP_sha256(), null);
  return made === 1 ? digest : undefined;
}

/** The same bytes under the type for calls on this thread. No memory here is shared with other threads. */
export function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}

/** The first error of this thread in OpenSSL's words. Further errors are cleared. */
export function lastError(functions: OpensslFunctions): string {
  const code = functions.ERR_get_error();
  functions.ERR_clear_error();
  if (code === 0n) return "it reported no error";
  const text = new Uint8Array(new ArrayBuffer(256));
  functions.ERR_error_string_n(code, text, BigInt(text.length));
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0)));
}
