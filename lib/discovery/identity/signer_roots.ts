/**
 * The roots of the orchestrator's signers: from entries of the mesh configuration that name the signer
 * (`caCertificates[].certSigners`), else from a mounted file.
 *
 * Permissions: read (the file and its folder).
 *
 * @module
 */
import { type FileText, watchFile } from "../../kernel/files/watch_file.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { readCertificates, writeCertificates } from "../../pki/certificate.ts";
import { CurrentValue, type TrustBundle } from "../../pki/current.ts";
import { PkiError } from "../../pki/pki_error.ts";
import type { MeshSource } from "../sources/mesh_source.ts";

/** Where the root of a signer is mounted, as in Istio. */
const FILE = "./etc/external-ca-cert/root-cert.pem";

/** The roots by signer, and all roots. */
export interface SignerRoots {
  /** Roots in PEM; undefined: no roots are known. */
  of(signer: string): string | undefined;
  readonly all: TrustBundle;
}

/** Follows the mesh configuration and the file until the kernel stops. Unusable content is reported, and left out. */
export async function startSignerRoots(
  mesh: Pick<MeshSource, "state" | "onChange">,
  kernel: Pick<Kernel, "log" | "stopper">,
  file = FILE,
): Promise<SignerRoots> {
  const log = kernel.log.scope("pkira");
  const bySigner = new Map<string, string>();
  const all = new CurrentValue("");
  let mounted = "";
  const read = (text: string, what: string) => {
    try {
      return writeCertificates(readCertificates(text, what));
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      log.error("roots of signers cannot be used", { reason: error.message });
      return "";
    }
  };
  const publish = () => {
    bySigner.clear();
    (mesh.state.mesh.caCertificates ?? []).forEach(({ pem = "", certSigners = [] }, index) => {
      if (pem === "" || certSigners.length === 0) return;
      const roots = read(pem, `caCertificates[${index}].pem`);
      for (const signer of certSigners) bySigner.set(signer, (bySigner.get(signer) ?? "") + roots);
    });
    const next = [...new Set([...bySigner.values(), mounted])].join("");
    if (next !== all.current()) all.set(next);
  };
  const take = (text: FileText) => {
    if (text === undefined) mounted = "";
    else if (typeof text === "string") mounted = read(text, file) || mounted;
    else log.error("roots of signers cannot be read; the last roots stay in force", { file, reason: text.unreadable });
    publish();
  };
  mesh.onChange(publish);
  const watched = await watchFile(file, take);
  kernel.stopper.add("roots of signers", () => watched.stop());
  publish();
  return { of: (signer) => bySigner.get(signer) || mounted || undefined, all };
}
