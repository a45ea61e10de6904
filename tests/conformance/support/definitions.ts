/**
 * The definitions of Gateway API, from the Go module of the API. They are not in this tree.
 *
 * Permissions: env (GO), read (the module cache of Go), run (go).
 *
 * @module
 */
import { findGo } from "../../../scripts/orchestrator/go.ts";

/** A conformance suite that runs here: of a version of the API, or of the API's Inference Extension v1.6.0. */
export type GatewayApiVersion = "v1.6.1" | "v1.3.0" | "inference";

/** The suites, the newest version of the API first. */
export const GATEWAY_API_VERSIONS: readonly GatewayApiVersion[] = ["v1.6.1", "v1.3.0", "inference"];

/** Set of definitions: the experimental set has all kinds and fields. */
type Channel = "experimental" | "standard";

/** The Go modules that pin the versions, below `tests/conformance`. The suite of the extension is made for v1.6.1. */
const MODULES: Readonly<Record<GatewayApiVersion, string>> = {
  "v1.6.1": "suite",
  "v1.3.0": "suite-v1.3",
  inference: "suite-inference",
};

/**
 * Paths of the files of the definitions. Go fetches its module when the module is not in Go's cache.
 *
 * @throws {Error} With Go's output, or if there is no Go toolchain.
 */
export async function definitionFiles(
  version: GatewayApiVersion,
  channel: Channel = "experimental",
): Promise<readonly string[]> {
  const folder = `${await moduleFolder(MODULES[version], GATEWAY_API_MODULE)}/config/crd/${channel}`;
  const files = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => isDefinition(name)).sort()
    .map((name) => `${folder}/${name}`);
  return version === "inference" ? [...files, await inferencePoolDefinition()] : files;
}

/** The folder also has a policy that refuses definitions of other versions. The tests change versions in one cluster. */
function isDefinition(name: string): boolean {
  return name.startsWith("gateway.networking.") && !name.includes("_vap_");
}

/**
 * Path of the definition of InferencePools, of the Gateway API's Inference Extension v1.6.0.
 *
 * @throws {Error} As {@linkcode definitionFiles}.
 */
export async function inferencePoolDefinition(): Promise<string> {
  const folder = await moduleFolder(MODULES.inference, "sigs.k8s.io/gateway-api-inference-extension");
  return `${folder}/config/crd/bases/inference.networking.k8s.io_inferencepools.yaml`;
}

const GATEWAY_API_MODULE = "sigs.k8s.io/gateway-api";

/** Folder of a required module in the cache of Go. @param module The module that pins the version */
async function moduleFolder(module: string, required: string): Promise<string> {
  const go = await findGo();
  if (go === undefined) throw new Error("no Go toolchain on the path or in /usr/local/go; GO may name one");
  const { success, stdout, stderr } = await new Deno.Command(go, {
    args: ["mod", "download", "-json", required],
    cwd: new URL(`../${module}/`, import.meta.url).pathname,
    stdin: "null",
  }).output();
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  if (!success) throw new Error(`no definitions of ${required}:\n${err}${out}`);
  return (JSON.parse(out!) as { Dir: string }).Dir;
}
