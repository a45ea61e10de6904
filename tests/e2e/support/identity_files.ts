/**
 * Certificates in files, for proxies without an agent.
 *
 * Permissions: write (the given folder).
 *
 * @module
 */
import type { Certificate } from "../../certificates.ts";

/** Writes the files of an identity into a folder. Returns the metadata with the file names, for either side. */
export async function writeIdentity(
  folder: string,
  name: string,
  { certificate, key }: Certificate,
  root: string,
): Promise<(side: "CLIENT" | "SERVER") => Record<string, string>> {
  await Deno.mkdir(`${folder}/${name}`);
  await Deno.writeTextFile(`${folder}/${name}/cert.pem`, certificate);
  await Deno.writeTextFile(`${folder}/${name}/key.pem`, key);
  await Deno.writeTextFile(`${folder}/${name}/root.pem`, root);
  return (side) => ({
    [`TLS_${side}_CERT_CHAIN`]: `${folder}/${name}/cert.pem`,
    [`TLS_${side}_KEY`]: `${folder}/${name}/key.pem`,
    [`TLS_${side}_ROOT_CERT`]: `${folder}/${name}/root.pem`,
  });
}
