/**
 * The file by which gRPC applications without a proxy find the agent (`GRPC_XDS_BOOTSTRAP`).
 *
 * Permissions: read, write (the file and its folder).
 *
 * @module
 */
import { factsOf, isRegular } from "../../kernel/files/regular.ts";
import { resolve } from "node:path";
import type { Logger } from "../../kernel/log/log.ts";
import { grpcBootstrap, type GrpcCertificateFiles } from "../bootstrap/grpc_bootstrap.ts";
import { ROOTS_SECRET, WORKLOAD_SECRET } from "../secrets/agent_secret.ts";
import { CERTIFICATE_FILES, writeWhole } from "../secrets/output_files.ts";
import type { AgentInput } from "./agent_input.ts";
import type { SecretPlan } from "./secret_plan.ts";

/** Faults of the path before anything is written: a sentence for each. */
export async function grpcBootstrapFaults({ settings }: Pick<AgentInput, "settings">): Promise<string[]> {
  const path = settings.GRPC_XDS_BOOTSTRAP;
  if (path === "") return [];
  const info = await factsOf(path).catch(() => undefined);
  const isFile = !path.endsWith("/") && (info === undefined || info.isFile);
  return isFile ? [] : [`${got(path)}, expected the path of a file`];
}

/**
 * Writes the file in one step. If the variable was not given, an unwritable folder is only a warning: perhaps nobody
 * needs the file.
 * @throws {Error} With the name of the variable when the variable's file cannot be written.
 */
export async function writeGrpcBootstrap(input: AgentInput, plan: SecretPlan, log: Logger): Promise<void> {
  const { settings, variables, workload, xdsSocket } = input;
  const path = settings.GRPC_XDS_BOOTSTRAP;
  if (path === "") return;
  const certificates = certificateFiles(input, plan);
  const bootstrap = grpcBootstrap({ node: workload.node, socket: resolve(xdsSocket), certificates });
  try {
    await writeWhole(resolve(path), `${JSON.stringify(bootstrap, undefined, 2)}\n`, 0o644);
  } catch (error) {
    const text = `${got(path)}, expected a path where a file can be written: ${(error as Error).message}`;
    if (variables.GRPC_XDS_BOOTSTRAP !== undefined) throw new Error(text, { cause: error });
    log.warn(text);
  }
}

/**
 * Why a gRPC application without a proxy should not start yet. Undefined: the files and the socket in its bootstrap
 * exist.
 */
export async function missingForGrpc(input: AgentInput, plan: SecretPlan): Promise<string | undefined> {
  const files = input.settings.GRPC_XDS_BOOTSTRAP === "" ? undefined : certificateFiles(input, plan);
  for (const path of Object.values(files ?? {})) {
    if (!await isRegular(path)) return `${path} has not come yet`;
  }
  return undefined;
}

function certificateFiles({ settings }: AgentInput, plan: SecretPlan): GrpcCertificateFiles | undefined {
  if (plan.from === "files") {
    const mounted = { chain: "", key: "", roots: "", ...plan.files[WORKLOAD_SECRET], ...plan.files[ROOTS_SECRET] };
    return { chain: resolve(mounted.chain), key: resolve(mounted.key), roots: resolve(mounted.roots) };
  }
  const folder = settings.OUTPUT_CERTS;
  if (plan.from !== "authority" || folder === "") return undefined;
  const at = (name: string) => resolve(folder, name);
  return { chain: at(CERTIFICATE_FILES.chain), key: at(CERTIFICATE_FILES.key), roots: at(CERTIFICATE_FILES.roots) };
}

function got(path: string): string {
  return `variable GRPC_XDS_BOOTSTRAP: got ${JSON.stringify(path)}`;
}
