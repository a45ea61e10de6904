/**
 * Certificates in a running Envoy.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { envoyPage } from "../../../scripts/demo/identity_mesh.ts";

/** Serial numbers in an Envoy, in hexadecimal digits without leading zeros. */
export interface EnvoySerials {
  /** Of the Envoy's certificate. Empty: there is none. */
  readonly own: string;
  readonly roots: readonly string[];
}

/** The serial numbers, by the Envoy's admin page. */
export async function envoySerials(admin: number): Promise<EnvoySerials> {
  const { certificates } = JSON.parse(await envoyPage(admin, "certs")) as {
    certificates: readonly Record<"ca_cert" | "cert_chain", readonly { readonly serial_number: string }[]>[];
  };
  const of = (part: "ca_cert" | "cert_chain") =>
    certificates.flatMap((one) => one[part].map(({ serial_number }) => shortSerial(serial_number)));
  return { own: of("cert_chain")[0] ?? "", roots: [...new Set(of("ca_cert"))] };
}

/** A serial number without leading zeros. */
export function shortSerial(serial: string): string {
  return serial.toLowerCase().replace(/^0+/, "");
}
