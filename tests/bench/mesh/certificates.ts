/**
 * Certificates of a measured server and its proxies: P-256, below one root.
 *
 * Permissions: write (temporary folder).
 *
 * @module
 */
import type { TlsFiles } from "../../../lib/discovery/identity/tls_files.ts";
import { readCertificate } from "../../../lib/pki/certificate.ts";
import { issueLeaf, issueRoot } from "../../../lib/pki/issue.ts";
import { certificatePem } from "../../../lib/pki/pem.ts";
import { PrivateKey } from "../../../lib/pki/private_key.ts";
import type { KeySpec } from "../../../lib/pki/public_key.ts";
import type { AlternativeNames } from "../../../lib/pki/subject.ts";
import type { LoadTls } from "./load/protocol.ts";

const DAY = 24 * 3_600_000;
const P256 = { type: "EC", curve: "P-256" } as const;

/** The result of {@linkcode benchCertificates}. */
export interface BenchCertificates {
  readonly files: TlsFiles;
  readonly load: LoadTls;
  /** Folder of an authority with the root, in the form for `ROOT_CA_DIR`. */
  readonly authority: string;
}

/**
 * Makes the certificates. The server's certificates are written into the folder.
 *
 * @param rootSpec Kind of the root's key, with which the server also signs.
 */
export async function benchCertificates(
  folder: string,
  namespaces: number,
  rootSpec: KeySpec = P256,
): Promise<BenchCertificates> {
  const validity = { notBefore: Date.now() - DAY, notAfter: Date.now() + DAY };
  const rootKey = await PrivateKey.generate(rootSpec);
  const root = await issueRoot(rootKey, { ...validity, subject: { commonName: "bench" } });
  const issuer = { certificate: readCertificate(root), key: rootKey };
  const leaf = async (names: Partial<AlternativeNames>) => {
    const key = await PrivateKey.generate(P256);
    const der = await issueLeaf(issuer, { ...validity, spki: key.spki, names });
    return { certificate: certificatePem(der), key: key.pem() };
  };
  const own = await leaf({ ips: ["127.0.0.1"] });
  const files = { tlsCertFile: `${folder}/cert`, tlsKeyFile: `${folder}/key`, caCertFile: `${folder}/root` };
  const authority = `${folder}/cacerts`;
  await Deno.mkdir(authority);
  const texts = {
    [files.tlsCertFile]: own.certificate,
    [files.tlsKeyFile]: own.key,
    [files.caCertFile]: certificatePem(root),
    [`${authority}/ca-cert.pem`]: certificatePem(root),
    [`${authority}/root-cert.pem`]: certificatePem(root),
    [`${authority}/ca-key.pem`]: rootKey.pem(),
  };
  for (const [path, text] of Object.entries(texts)) await Deno.writeTextFile(path, text);
  const clients = Array.from(
    { length: namespaces },
    (_, i) => leaf({ uris: [`spiffe://cluster.local/ns/ns-${i}/sa/default`] }),
  );
  return { files, load: { root: certificatePem(root), clients: await Promise.all(clients) }, authority };
}
