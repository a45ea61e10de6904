/**
 * Keys by which Envoy verifies tokens. Envoy refuses a whole listener because of one unreadable key, so the rules here
 * are Envoy's: Envoy accepts every key that passes.
 *
 * Sources: RFC 7517 and 7518, RFC 8037 (OKP), and Envoy's reader of key sets.
 *
 * @module
 */
import { withoutEnd } from "../../../kernel/text/edges.ts";

/** The public members of a key, each a text. */
export type UsableKey = Readonly<Record<string, string>>;

type WrittenKey = Readonly<Record<string, unknown>>;

/** The field and the constant of a curve y² = x³ - 3x + b (FIPS 186-4, D.1.2). */
interface Curve {
  readonly alg: string;
  readonly p: bigint;
  readonly b: bigint;
}

const CURVES: Readonly<Record<string, Curve>> = {
  "P-256": {
    alg: "ES256",
    p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
  },
  "P-384": {
    alg: "ES384",
    p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
  },
  "P-521": {
    alg: "ES512",
    p: 2n ** 521n - 1n,
    b: 0x051953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
  },
};

const RSA_ALGORITHMS: ReadonlySet<string> = new Set(["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"]);
const HMAC_ALGORITHMS: ReadonlySet<string> = new Set(["HS256", "HS384", "HS512"]);

/** Length of an RSA modulus, bits: shorter keys are broken, longer keys cost a proxy too much. */
const RSA_BITS = { least: 1024, most: 8192 };

/** The public part of a key for verifying tokens; undefined: a key for another use, or not accepted by Envoy. */
export function usableKey(key: WrittenKey): UsableKey | undefined {
  const { kty, kid, alg, use } = key;
  if (use !== undefined && use !== "sig") return undefined;
  if (alg !== undefined && typeof alg !== "string") return undefined;
  if (kid !== undefined && (typeof kid !== "string" || !kid.isWellFormed())) return undefined;
  const members = typeof kty === "string" && Object.hasOwn(READERS, kty) ? READERS[kty]?.(key, alg) : undefined;
  return members && {
    ...members,
    kty: kty as string,
    ...(kid === undefined ? {} : { kid }),
    ...(alg === undefined ? {} : { alg }),
  };
}

/** The members of each type of key; undefined: not a key. */
const READERS: Readonly<Record<string, (key: WrittenKey, alg: string | undefined) => UsableKey | undefined>> = {
  RSA: (key, alg) => {
    const [n, e] = [bytes(key["n"]), bytes(key["e"])];
    if (!n || !e || (alg !== undefined && !RSA_ALGORITHMS.has(alg))) return undefined;
    const modulus = numberOf(n);
    const bits = modulus.toString(2).length;
    const exponent = numberOf(e);
    const isUsual = exponent === 3n || exponent === 65537n;
    if (!isUsual || modulus % 2n === 0n || bits < RSA_BITS.least || bits > RSA_BITS.most) return undefined;
    return { n: text(n), e: text(e) };
  },
  EC: (key, alg) => {
    const [x, y] = [bytes(key["x"]), bytes(key["y"])];
    const crv = typeof key["crv"] === "string" ? key["crv"] : "";
    const curve = Object.hasOwn(CURVES, crv) ? CURVES[crv] : undefined;
    if (!x || !y || !curve || (alg !== undefined && alg !== curve.alg)) return undefined;
    return isOn(curve, numberOf(x), numberOf(y)) ? { crv, x: text(x), y: text(y) } : undefined;
  },
  OKP: (key, alg) => {
    const x = bytes(key["x"]);
    if (key["crv"] !== "Ed25519" || x?.length !== 32 || (alg !== undefined && alg !== "EdDSA")) return undefined;
    return { crv: "Ed25519", x: text(x) };
  },
  oct: (key, alg) => {
    const k = bytes(key["k"]);
    return k && (alg === undefined || HMAC_ALGORITHMS.has(alg)) ? { k: text(k) } : undefined;
  },
};

function isOn({ p, b }: Curve, x: bigint, y: bigint): boolean {
  return x < p && y < p && (y * y - (x * x * x - 3n * x + b)) % p === 0n;
}

/** The bytes of a text in base64url; undefined: not base64url, or empty. */
function bytes(value: unknown): Uint8Array | undefined {
  if (typeof value !== "string" || !/^[\w-]+={0,2}$/.test(value)) return undefined;
  try {
    return Uint8Array.fromBase64(withoutEnd(value, "="), { alphabet: "base64url" });
  } catch {
    return undefined; // No bytes have this length.
  }
}

function text(value: Uint8Array): string {
  return value.toBase64({ alphabet: "base64url", omitPadding: true });
}

function numberOf(value: Uint8Array): bigint {
  return BigInt(`0x${value.toHex()}`);
}
