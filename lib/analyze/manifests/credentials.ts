/**
 * Secrets that gateways and destination rules name: whether they are there, have the keys that the TLS mode needs, and can
 * be used as proxies use them. Gateways of a remote cluster have the secrets of that cluster before others, so each is
 * looked at. A secret that is missing is found where others of its namespace are known: many are kept elsewhere.
 *
 * @module
 */
import type { Fact } from "../../config/facts/types.ts";
import type { ClientTlsSettings, ServerTlsSettings } from "../../config/kinds/kinds.ts";
import { CIPHER_SUITES } from "../../config/validation/tls.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { type CredentialFault, keyTypeOf, pairFault, trustFault } from "./credential_faults.ts";
import { authoritySecretOf, clusterSecrets, secretName, secretOf, type SecretsView } from "./secrets_view.ts";

/** A name of a credential, and what it is to have. */
interface NamedCredential {
  readonly name: string;
  /** Path of the name. */
  readonly field: string;
  readonly needsPair: boolean;
  readonly needsAuthorities: boolean;
  /** Proxies of this namespace read it; false: gateways, which may be in any. */
  readonly isOfNamespace: boolean;
}

/** Those of gateways. */
export const GATEWAY_CREDENTIALS: Analyzer<"Gateway"> = {
  kind: "Gateway",
  reports: ["incomplete-credential", "unusable-credential", "missing-credential", "suites-without-certificate"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    for (const [at, { tls }] of spec.servers.entries()) {
      if (tls === undefined) continue;
      for (const named of serverCredentials(tls, `spec.servers[${at}].tls`)) {
        judge(named, namespace, read, report);
      }
      judgeSuites(tls, { namespace, at: `spec.servers[${at}].tls` }, read, report);
    }
  },
};

/** Suites of TLS 1.2 and older are of one sort of key each: where no certificate has it no handshake ends well. */
function judgeSuites(
  tls: ServerTlsSettings,
  { namespace, at }: { readonly namespace: string; readonly at: string },
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const suites = (tls.cipherSuites ?? []).flatMap((suite) => suite.replaceAll(/[[\]]/g, "").split("|"));
  if (tls.maxProtocolVersion === "TLS_AUTO" || tls.maxProtocolVersion === "TLSV1_3" || suites.length === 0) return;
  if (!suites.every((suite) => CIPHER_SUITES.has(suite))) return;
  const sorts = new Set(suites.map((suite) => suite.includes("-ECDSA-") ? "ec" : "rsa"));
  const found = serverCredentials(tls, at).map(({ name }) => {
    const wanted = secretName(name, namespace);
    const secret = wanted && clusterSecrets(read).map((cluster) => secretOf(wanted, cluster)).find((one) => one);
    return secret && keyTypeOf(secret);
  });
  if (found.length === 0 || found.some((sort) => sort === undefined || sorts.has(sort))) return;
  const has = [...new Set(found)].map((sort) => sort === "ec" ? "ECDSA" : "RSA").join(" and ");
  report("warning", "suites-without-certificate", {
    ...{ field: `${at}.cipherSuites`, value: tls.cipherSuites },
    expected: `a suite for a key of the certificate, which is ${has}, or maxProtocolVersion TLSV1_3`,
  });
}

/** Those of destination rules. */
export const CLIENT_CREDENTIALS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: ["incomplete-credential", "unusable-credential", "missing-credential"],
  analyze: ({ meta: { namespace }, spec: { trafficPolicy, subsets = [], workloadSelector } }, read, report) => {
    const policies = [
      { policy: trafficPolicy, at: "spec.trafficPolicy" },
      ...subsets.map(({ trafficPolicy: policy }, i) => ({ policy, at: `spec.subsets[${i}].trafficPolicy` })),
    ];
    for (const { policy, at } of policies) {
      const settings = [
        { tls: policy?.tls, field: `${at}.tls` },
        ...(policy?.portLevelSettings ?? []).map(({ tls }, i) => ({ tls, field: `${at}.portLevelSettings[${i}].tls` })),
      ];
      for (const { tls, field } of settings) {
        const named = clientCredential(tls, field, workloadSelector !== undefined);
        if (named !== undefined) judge(named, namespace, read, report);
      }
    }
  },
};

/** Envoy takes the authorities of the first name, however many certificates there are. */
function serverCredentials(tls: ServerTlsSettings, at: string): NamedCredential[] {
  const verifies = tls.mode === "MUTUAL" || tls.mode === "OPTIONAL_MUTUAL";
  const of = (name: string, field: string, isFirst: boolean): NamedCredential => ({
    ...{ name, field: `${at}.${field}`, needsPair: true, needsAuthorities: verifies && isFirst, isOfNamespace: false },
  });
  if (tls.credentialNames?.length) {
    return tls.credentialNames.map((name, i) => of(name, `credentialNames[${i}]`, i === 0));
  }
  return tls.credentialName ? [of(tls.credentialName, "credentialName", true)] : [];
}

function clientCredential(
  tls: ClientTlsSettings | undefined,
  at: string,
  isOfNamespace: boolean,
): NamedCredential | undefined {
  if (!tls?.credentialName || (tls.mode !== "SIMPLE" && tls.mode !== "MUTUAL")) return undefined;
  return {
    ...{ name: tls.credentialName, field: `${at}.credentialName`, isOfNamespace },
    ...{ needsPair: tls.mode === "MUTUAL", needsAuthorities: tls.insecureSkipVerify !== true },
  };
}

function judge(credential: NamedCredential, namespace: string, read: AnalysisReader, report: ReportMistake): void {
  const { name, field } = credential;
  const wanted = secretName(name, namespace);
  if (wanted === undefined) return;
  const clusters = clusterSecrets(read);
  let isThere = false;
  for (const cluster of clusters) {
    const pair = credential.needsPair ? secretOf(wanted, cluster) : undefined;
    const trust = credential.needsAuthorities ? authoritySecretOf(wanted, cluster) : undefined;
    isThere ||= pair !== undefined || trust !== undefined;
    const found = (pair && faultOf(pair, pairFault(pair, read))) ?? (trust && faultOf(trust, trustFault(trust, read)));
    if (found === undefined) continue;
    const { secret, fault } = found;
    report(fault.severity, fault.finding, {
      ...{ field, value: name, expected: expectation(secret, fault, cluster) },
      ...(cluster.of === "" ? { others: [secret.key] } : {}),
    });
  }
  if (isThere || !(credential.needsPair || credential.needsAuthorities)) return;
  const isKnown = read.facts("Secret").some(({ meta }) => meta.namespace === wanted.namespace);
  if (!isKnown) return;
  const where = credential.isOfNamespace
    ? `${wanted.namespace}/${wanted.name}`
    : `${wanted.namespace}/${wanted.name} or another one of that name`;
  report("warning", "missing-credential", { field, value: name, expected: `a Secret that is there (${where})` });
}

function faultOf(secret: Fact<"Secret">, fault: CredentialFault | undefined) {
  return fault && { secret, fault };
}

function expectation(
  { meta: { namespace, name } }: Fact<"Secret">,
  { finding, wanted, has }: CredentialFault,
  { of }: SecretsView,
): string {
  const full = `${namespace}/${name}${of}`;
  return `a Secret ${wanted} (${finding === "incomplete-credential" ? "" : "that of "}${full} ${has})`;
}
