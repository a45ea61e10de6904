/**
 * Images as OCI archives, without a daemon and without a registry.
 *
 *     deno task images                       the images of the mesh, as dist/images/NAME.tar
 *     deno task images pause echo            images for tests
 *     deno task images proxy --out FOLDER    elsewhere
 *
 * Prints a line for each archive: path, size, digest of the manifest, seconds. An archive with the present inputs is not
 * made again. The layers are kept in the folder `store` beside the archives, the Debian below them in the user's cache
 * folder.
 *
 * Permissions: the permissions of `archive.ts`, and the permissions of `../bundle.ts`.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { currentBundle, makeBundle } from "../../cmd/program_bundle.ts";
import { bundleProgram, bundleSpec } from "../bundle.ts";
import { makeArchive, presentArchive, removeUnusedLayers } from "./archive.ts";
import { CONFORMANCE_IMAGES, type ImageName, imageOf, MESH_IMAGES, TEST_IMAGES } from "./description.ts";
import { withLock } from "../test/cache.ts";
import { BlobStore } from "./store.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const NAMES: readonly ImageName[] = [...MESH_IMAGES, ...TEST_IMAGES, ...CONFORMANCE_IMAGES];

/** Makes images, and says so. */
async function makeImages(
  names: readonly ImageName[],
  target: string,
  say: { readonly result: (line: string) => void; readonly progress: (line: string) => void },
): Promise<void> {
  const store = new BlobStore(`${target}/store`);
  await withLock(target, async () => {
    await store.prepare();
    for (const name of names) {
      const started = performance.now();
      const image = imageOf(name);
      const { bundle, modules } = image;
      if (bundle !== undefined && currentBundle(ROOT, bundleSpec(bundle)) === undefined) {
        await bundleProgram(ROOT, bundle);
      }
      if (modules !== undefined && currentBundle(ROOT, modules) === undefined) await makeBundle(ROOT, modules);
      const archive = presentArchive(ROOT, name, image, store) ??
        await makeArchive(ROOT, name, image, target, store, say.progress);
      const [size, seconds] = [archive.size / 1e6, (performance.now() - started) / 1000];
      say.result(`${archive.path} ${size.toFixed(1)} MB ${archive.digest} ${seconds.toFixed(1)} s`);
    }
    await removeUnusedLayers(NAMES, store);
  });
}

if (import.meta.main) {
  try {
    const { values, positionals } = parseArgs({
      args: Deno.args,
      options: { out: { type: "string", default: `${ROOT}dist/images` } },
      allowPositionals: true,
    });
    const names = NAMES.filter((name) => positionals.includes(name));
    const unknown = positionals.filter((word) => !NAMES.some((name) => name === word));
    if (unknown.length > 0) throw new Error(`${unknown.join(", ")}: expected images out of ${NAMES.join(", ")}`);
    await makeImages(names.length > 0 ? names : MESH_IMAGES, values.out.replace(/\/$/, ""), {
      result: (line) => console.log(line),
      progress: (line) => console.error(line),
    });
  } catch (error) {
    console.error((error as Error).message);
    Deno.exit(1);
  }
}
