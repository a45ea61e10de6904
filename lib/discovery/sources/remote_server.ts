/**
 * Calls another control plane as a source of configuration.
 *
 * Permissions: read (the files of its TLS settings).
 *
 * @module
 */
import { hostAndPort } from "../../kernel/text/host.ts";
import { readRegularText } from "../../kernel/files/regular.ts";
import type { SourceAddress } from "../../config/mesh/config_sources.ts";
import type { ConfigSource } from "../../config/mesh/types.ts";
import type { DialTls } from "../../grpc/client/dial.ts";
import type { ServerCall } from "../../grpc/client/server_stream.ts";

/** Unsupported TLS settings: the field, and the expectation in its place. */
const REFUSED = [
  ["credentialName", "files: caCertificates, and of MUTUAL clientCertificate and privateKey"],
  ["insecureSkipVerify", "caCertificates, which verify the server"],
  ["caCrl", "none: revocation lists of sources are not read"],
] as const;

/** Faults of a source's TLS settings: field, value and expectation, one line each. */
export function sourceTlsProblems({ tlsSettings: tls }: ConfigSource): string[] {
  if (tls === undefined) return [];
  const problem = (field: string, value: unknown, expected: string) =>
    `tlsSettings.${field}: got ${JSON.stringify(value)}, expected ${expected}`;
  const modes: readonly string[] = ["DISABLE", "SIMPLE", "MUTUAL"];
  const problems = modes.includes(tls.mode) ? [] : [problem("mode", tls.mode, "DISABLE, SIMPLE or MUTUAL")];
  for (const [field, expected] of REFUSED) if (tls[field]) problems.push(problem(field, tls[field], expected));
  if (tls.mode !== "MUTUAL") return problems;
  for (const field of ["clientCertificate", "privateKey"] as const) {
    if (!tls[field]) problems.push(problem(field, tls[field] ?? "", "the path of a file, as the mode is MUTUAL"));
  }
  return problems;
}

/** Finds the server for each connection. TLS files are read each time, because certificates may be replaced. */
export function sourceServer(
  { host, port }: SourceAddress & { readonly kind: "control plane" },
  { tlsSettings }: ConfigSource,
): () => Promise<ServerCall> {
  const authority = hostAndPort(host, port);
  return async () => {
    const tls = tlsSettings === undefined || tlsSettings.mode === "DISABLE"
      ? undefined
      : await dialTls(host, tlsSettings);
    return { target: { host, port, ...(tls === undefined ? {} : { tls }) }, authority, metadata: {} };
  };
}

async function dialTls(host: string, settings: NonNullable<ConfigSource["tlsSettings"]>): Promise<DialTls> {
  const { sni, caCertificates, subjectAltNames = [], mode, clientCertificate = "", privateKey = "" } = settings;
  return {
    serverName: sni || host,
    ...(subjectAltNames.length === 0 ? {} : { names: subjectAltNames }),
    ...(caCertificates ? { roots: await pem(caCertificates) } : {}),
    ...(mode === "MUTUAL" ? { identity: { chain: await pem(clientCertificate), key: await pem(privateKey) } } : {}),
  };
}

/** The text of a file. A certificate in place of the path is returned unchanged. */
async function pem(pathOrText: string): Promise<string> {
  return pathOrText.includes("-----BEGIN ") ? pathOrText : await readRegularText(pathOrText);
}
