/**
 * The server's certificate and the roots of its clients from watched files (`--tlsCertFile`, `--tlsKeyFile`,
 * `--caCertFile`).
 *
 * Permissions: read of the files and their folders.
 *
 * @module
 */
import { isRegular } from "../../kernel/files/regular.ts";
import type { FileText } from "../../kernel/files/watch_file.ts";
import { type FileTexts, watchFiles } from "../../kernel/files/watch_files.ts";
import type { Kernel } from "../../kernel/kernel.ts";
import { readCertificates, writeCertificates } from "../../pki/certificate.ts";
import { CurrentValue, type ServerCertificate, type ServerIdentity, type TrustBundle } from "../../pki/current.ts";
import { checkCertificates } from "../../sockets/listen/certificates.ts";
import { StartError, type StartFault } from "../settings/start_error.ts";

/** The files; all three belong together. */
export interface TlsFiles {
  readonly tlsCertFile: string;
  readonly tlsKeyFile: string;
  readonly caCertFile: string;
}

/**
 * Mount paths of a secret with the server's certificate and its authority: this project's paths first, then Istio's.
 */
const MOUNTED = ["./var/run/secrets/meshd", "./var/run/secrets/istiod"].flatMap((folder) =>
  [`${folder}/ca/root-cert.pem`, `${folder}/tls/ca.crt`].map((caCertFile): TlsFiles => ({
    ...{ tlsCertFile: `${folder}/tls/tls.crt`, tlsKeyFile: `${folder}/tls/tls.key`, caCertFile },
  }))
);

/** The first complete mounted set; undefined: no set is complete. */
export async function mountedTlsFiles(): Promise<TlsFiles | undefined> {
  for (const files of MOUNTED) {
    const there = await Promise.all(
      OPTIONS.map((option) => isRegular(files[option])),
    );
    if (there.every((one) => one)) return files;
  }
  return undefined;
}

/** The present content of the files. */
export interface TlsFileContent {
  readonly identity: ServerIdentity;
  readonly clientRoots: TrustBundle;
}

const OPTIONS = ["tlsCertFile", "tlsKeyFile", "caCertFile"] as const;

/** The field name at the start of a certificate error, by option. */
const FIELDS = { tlsCertFile: "certificate", tlsKeyFile: "privateKey", caCertFile: "clientAuthorities" } as const;

/**
 * Reads the files, and watches the files until the kernel stops. Unusable content is reported, and the last usable
 * content stays in force.
 *
 * @throws {StartError} naming each file that is missing or cannot be used at the start
 */
export async function startTlsFiles(
  files: TlsFiles,
  kernel: Pick<Kernel, "log" | "clock" | "stopper">,
): Promise<TlsFileContent> {
  let texts: FileTexts<string> = {};
  let changed = () => {};
  const watched = await watchFiles({
    ...{ paths: OPTIONS.map((option) => files[option]), clock: kernel.clock },
    onTexts: (next) => {
      texts = next;
      changed();
    },
  });
  kernel.stopper.add("files of TLS", () => watched.stop());
  const read = (): { readonly server: ServerCertificate; readonly roots: string } => {
    const faults = OPTIONS.flatMap((option) => missing(option, files[option], texts[files[option]]));
    if (faults.length > 0) throw new StartError(faults);
    const [certificatePem, keyPem, roots] = OPTIONS.map((option) => String(texts[files[option]]));
    const server = { certificatePem: certificatePem!, keyPem: keyPem! };
    checkTogether(files, server, roots!);
    return { server, roots: certificatesOf(files.caCertFile, roots!) };
  };
  const first = read();
  const identity = new CurrentValue(first.server);
  const clientRoots = new CurrentValue(first.roots);
  changed = () => {
    try {
      const { server, roots } = read();
      const { certificatePem, keyPem } = identity.current();
      // Roots first: others must be able to verify the certificate as soon as the server shows it.
      if (roots !== clientRoots.current()) clientRoots.set(roots);
      if (server.certificatePem !== certificatePem || server.keyPem !== keyPem) identity.set(server);
    } catch (error) {
      const reason = (error as Error).message;
      kernel.log.scope("tls").error("files cannot be used, the last content stays in force", { reason });
    }
  };
  return { identity, clientRoots };
}

function missing(option: keyof TlsFiles, file: string, text: FileText): StartFault[] {
  if (typeof text === "string") return [];
  const why = text === undefined ? "" : ` (${text.unreadable})`;
  return [{ option, text: `got ${JSON.stringify(file)}, expected a file that exists and may be read${why}` }];
}

/** Only the certificates of the file: every namespace can read the result, and the file may hold more. */
function certificatesOf(file: string, text: string): string {
  try {
    return writeCertificates(readCertificates(text, file));
  } catch (error) {
    throw new StartError([{ option: "caCertFile", text: (error as Error).message }], error);
  }
}

/** @throws {StartError} naming the file with unsuitable content */
function checkTogether(files: TlsFiles, { certificatePem, keyPem }: ServerCertificate, roots: string): void {
  try {
    checkCertificates({ certificate: certificatePem, privateKey: keyPem, clientAuthorities: roots });
  } catch (error) {
    const [, field = "", text = ""] = /^(\w+): ([^]*)$/.exec((error as Error).message) ?? [];
    const option = OPTIONS.find((one) => FIELDS[one] === field) ?? "tlsCertFile";
    throw new StartError([{ option, text: `${files[option]}: ${text}` }], error);
  }
}
