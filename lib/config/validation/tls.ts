/**
 * TLS settings of listening ports and of connections to destinations.
 *
 * @module
 */
import type { Findings } from "../../finding/findings.ts";
import type { ClientTlsSettings, ServerTlsSettings, TlsProtocol } from "../kinds/common/schema.ts";

/** The proxy's cipher suites by name (BoringSSL, without pre-shared keys). */
export const CIPHER_SUITES: ReadonlySet<string> = new Set([
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
  "ECDHE-ECDSA-AES128-SHA",
  "ECDHE-RSA-AES128-SHA",
  "ECDHE-ECDSA-AES256-SHA",
  "ECDHE-RSA-AES256-SHA",
  "AES128-GCM-SHA256",
  "AES256-GCM-SHA384",
  "AES128-SHA",
  "AES256-SHA",
  "DES-CBC3-SHA",
]);

/** Whether the proxy accepts this cipher suite: a name, `ALL`, or a group of equal preference (`[A|B]`). */
export function isCipherSuite(suite: string): boolean {
  const group = /^\[(.+)\]$/.exec(suite)?.[1];
  if (group !== undefined) return group.split("|").every((member) => CIPHER_SUITES.has(member));
  return suite === "" || suite === "ALL" || CIPHER_SUITES.has(suite);
}

/**
 * Whether a suite is an expression with an operator (`-ALL`, `!SHA1`, `+RSA`, `@STRENGTH`): a proxy refuses the whole
 * list.
 */
function isCipherOperator(suite: string): boolean {
  return /^[-!+@]/.test(suite);
}

const OWN_CERTIFICATE_FIELDS = [
  "serverCertificate",
  "privateKey",
  "caCertificates",
  "tlsCertificates",
  "credentialName",
  "credentialNames",
] as const;

/** Checks the TLS settings of a listening port. */
export function checkServerTls(tls: ServerTlsSettings | undefined, at: string, report: Findings): void {
  if (tls === undefined) return;
  checkProtocolAndCiphers(tls, at, report);
  checkClientChecks(tls, at, report);
  if (tls.mode === "MESH_MUTUAL") {
    for (const field of OWN_CERTIFICATE_FIELDS) {
      if (tls[field] !== undefined) {
        report.error(`${at}.${field}`, tls[field], "nothing: MESH_MUTUAL uses the mesh's own certificates");
      }
    }
    return;
  }
  if (tls.mode === "PASSTHROUGH" || tls.mode === "AUTO_PASSTHROUGH") {
    for (const field of [...OWN_CERTIFICATE_FIELDS, "caCrl"] as const) {
      if (tls[field] !== undefined) {
        report.warning(`${at}.${field}`, tls[field], `nothing: ${tls.mode} uses no certificates`);
      }
    }
  }
  checkCertificateSource(tls, at, report);
  if (tls.mode === "SIMPLE" || tls.mode === "MUTUAL" || tls.mode === "OPTIONAL_MUTUAL") {
    if (tls.credentialName === undefined && tls.credentialNames === undefined) checkCertificateFiles(tls, at, report);
  }
  if (tls.caCrl !== undefined) {
    if (tls.credentialName !== undefined) {
      report.error(`${at}.caCrl`, tls.caCrl, "the revocation list inside the credential");
    }
    if (tls.mode === "SIMPLE") {
      report.error(`${at}.caCrl`, tls.caCrl, "nothing: SIMPLE verifies no client certificates");
    }
  }
}

/** Fields that restrict clients. They have an effect only if clients show a certificate. */
const CLIENT_CHECKS = ["subjectAltNames", "verifyCertificateSpki", "verifyCertificateHash"] as const;

/** Whether a server ends TLS itself in a mode without certificates of clients, and yet asks for a check of clients. */
export function checksNobody(tls: ServerTlsSettings): boolean {
  return tls.mode === "SIMPLE" && CLIENT_CHECKS.some((field) => tls[field]?.length);
}

function checkClientChecks(tls: ServerTlsSettings, at: string, report: Findings): void {
  const { mode } = tls;
  if (mode !== "SIMPLE" && mode !== "PASSTHROUGH" && mode !== "AUTO_PASSTHROUGH") return;
  for (const field of CLIENT_CHECKS) {
    if (!tls[field]?.length) continue;
    const effect = mode === "SIMPLE" ? "; the server is closed, as nobody could be checked" : "";
    report.warning(
      `${at}.${field}`,
      tls[field],
      `nothing: ${mode} looks at no certificate of clients, MUTUAL does${effect}`,
    );
  }
  if (mode === "SIMPLE" && tls.caCertificates !== undefined) {
    report.warning(`${at}.caCertificates`, tls.caCertificates, "nothing: SIMPLE verifies no client certificates");
  }
}

/** Versions in order. TLS_AUTO is the proxy's choice: 1.2 at least for servers, 1.3 at most. */
const VERSIONS = ["TLSV1_0", "TLSV1_1", "TLSV1_2", "TLSV1_3"] as const;

function checkVersions(
  { minProtocolVersion, maxProtocolVersion }: ServerTlsSettings,
  at: string,
  report: Findings,
): void {
  const order = (version: TlsProtocol, auto: number) => version === "TLS_AUTO" ? auto : VERSIONS.indexOf(version);
  if (order(minProtocolVersion, 0) <= order(maxProtocolVersion, VERSIONS.length)) return;
  const most = `at most maxProtocolVersion, ${maxProtocolVersion}: there is no version left, and every handshake ends`;
  report.warning(`${at}.minProtocolVersion`, minProtocolVersion, most);
}

function checkProtocolAndCiphers(tls: ServerTlsSettings, at: string, report: Findings): void {
  checkVersions(tls, at, report);
  const old = tls.minProtocolVersion === "TLSV1_0" || tls.minProtocolVersion === "TLSV1_1";
  if (old && tls.cipherSuites === undefined) {
    report.warning(
      `${at}.minProtocolVersion`,
      tls.minProtocolVersion,
      "cipherSuites as well: the default ones do not work below TLSV1_2",
    );
  }
  const seen = new Set<string>();
  tls.cipherSuites?.forEach((suite, index) => {
    if (isCipherOperator(suite)) {
      report.error(`${at}.cipherSuites[${index}]`, suite, "a cipher suite (the proxy has no operators in this list)");
    } else if (!isCipherSuite(suite)) {
      report.warning(`${at}.cipherSuites[${index}]`, suite, "a known cipher suite (this one is ignored)");
    } else if (seen.has(suite)) {
      report.warning(`${at}.cipherSuites[${index}]`, suite, "no duplicates (this one is ignored)");
    }
    seen.add(suite);
  });
}

function checkCertificateSource(tls: ServerTlsSettings, at: string, report: Findings): void {
  const sources = [
    tls.serverCertificate !== undefined && tls.privateKey !== undefined && "serverCertificate with privateKey",
    tls.credentialName !== undefined && "credentialName",
    tls.credentialNames !== undefined && "credentialNames",
    tls.tlsCertificates !== undefined && "tlsCertificates",
  ].filter((source) => source !== false);
  if (sources.length > 1) {
    report.error(
      at,
      sources.join(" and "),
      "only one of credentialName, credentialNames, serverCertificate with privateKey, tlsCertificates",
    );
  }
}

function checkCertificateFiles(tls: ServerTlsSettings, at: string, report: Findings): void {
  if (tls.mode !== "SIMPLE" && tls.caCertificates === undefined) {
    report.error(`${at}.caCertificates`, undefined, `the authorities of client certificates (mode ${tls.mode})`);
  }
  if ((tls.tlsCertificates?.length ?? 0) > 2) {
    report.warning(`${at}.tlsCertificates`, tls.tlsCertificates?.length, "at most 2 certificates");
  }
  const certificates = tls.tlsCertificates ?? [tls];
  certificates.forEach((certificate, index) => {
    const where = tls.tlsCertificates === undefined ? at : `${at}.tlsCertificates[${index}]`;
    if (certificate.serverCertificate === undefined) {
      report.error(`${where}.serverCertificate`, undefined, `the path of a certificate (mode ${tls.mode})`);
    }
    if (certificate.privateKey === undefined) {
      report.error(`${where}.privateKey`, undefined, `the path of a private key (mode ${tls.mode})`);
    }
  });
}

const CONFIG_MAP = "configmap://";

/** Checks the TLS settings of connections to a destination. `namespace` is the object's; empty outside objects. */
export function checkClientTls(
  tls: ClientTlsSettings | undefined,
  namespace: string,
  at: string,
  report: Findings,
): void {
  if (tls === undefined) return;
  if (tls.credentialName?.startsWith(CONFIG_MAP)) {
    const parts = tls.credentialName.slice(CONFIG_MAP.length).split("/");
    const owner = parts.length > 1 ? parts[0] : namespace;
    if (parts.length > 2 || parts.some((part) => part === "") || owner !== namespace || namespace === "") {
      report.error(`${at}.credentialName`, tls.credentialName, `configmap://name in the own namespace (${namespace})`);
    }
  }
  if (tls.insecureSkipVerify === true) checkSkipVerify(tls, at, report);
  const fromSecret = (tls.mode === "SIMPLE" || tls.mode === "MUTUAL") && tls.credentialName !== undefined;
  if (fromSecret) {
    for (const field of ["clientCertificate", "caCertificates", "privateKey", "caCrl"] as const) {
      if (tls[field] !== undefined) report.error(`${at}.${field}`, tls[field], "nothing: credentialName is set");
    }
  } else if (tls.mode === "MUTUAL") {
    if (tls.clientCertificate === undefined) {
      report.error(`${at}.clientCertificate`, undefined, "the path of the client certificate (mode MUTUAL)");
    }
    if (tls.privateKey === undefined) {
      report.error(`${at}.privateKey`, undefined, "the path of the private key (mode MUTUAL)");
    }
  }
}

function checkSkipVerify(tls: ClientTlsSettings, at: string, report: Findings): void {
  const unused = tls.mode === "SIMPLE"
    ? ["caCertificates", "credentialName", "subjectAltNames"] as const
    : tls.mode === "MUTUAL"
    ? ["caCertificates", "subjectAltNames"] as const
    : [];
  for (const field of unused) {
    if (tls[field]?.length) {
      report.error(`${at}.${field}`, tls[field], "nothing: insecureSkipVerify verifies nothing");
    }
  }
}
