/**
 * The authorities that this machine trusts, from the system's own file. (The runtime's list takes a permission, and
 * lacks authorities that were added to the machine.)
 *
 * Permissions: read (the files).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";

/** The file in each system: Debian, Fedora, SUSE, Alpine. */
const FILES = [
  "/etc/ssl/certs/ca-certificates.crt",
  "/etc/pki/tls/certs/ca-bundle.crt",
  "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
  "/etc/ssl/ca-bundle.pem",
  "/etc/ssl/cert.pem",
];

/**
 * The authorities as PEM, read anew each time.
 *
 * @param named path of another file, from the variable `SSL_CERT_FILE`; empty: none
 * @throws Error with the paths when no file is there
 */
export async function systemRoots(named: string): Promise<string> {
  const paths = named === "" ? FILES : [named];
  for (const path of paths) {
    const pem = await readRegularText(path).catch(() => undefined);
    if (pem !== undefined) return pem;
  }
  throw new Error(
    `this machine has no authorities to check a server's certificate with, expected ${paths.join(" or ")}`,
  );
}
