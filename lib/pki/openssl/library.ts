/**
 * The libcrypto of OpenSSL 3 that this machine has: opened where the program may use it, its functions as they are.
 *
 * Its code is outside the runtime's permissions, so it reads no text of a stranger: of a stranger's key it gets the numbers,
 * whose sizes are known (docs/decisions). Nothing here reads memory through a pointer: with a permission for a path
 * alone, the runtime refuses that.
 *
 * Permissions: ffi (the paths of `OPENSSL_PATHS`).
 *
 * @module
 */

/** Where distributions put it: Debian on both processors, Fedora, others. The permission set names the same. */
export const OPENSSL_PATHS = [
  "/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
  "/usr/lib/aarch64-linux-gnu/libcrypto.so.3",
  "/usr/lib64/libcrypto.so.3",
  "/usr/lib/libcrypto.so.3",
] as const;

/** Its functions that are called: the manual of OpenSSL has each by its name. */
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
  /** The same on this thread, whose errors can be read, as OpenSSL keeps those of each thread apart. */
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

/** An opened library. It is never closed: threads of the runtime keep state in it. */
export interface OpensslLibrary {
  readonly path: string;
  /** `3.0.19` */
  readonly version: string;
  readonly functions: OpensslFunctions;
}

/** No configuration file, which may load modules of others; nothing at exit, while threads may still be at work. */
const INIT = { noConfiguration: 0x80n, noExitHandler: 0x80000n } as const;

/**
 * Opens the library. Nobody is prompted.
 *
 * @returns it, or why there is none
 */
export function openOpenssl(paths: readonly string[] = OPENSSL_PATHS): OpensslLibrary | { readonly reason: string } {
  const allowed = paths.filter((path) => Deno.permissions.querySync({ name: "ffi", path }).state === "granted");
  if (allowed.length === 0) return { reason: "the program has no permission to use it" };
  const reasons: string[] = [];
  for (const path of allowed) {
    try {
      return opened(path);
    } catch (error) {
      reasons.push(`${path}: ${error instanceof Error ? error.message : String(error)}`);
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

/** The SHA-256 of some bytes; undefined: OpenSSL made none. */
export function sha256(functions: OpensslFunctions, bytes: Uint8Array): Uint8Array<ArrayBuffer> | undefined {
  const digest = new Uint8Array(SHA256_LENGTH);
  const made = functions.EVP_Digest(unshared(bytes), BigInt(bytes.length), digest, null, functions.EVP_sha256(), null);
  return made === 1 ? digest : undefined;
}

/** The same bytes by the type that calls on this thread take: nothing here shares memory with other threads. */
export function unshared(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return bytes as Uint8Array<ArrayBuffer>;
}

/** The first error of this thread in OpenSSL's words; the others are forgotten. */
export function lastError(functions: OpensslFunctions): string {
  const code = functions.ERR_get_error();
  functions.ERR_clear_error();
  if (code === 0n) return "it reported no error";
  const text = new Uint8Array(new ArrayBuffer(256));
  functions.ERR_error_string_n(code, text, BigInt(text.length));
  return new TextDecoder().decode(text.subarray(0, text.indexOf(0)));
}
