/**
 * Faults of options that keep the discovery server from starting, such as a missing folder or a used port. A fault is
 * one sentence with value, expectation and a hint. The caller puts its own name of the option in front.
 *
 * @module
 */
import { type OptionFault, OptionFaults } from "../../kernel/lifecycle/option_faults.ts";

/** The options for the files of the mesh. */
export type MeshFileOption = "meshConfig" | "networksConfig";

/** Options that may have a fault at start. */
export type StartOption = "configDir" | MeshFileOption | StartVariable | TlsFileOption | PortOption;

/** Variables of the authority, of the certificate provider, of rollouts, and of the pages. */
export type StartVariable =
  | ("EXTERNAL_CA" | "ROOT_CA_DIR" | "MESH_SELF_SIGNED_CA_DIR" | "PILOT_CERT_PROVIDER")
  | ("MESH_PROMETHEUS_ADDRESS" | "MESH_ROLLOUT_DEFAULTS" | "MESH_ROLLOUT_DIR");

/** The options for the files of TLS. */
export type TlsFileOption = "tlsCertFile" | "tlsKeyFile" | "caCertFile";

/** The options for addresses. */
export type PortOption = "grpc" | "secureGrpc" | "http" | "webhooks" | "monitoring" | "introspection";

/** A fault of an option. */
export type StartFault = OptionFault<StartOption>;

/** A discovery server did not start; `faults` names every option at fault. */
export class StartError extends OptionFaults<StartOption> {
  override readonly name = "StartError";
}

function got(option: StartOption, value: string, expected: string): StartFault {
  return { option, text: `got ${JSON.stringify(value)}, expected ${expected}` };
}

/** The fault of a configuration folder that could not be read or watched; undefined: the path is not the cause. */
export function folderFault(root: string, error: unknown): StartFault | undefined {
  const { errors } = Deno;
  const fault = (expected: string) => got("configDir", root, expected);
  if (error instanceof errors.NotFound) {
    return fault(
      "a folder that exists (create it, or correct the path; a relative path starts in the working directory)",
    );
  }
  if (error instanceof errors.NotADirectory) return fault("a folder, not a file (name the file's folder)");
  if (error instanceof errors.PermissionDenied || error instanceof errors.NotCapable) {
    return fault("a folder that this program may read (see the owner and the mode)");
  }
  return isWatchLimit(error) ? fault(WATCHABLE) : undefined;
}

/** The fault of a mesh file whose folder could not be watched; undefined: the path is not the cause. */
export function meshFileFault(
  option: MeshFileOption,
  file: string,
  error: unknown,
): StartFault | undefined {
  if (isWatchLimit(error)) return got(option, file, WATCHABLE);
  if (!(error instanceof Deno.errors.PermissionDenied || error instanceof Deno.errors.NotCapable)) return undefined;
  return got(option, file, "a file in a folder that this program may read (see the owner and the mode)");
}

/** The fault of a mesh file that a user named and that does not exist. */
export function missingMeshFile(option: MeshFileOption, file: string): StartFault {
  const where = file.startsWith("/") ? "" : "; a relative path starts in the working directory";
  return got(option, file, `a file that exists (create it, or leave the flag out for the defaults${where})`);
}

const WATCHABLE = "a path that can be watched: the system's limit is reached (raise fs.inotify.max_user_watches and " +
  "fs.inotify.max_user_instances)";

/** The system reports ENOSPC and EMFILE when it cannot watch more files. */
function isWatchLimit(error: unknown): boolean {
  return error instanceof Error && /watch limit|os error (?:24|28)\b/i.test(error.message);
}

/** The expectation for each error of a listening socket. */
const LISTEN_EXPECTATIONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "an address that is free: another process listens there (end it, or name another port; 0 takes any)",
  EACCES: "an address that this program may listen on (ports below 1024 need more rights)",
  EADDRNOTAVAIL: "an address of this machine (without a host, as in :15010, all addresses)",
  // Deno 2.8 reports EINVAL for an address of another machine.
  EINVAL: "an address of this machine (without a host, as in :15010, all addresses)",
  ENOTFOUND: "a host that resolves (without a host, as in :15010, all addresses)",
  EAI_AGAIN: "a host that resolves (without a host, as in :15010, all addresses)",
};

/**
 * The fault of a listen address; undefined: the address is not the cause.
 *
 * @param own Whether another option of the same server has the same address.
 */
export function listenFault(
  option: PortOption,
  address: string,
  error: unknown,
  own: boolean,
): StartFault | undefined {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  if (own && code === "EADDRINUSE") {
    return got(option, address, "an address of its own: this server listens there already");
  }
  if (!(error instanceof Error) || code === "") return undefined;
  return got(option, address, LISTEN_EXPECTATIONS[code] ?? `an address that can be listened on (${error.message})`);
}
