/**
 * The authorities that this machine trusts, from the file where its system keeps them. (The runtime's own list takes a
 * permission, and has none that were added to the machine.)
 *
 * Permissions: read (the files).
 *
 * @module
 */
import { readRegularText } from "../../kernel/files/regular.ts";

/** Where systems keep them: Debian, Fedora, SUSE, Alpine. */
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
 * @param named file that is read instead, the variable `SSL_CERT_FILE`; empty: none
 * @throws Error naming the files when none is there
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
