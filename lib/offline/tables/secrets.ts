/**
 * The table of secrets: a row for each certificate.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { X509Certificate } from "node:crypto";
import { type Dump, type DumpedSecret, json, text } from "./dump.ts";
import type { DumpTable, TableRow } from "./table.ts";

/**
 * The table.
 * @param now Milliseconds since the epoch, for the column `VALID CERT`.
 */
export function secretTable({ secrets }: Dump, now: number): DumpTable {
  return {
    heading: ["RESOURCE NAME", "TYPE", "STATUS", "VALID CERT", "SERIAL NUMBER", "NOT AFTER", "NOT BEFORE"],
    rows: secrets.flatMap((one) => secretRows(one, now)),
  };
}

function secretRows({ state, secret }: DumpedSecret, now: number): TableRow[] {
  const { tls_certificate, validation_context } = secret;
  const [type, source] = tls_certificate !== undefined
    ? ["Cert Chain", json(tls_certificate).certificate_chain]
    : validation_context !== undefined
    ? ["CA", json(validation_context).trusted_ca]
    : ["", undefined];
  const name = text(secret.name);
  const row = (cells: readonly string[]): TableRow => ({
    cells: [name, type, state, ...cells],
    values: { name },
    resource: secret,
  });
  const certificates = certificatesIn(json(source));
  // A certificate in a file of the proxy is not in the dump.
  if (certificates.length === 0) return [row(["-", "-", "-", "-"])];
  // Of a chain the proxy's own certificate counts; of roots each of them.
  const shown = type === "CA" ? certificates : certificates.slice(0, 1);
  return shown.map(({ serialNumber, validFromDate, validToDate }) => {
    const isValid = validFromDate.getTime() <= now && now <= validToDate.getTime();
    return row([String(isValid), serialNumber.toLowerCase(), timeText(validToDate), timeText(validFromDate)]);
  });
}

function timeText(date: Date): string {
  return `${date.toISOString().slice(0, "2026-01-01T00:00:00".length)}Z`;
}

const BEGIN = "-----BEGIN CERTIFICATE-----";

function certificatesIn({ inline_bytes, inline_string }: { readonly [field: string]: unknown }): X509Certificate[] {
  const pem = inline_bytes === undefined ? text(inline_string) : Buffer.from(text(inline_bytes), "base64").toString();
  return pem.split(BEGIN).slice(1).flatMap((block) => {
    try {
      return [new X509Certificate(BEGIN + block)];
    } catch {
      // The table then says "-", as for a certificate that is not in the dump.
      return [];
    }
  });
}
