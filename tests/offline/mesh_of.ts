/**
 * A mesh of texts, for tests.
 *
 * @module
 */
import { OfflineMesh, type OfflineMeshOptions } from "../../lib/offline/offline_mesh.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";

/** A mesh of files by name. */
export function meshOf(
  files: Readonly<Record<string, string>>,
  options: Partial<OfflineMeshOptions> = {},
): OfflineMesh {
  const settings = defaultSettings("pilot-discovery");
  const mesh = new OfflineMesh({ settings, domain: "cluster.local", meshConfig: "", ...options });
  mesh.apply(readsOf(files));
  return mesh;
}

/** Texts, as if read from files. */
export function readsOf(files: Readonly<Record<string, string>>) {
  return Object.entries(files).map(([path, text]) => ({ path, bytes: new TextEncoder().encode(text) }));
}

/** The texts of a folder of examples. */
export function example(folder: string): Record<string, string> {
  const root = new URL(`../../examples/${folder}/`, import.meta.url);
  const files = [...Deno.readDirSync(root)].filter(({ name }) => name.endsWith(".yaml")).map(({ name }) => name);
  return Object.fromEntries(files.sort().map((name) => [name, Deno.readTextFileSync(new URL(name, root))]));
}
