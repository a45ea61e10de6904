/**
 * The root of an external certificate provider (`PILOT_CERT_PROVIDER` other than `meshd` and `none`), from a mounted
 * file.
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
import { StartError } from "../settings/start_error.ts";

/** The mounted file, relative to the working directory of the program. */
const FILE = "./etc/certs/root-cert.pem";

/**
 * Reads the file, and watches the file until the kernel stops. Unusable content is reported, and the last usable
 * content stays in force.
 *
 * @throws {StartError} when the file has no certificate at the start
 */
export async function startProviderRoot(
  provider: string,
  kernel: Pick<Kernel, "log" | "stopper">,
  file = FILE,
): Promise<TrustBundle> {
  let roots: CurrentValue<string> | undefined;
  let fault = "";
  const take = (text: FileText) => {
    try {
      const next = writeCertificates(readCertificates(textOf(text), file));
      if (roots === undefined) roots = new CurrentValue(next);
      else if (next !== roots.current()) roots.set(next);
    } catch (error) {
      if (!(error instanceof PkiError)) throw error;
      fault = error.message;
      if (roots !== undefined) {
        kernel.log.scope("trustBundle").error("the provider's root cannot be used; the last root stays in force", {
          ...{ provider, reason: fault },
        });
      }
    }
  };
  const textOf = (text: FileText) => {
    if (typeof text === "string") return text;
    throw new PkiError(`${file}: ${text === undefined ? "it is not there" : text.unreadable}`);
  };
  const watched = await watchFile(file, take);
  kernel.stopper.add("the provider's root", () => watched.stop());
  if (roots !== undefined) return roots;
  const text = `got ${JSON.stringify(provider)}, expected its root certificate in ${file}: ${fault}`;
  throw new StartError([{ option: "PILOT_CERT_PROVIDER", text }]);
}
