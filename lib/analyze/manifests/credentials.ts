/**
 * Secrets that gateways name: whether they have the keys that the TLS mode needs. Whether a secret exists is not judged: it is
 * seldom kept beside the configuration. What it holds is not looked at, only the names of its keys.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** Names of the keys of a certificate and of its private key, as they come in pairs. */
const PAIRS = [["tls.crt", "tls.key"], ["cert", "key"]] as const;

/** Names of the key of the authority's certificate. */
const AUTHORITIES = ["ca.crt", "cacert"] as const;

/** End of the name of a secret that has the authority's certificate alone. */
const AUTHORITY_SECRET = "-cacert";

/** See the module. */
export const GATEWAY_CREDENTIALS: Analyzer<"Gateway"> = {
  kind: "Gateway",
  reports: ["incomplete-credential"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    for (const [at, { tls }] of spec.servers.entries()) {
      const { credentialName = "", mode } = tls ?? {};
      if (credentialName === "") continue;
      const secret = secretOf(credentialName, namespace, read);
      if (secret === undefined) continue;
      const missing = missingKeys(secret, mode === "MUTUAL" || mode === "OPTIONAL_MUTUAL", credentialName, read);
      if (missing === undefined) continue;
      report("error", "incomplete-credential", {
        field: `spec.servers[${at}].tls.credentialName`,
        value: credentialName,
        expected: `a Secret with ${missing} (${secret.meta.namespace}/${secret.meta.name} has ${
          Object.keys(secret.spec.data).sort().join(", ") || "no key"
        })`,
        others: [secret.key],
      });
    }
  },
};

/** The secret of that name in the gateway's namespace; else the only one of that name: gateways' pods may run elsewhere. */
function secretOf(name: string, namespace: string, read: AnalysisReader): Fact<"Secret"> | undefined {
  const own = read.fact("Secret", namespace, name);
  if (own !== undefined) return own;
  const [one, ...more] = read.facts("Secret").filter(({ meta }) => meta.name === name);
  return more.length === 0 ? one : undefined;
}

/** The keys that a secret lacks; undefined: none. */
function missingKeys(
  { spec: { data }, meta: { namespace } }: Fact<"Secret">,
  needsAuthority: boolean,
  name: string,
  read: AnalysisReader,
): string | undefined {
  const has = (key: string) => Object.hasOwn(data, key);
  if (!PAIRS.some((pair) => pair.every(has))) {
    const begun = PAIRS.find((pair) => pair.some(has)) ?? PAIRS[0];
    return begun.filter((key) => !has(key)).join(" and ");
  }
  if (!needsAuthority || AUTHORITIES.some(has)) return undefined;
  const apart = read.fact("Secret", namespace, `${name}${AUTHORITY_SECRET}`)?.spec.data ?? {};
  return AUTHORITIES.some((key) => Object.hasOwn(apart, key)) ? undefined : AUTHORITIES[0];
}
