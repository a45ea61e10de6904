/**
 * The TLS versions and cipher suites that a server accepts.
 *
 * Deno 2.8.3 can limit a listener's versions, but not the suites (`ciphers` is accepted and has no effect): it picks
 * the first known suite of the client's list. So a connection with an unwanted suite ends after the handshake, and
 * versions without a wanted suite are not offered (docs/decisions/0025).
 *
 * @module
 */

export type TlsVersion = "TLSv1.2" | "TLSv1.3";

export interface TlsPolicy {
  readonly minVersion: TlsVersion;
  readonly maxVersion: TlsVersion;
  /** Names from the TLS registry, e.g. `TLS_AES_128_GCM_SHA256`; undefined: the suites of the runtime. */
  readonly cipherSuites?: ReadonlySet<string>;
}

/** The suites of the runtime, by version. */
export const RUNTIME_SUITES: Readonly<Record<TlsVersion, readonly string[]>> = {
  "TLSv1.2": [
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256",
  ],
  "TLSv1.3": ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"],
};

/** TLS 1.2 and 1.3 with all suites of the runtime. */
export const DEFAULT_TLS_POLICY: TlsPolicy = { minVersion: "TLSv1.2", maxVersion: "TLSv1.3" };

/** `COMPLIANCE_POLICY=fips-140-2`: TLS 1.2 with the four suites of ephemeral keys and AES-GCM. */
export const FIPS_TLS_POLICY: TlsPolicy = {
  minVersion: "TLSv1.2",
  maxVersion: "TLSv1.2",
  cipherSuites: new Set(RUNTIME_SUITES["TLSv1.2"].filter((suite) => suite.includes("_GCM_"))),
};

/**
 * The policy with exactly the named suites. Without names: the default policy.
 *
 * @throws TypeError when the runtime has none of the suites
 */
export function policyOfSuites(names: readonly string[]): TlsPolicy {
  if (names.length === 0) return DEFAULT_TLS_POLICY;
  const versions = (["TLSv1.2", "TLSv1.3"] as const).filter((version) =>
    RUNTIME_SUITES[version].some((suite) => names.includes(suite))
  );
  const [minVersion, maxVersion = minVersion] = versions;
  if (minVersion === undefined || maxVersion === undefined) {
    const all = Object.values(RUNTIME_SUITES).flat().join(", ");
    throw new TypeError(`got ${names.join(", ")}, expected one at least that this runtime has: ${all}`);
  }
  return { minVersion, maxVersion, cipherSuites: new Set(names) };
}

/** The names of suites that the runtime lacks. */
export function suitesNotThere(names: readonly string[]): string[] {
  const all = new Set(Object.values(RUNTIME_SUITES).flat());
  return names.filter((name) => !all.has(name));
}
