/**
 * Secrets and ConfigMaps named by Gateways and DestinationRules: whether each exists, has the keys for the TLS mode,
 * and is usable for proxies.
 *
 * Gateways of a remote cluster prefer the secrets of their own cluster, so the secrets of every cluster are checked. In
 * files, a missing credential is reported only if other credentials of its namespace are known, because many are kept
 * elsewhere. A server sends only known credentials.
 *
 * @module
 */
import {
  askedCredentials,
  CONFIG_MAP,
  inNamespace,
  type NamedCredential,
  namedCredentials,
  neverHolds,
  serverCredentials,
} from "../../config/credentials/named.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { ServerTlsSettings } from "../../config/kinds/kinds.ts";
import { CIPHER_SUITES } from "../../config/validation/tls.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { type CredentialFault, keyTypeOf, pairFault, trustFault } from "./credential_faults.ts";
import { authoritySecretOf, clusterSecrets, secretName, secretOf, type WantedSecret } from "./secrets_view.ts";

const REPORTS = ["incomplete-credential", "unusable-credential", "missing-credential", "refused-credential"] as const;

export const GATEWAY_CREDENTIALS: Analyzer<"Gateway"> = {
  kind: "Gateway",
  reports: [...REPORTS, "suites-without-certificate"],
  analyze: (object, read, report) => {
    const { meta: { namespace }, spec } = object;
    for (const named of namedCredentials(object)) judge(named, namespace, read, report);
    for (const [at, { tls }] of spec.servers.entries()) {
      if (tls !== undefined) judgeSuites(tls, { namespace, at: `spec.servers[${at}].tls` }, read, report);
    }
  },
};

/**
 * Each suite of TLS 1.2 and older needs a certain type of key. If no certificate has the type, every handshake fails.
 */
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

/** Credentials of DestinationRules. */
export const CLIENT_CREDENTIALS: Analyzer<"DestinationRule"> = {
  kind: "DestinationRule",
  reports: REPORTS,
  analyze: (object, read, report) => {
    for (const named of namedCredentials(object)) judge(named, object.meta.namespace, read, report);
  },
};

/** A credential, and the namespace of the object that names the credential. */
interface JudgedCredential {
  readonly credential: NamedCredential;
  readonly namespace: string;
}

function judge(credential: NamedCredential, namespace: string, read: AnalysisReader, report: ReportMistake): void {
  if (credential.name.startsWith(CONFIG_MAP)) judgeConfigMap({ credential, namespace }, read, report);
  else judgeSecrets({ credential, namespace }, read, report);
}

function judgeConfigMap(
  { credential, namespace }: JudgedCredential,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const { name: value, field, needsPair, needsAuthorities } = credential;
  if (needsPair) {
    const never = askedCredentials(credential).map(neverHolds).find((why) => why !== undefined);
    report("error", "unusable-credential", { field, value, expected: `the name of a Secret (${never})` });
    return;
  }
  if (!needsAuthorities) return;
  const [home = "", name = ""] = inNamespace(value, namespace).slice(CONFIG_MAP.length).split("/");
  const found = read.fact("ConfigMap", home, name);
  if (found === undefined) return missing(credential, { kind: "ConfigMap", namespace: home, name }, read, report);
  const fault = trustFault(found, read);
  if (fault === undefined) return;
  report(fault.severity, fault.finding, { field, value, expected: expectation(found, fault, ""), others: [found.key] });
}

function judgeSecrets({ credential, namespace }: JudgedCredential, read: AnalysisReader, report: ReportMistake): void {
  const { name, field, needsPair, needsAuthorities, isOfNamespace } = credential;
  const wanted = secretName(name, namespace);
  if (wanted === undefined) return;
  let isThere = false;
  for (const cluster of clusterSecrets(read)) {
    const pair = needsPair ? secretOf(wanted, cluster, isOfNamespace) : undefined;
    const trust = needsAuthorities ? authoritySecretOf(wanted, cluster, isOfNamespace) : undefined;
    isThere ||= pair !== undefined || trust !== undefined;
    const found = (pair && faultOf(pair, pairFault(pair, read))) ?? (trust && faultOf(trust, trustFault(trust, read)));
    if (found === undefined) continue;
    const { secret, fault } = found;
    report(fault.severity, fault.finding, {
      ...{ field, value: name, expected: expectation(secret, fault, cluster.of) },
      ...(cluster.of === "" ? { others: [secret.key] } : {}),
    });
  }
  if (isThere || !(needsPair || needsAuthorities)) return;
  missing(credential, { kind: "Secret", ...wanted }, read, report);
}

/** Reports a missing object, or a refused object. */
function missing(
  { name: value, field, isOfNamespace }: NamedCredential,
  { kind, namespace, name }: WantedSecret & { readonly kind: "Secret" | "ConfigMap" },
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const key = `${kind}/${namespace}/${name}`;
  if (read.isRefused(kind, namespace, name)) {
    const expected = `a ${kind} that can be read (${namespace}/${name} is refused)`;
    report("error", "refused-credential", { field, value, expected, others: [key] });
    return;
  }
  const { served = false, whole = false } = read.settings;
  // The facts of a namespace are read last: with this read, every change in the namespace runs the analysis again.
  const tellsOfOthers = () => read.factsIn(kind, namespace).length > 0 || read.hasRefused(kind, namespace);
  const isKnown = served || whole || tellsOfOthers();
  if (!isKnown) return;
  const other = kind === "ConfigMap" || isOfNamespace ? "" : ", or a Secret of that name in another namespace";
  const expected = `a ${kind} that is there (${namespace}/${name}${other})`;
  report(served || whole ? "error" : "warning", "missing-credential", { field, value, expected });
}

function faultOf(secret: Fact<"Secret">, fault: CredentialFault | undefined) {
  return fault && { secret, fault };
}

function expectation(
  { kind, meta: { namespace, name } }: Fact<"Secret"> | Fact<"ConfigMap">,
  { wanted, key, has }: CredentialFault,
  of: string,
): string {
  const full = `${namespace}/${name}${of}`;
  return `a ${kind} ${wanted} (${key === undefined ? "" : `${key} of `}${full} ${has})`;
}
