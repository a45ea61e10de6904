/**
 * Archives of images for clusters.
 *
 * Permissions: run (deno).
 *
 * @module
 */
import type { ImageName } from "../../../scripts/images/description.ts";

const ROOT = new URL("../../../", import.meta.url).pathname;

/** Images of the mesh, and images for tests. */
export const CLUSTER_IMAGES: readonly ImageName[] = [
  ...["pilot-discovery", "proxy", "install-cni", "pause", "echo", "tunnel"] as const,
];

/**
 * Makes the images of this tree where needed.
 *
 * @returns paths of the archives
 * @throws {Error} with the output of `deno task images`
 */
export async function imageArchives(names: readonly ImageName[]): Promise<readonly string[]> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "images", ...names],
    ...{ cwd: ROOT, stdin: "null" },
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(`no images: ${text(stderr)}`);
  return text(stdout).split("\n").flatMap((line) => /^(\S+\.tar) /.exec(line)?.[1] ?? []);
}
