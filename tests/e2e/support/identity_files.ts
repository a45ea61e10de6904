/**
 * Certificates in files, as proxies without an agent have them.
 *
 * Permissions: write (the given folder).
 *
 * @module
 */
import type { Certificate } from "../../certificates.ts";

/** Writes the files of one identity into a folder; answers with the metadata that names them, for one side. */
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
