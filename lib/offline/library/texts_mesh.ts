/**
 * A mesh from the inputs of a program: texts in memory, or files and folders.
 *
 * Permissions: read of the paths, env (`LOG_TOKENS` and `LOG_STREAM`, which the YAML package reads).
 *
 * @module
 */
import type { OfflineMesh } from "../offline_mesh.ts";
import type { SettingsOf } from "../../kernel/settings/catalogue.ts";
import { defaultSettings } from "../../kernel/settings/read.ts";
import { meshOfReads } from "../mesh_of_reads.ts";
import { type InputTexts, readInputs, UnreadableInput } from "../inputs.ts";

/** Configuration, and how to read it. */
export interface MeshTexts {
  /** Texts of configuration by file name; the name ends in `.yaml`, `.yml` or `.json`. */
  readonly files?: Readonly<Record<string, string>>;
  /** Further files and folders to read. */
  readonly paths?: readonly string[];
  /**
   * Text of the mesh configuration. Default: the mesh configuration in a config map among the texts, as an installation
   * has it; without such a config map, the built-in defaults.
   */
  readonly meshConfig?: string;
  /** DNS suffix of services. Default `cluster.local`. */
  readonly domain?: string;
  /** Settings that differ from their defaults (docs/reference/settings.md). Environment variables are not read. */
  readonly settings?: Partial<SettingsOf<"pilot-discovery">>;
}

/** A mesh, and its texts. */
export interface MeshOfTexts {
  readonly mesh: OfflineMesh;
  /** The text of a file by its path; undefined: no such file. */
  readonly textOf: (path: string) => string | undefined;
}

/**
 * Makes the mesh.
 *
 * @throws {UnreadableInput} naming every path that cannot be read.
 * @throws {RangeError} naming every problem of the mesh configuration.
 */
export async function meshOfTexts(texts: MeshTexts): Promise<MeshOfTexts> {
  const { files = {}, paths = [], domain = "cluster.local", settings = {} } = texts;
  const read: InputTexts = await readInputs(paths, {
    stdin: () => Promise.reject(new UnreadableInput("-: expected a file or folder; give standard input as a text")),
  });
  const encoder = new TextEncoder();
  const inMemory = Object.entries(files).map(([path, text]) => ({ path, bytes: encoder.encode(text) }));
  const reads = [...read.reads, ...inMemory];
  const given = texts.meshConfig === undefined ? undefined : { text: texts.meshConfig };
  const mesh = meshOfReads(reads, given, { settings: defaultSettings("pilot-discovery", settings), domain });
  mesh.apply(reads);
  return { mesh, textOf: (path) => files[path] ?? read.textOf(path) };
}

/** Throws the error of a builder. Such an error is a defect of this library, never of the texts. */
export function throwFailures({ failures }: OfflineMesh): void {
  const [failure] = failures;
  if (failure !== undefined) throw failure.error;
}
