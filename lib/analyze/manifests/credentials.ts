/**
 * Secrets that gateways name: whether they have the keys that the TLS mode needs, and whether certificate and key can be
 * used. Whether a secret exists is not judged: it is seldom kept beside the configuration. Gateways of a remote cluster
 * have the secrets of that cluster before others, so each is looked at.
 *
 * @module
 */
import { type CredentialVerdict, judgeCredential } from "../../config/facts/credential.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { ServerTlsSettings } from "../../config/kinds/kinds.ts";
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
  reports: ["incomplete-credential", "unusable-credential"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    for (const [at, { tls }] of spec.servers.entries()) {
      if (tls === undefined) continue;
      const needsAuthority = tls.mode === "MUTUAL" || tls.mode === "OPTIONAL_MUTUAL";
      for (const { name, field } of namesOf(tls)) {
        const place = { field: `spec.servers[${at}].tls.${field}`, value: name };
        for (const cluster of [ownSecrets(read), ...read.remote.clusters().map((id) => remoteSecrets(id, read))]) {
          const secret = secretOf(name, namespace, cluster);
          if (secret === undefined) continue;
          const mistake = mistakeOf(secret, { needsAuthority, name, cluster }, read);
          if (mistake === undefined) continue;
          const others = cluster.of === "" ? { others: [secret.key] } : {};
          report("error", mistake.finding, { ...place, ...others, expected: mistake.expected });
        }
      }
    }
  },
};

/** The secrets of one cluster. */
interface ClusterSecretsView {
  /** The text that messages put behind the name of a secret; empty: the server's own cluster. */
  readonly of: string;
  readonly one: (namespace: string, name: string) => Fact<"Secret"> | undefined;
  readonly named: (name: string) => readonly Fact<"Secret">[];
}

function ownSecrets(read: AnalysisReader): ClusterSecretsView {
  return {
    of: "",
    one: (namespace, name) => read.fact("Secret", namespace, name),
    named: (name) => read.facts("Secret").filter(({ meta }) => meta.name === name),
  };
}

function remoteSecrets(cluster: string, read: AnalysisReader): ClusterSecretsView {
  return {
    of: ` of cluster ${cluster}`,
    one: (namespace, name) => read.remote.secret(cluster, namespace, name),
    named: (name) => read.remote.secrets(cluster, name),
  };
}

/** The demands on a secret. */
interface WantedCredential {
  readonly needsAuthority: boolean;
  /** As the gateway has it. */
  readonly name: string;
  readonly cluster: ClusterSecretsView;
}

function mistakeOf(
  secret: Fact<"Secret">,
  wanted: WantedCredential,
  read: AnalysisReader,
): { readonly finding: "incomplete-credential" | "unusable-credential"; readonly expected: string } | undefined {
  const full = `${secret.meta.namespace}/${secret.meta.name}${wanted.cluster.of}`;
  const missing = missingKeys(secret, wanted);
  if (missing !== undefined) {
    const has = Object.keys(secret.spec.data).sort().join(", ") || "no key";
    return { finding: "incomplete-credential", expected: `a Secret with ${missing} (${full} has ${has})` };
  }
  const wrong = whatIsWrong(secret, read);
  return wrong && { finding: "unusable-credential", expected: `a Secret ${wrong(full)}` };
}

function* namesOf(
  { credentialName = "", credentialNames = [] }: ServerTlsSettings,
): Iterable<{ readonly name: string; readonly field: string }> {
  if (credentialName !== "") yield { name: credentialName, field: "credentialName" };
  for (const [index, name] of credentialNames.entries()) yield { name, field: `credentialNames[${index}]` };
}

/** The secret of that name in the gateway's namespace; else the only one of that name: gateways' pods may run elsewhere. */
function secretOf(name: string, namespace: string, cluster: ClusterSecretsView): Fact<"Secret"> | undefined {
  const own = cluster.one(namespace, name);
  if (own !== undefined) return own;
  const [one, ...more] = cluster.named(name);
  return more.length === 0 ? one : undefined;
}

/** The keys that a secret lacks; undefined: none. */
function missingKeys(
  { spec: { data }, meta: { namespace } }: Fact<"Secret">,
  { needsAuthority, name, cluster }: WantedCredential,
): string | undefined {
  const has = (key: string) => Object.hasOwn(data, key);
  if (!PAIRS.some((pair) => pair.every(has))) {
    const begun = PAIRS.find((pair) => pair.some(has)) ?? PAIRS[0];
    return begun.filter((key) => !has(key)).join(" and ");
  }
  if (!needsAuthority || AUTHORITIES.some(has)) return undefined;
  const apart = cluster.one(namespace, `${name}${AUTHORITY_SECRET}`)?.spec.data ?? {};
  return AUTHORITIES.some((key) => Object.hasOwn(apart, key)) ? undefined : AUTHORITIES[0];
}

/** The expectation that a secret's certificate and key do not meet, given its name; undefined: they meet it, or may. */
function whatIsWrong(
  { spec: { data } }: Fact<"Secret">,
  read: AnalysisReader,
): ((secret: string) => string) | undefined {
  for (const [certificate, key] of PAIRS) {
    const [one, other] = [data[certificate], data[key]];
    if (one === undefined || other === undefined) continue;
    const verdict = judgeCredential(one, other);
    return verdict && sentenceOf(verdict, certificate, key, read);
  }
  return undefined;
}

function sentenceOf(
  verdict: CredentialVerdict,
  certificate: string,
  key: string,
  read: AnalysisReader,
): ((secret: string) => string) | undefined {
  switch (verdict.problem) {
    case "certificate":
      return (secret) => `whose ${certificate} is a certificate in PEM form (that of ${secret} is none)`;
    case "key":
      return (secret) => `whose ${key} is a private key in PEM form (that of ${secret} is none)`;
    case "pair":
      return (secret) => `whose ${key} is the key of ${certificate} (that of ${secret} is of another certificate)`;
    case undefined: {
      const { validFrom, validUntil } = verdict;
      const day = (instant: number) => new Date(instant).toISOString().slice(0, 10);
      const is = (when: string) => (secret: string) => `whose ${certificate} is valid now (that of ${secret} ${when})`;
      if (!read.hasCome(validFrom)) return is(`begins on ${day(validFrom)}`);
      // Valid until the end of its last second.
      return read.hasCome(validUntil + 1000) ? is(`ended on ${day(validUntil)}`) : undefined;
    }
  }
}
