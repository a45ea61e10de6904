/**
 * A mesh from the inputs of a program: texts in memory, or files and folders.
 *
 * Permissions: read of the paths, env (`LOG_TOKENS` and `LOG_STREAM`, which the YAML package reads).
 *
 * @module
 */
import { OfflineMesh, type OfflineMeshOptions } from "../../discovery/offline_mesh.ts";
import type { SettingsOf } from "../../kernel/settings/catalogue.ts";
import { defaultSettings } from "../../kernel/settings/read.ts";
import { type FoundMeshConfig, meshConfigOf } from "../mesh_config_of.ts";
import { type InputTexts, readInputs, UnreadableInput } from "../inputs.ts";

/** Configuration, and how it is read. */
export interface MeshTexts {
  /** Texts of configuration by file name; the name ends in `.yaml`, `.yml` or `.json`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Files and folders that are read too. */
  readonly paths?: readonly string[];
  /**
   * Text of the mesh configuration; default: what the objects by which a control plane is installed say of it, where they
   * are among the texts; else the defaults.
   */
  readonly meshConfig?: string;
  /** DNS suffix of services. Default `cluster.local`. */
  readonly domain?: string;
  /** Settings that differ from their defaults (docs/reference/settings.md). Environment variables are not read. */
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
}

/** A mesh, and the texts that it was made of. */
export interface MeshOfTexts {
  readonly mesh: OfflineMesh;
  /** The text of a file by its path; undefined: there is none. */
  readonly textOf: (path: string) => string | undefined;
}

/**
 * Makes the mesh.
 *
 * @throws {UnreadableInput} naming every path that cannot be read.
 * @throws {RangeError} naming every problem of the mesh configuration.
 */
export async function meshOfTexts(texts: MeshTexts): Promise<MeshOfTexts> {
  const { files = {}, paths = [], meshConfig = "", domain = "cluster.local", settings = {} } = texts;
  const read: InputTexts = await readInputs(paths, {
    stdin: () => Promise.reject(new UnreadableInput("-: expected a file or folder; give standard input as a text")),
  });
  const encoder = new TextEncoder();
  const given = Object.entries(files).map(([path, text]) => ({ path, bytes: encoder.encode(text) }));
  const reads = [...read.reads, ...given];
  const found = texts.meshConfig === undefined ? meshConfigOf(reads) : undefined;
  const options = { settings: defaultSettings("pilot-discovery", settings), domain };
  const isGiven = texts.meshConfig !== undefined;
  const mesh = (found && meshOfFound(found, options)) ??
    new OfflineMesh({ ...options, meshConfig, hasMeshConfig: isGiven });
  mesh.apply(reads);
  return { mesh, textOf: (path) => files[path] ?? read.textOf(path) };
}

/** A mesh with the configuration that lies among its texts; undefined: it has errors, and its object has the finding. */
function meshOfFound(
  { text, name }: FoundMeshConfig,
  options: Pick<OfflineMeshOptions, "settings" | "domain">,
): OfflineMesh | undefined {
  try {
    return new OfflineMesh({ ...options, meshConfig: text, meshConfigName: name, hasMeshConfig: true });
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** Throws the error of a builder: a defect of this library, never of the texts. */
export function throwFailures({ failures }: OfflineMesh): void {
  const [failure] = failures;
  if (failure !== undefined) throw failure.error;
}
