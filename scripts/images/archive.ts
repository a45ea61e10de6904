/**
 * Images as OCI archives: a tar file of blobs with an index, which `ctr images import`, `podman load` and `skopeo` read.
 *
 * Permissions: the permissions of `layers.ts` and `base.ts`; write (the target folder).
 *
 * @module
 */
import { command } from "../setup/command.ts";
import { type Base, debianBase } from "./base.ts";
import type { Image, ImageName } from "./description.ts";
import { inputsOf, makeLayer } from "./layers.ts";
import { type Blob, type BlobStore, digestOf, pathInArchive } from "./store.ts";

/** A finished archive. */
export interface Archive {
  readonly path: string;
  /** Size of the archive in bytes. */
  readonly size: number;
  /** Digest of the image's manifest: the name by content. */
  readonly digest: string;
  /** Digests of all blobs. */
  readonly blobs: readonly string[];
}

/** The note beside an archive: its inputs, and the archive. */
interface Note extends Archive {
  readonly inputs: string;
}

const MEDIA = "application/vnd.oci.image";

/** The search path of every Debian image. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** The names of architectures in images, by the runtime's names. */
const ARCHITECTURES: Readonly<Record<typeof Deno.build.arch, string>> = { x86_64: "amd64", aarch64: "arm64" };

/** The path of an image's archive. */
function archivePath(folder: string, name: ImageName): string {
  return `${folder}/${name}.tar`;
}

/** The archive that is there and has the present inputs. Undefined if the archive has to be made. */
export function presentArchive(root: string, name: ImageName, image: Image, store: BlobStore): Archive | undefined {
  try {
    const note: Note = JSON.parse(Deno.readTextFileSync(notePath(store, name)));
    if (note.inputs !== inputsOfImage(root, image)) return undefined;
    return Deno.statSync(note.path).size === note.size ? note : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof SyntaxError) return undefined;
    throw error;
  }
}

/**
 * Makes an image's archive. Layers that the store has are not made again.
 *
 * @param root Folder of the tree, with a final slash.
 * @param store The layers of the target folder.
 * @param say Receives lines about work that takes a while.
 */
export async function makeArchive(
  root: string,
  name: ImageName,
  image: Image,
  target: string,
  store: BlobStore,
  say: (line: string) => void,
): Promise<Archive> {
  const inputs = inputsOfImage(root, image);
  const base = image.base === "debian" ? await debianBase(say) : undefined;
  const chain: Blob[] = base === undefined ? [] : [base.layer];
  const paths = base === undefined ? [] : [base.store.path(base.layer)];
  for (const [i, layer] of image.content.entries()) {
    const blob = await makeLayer(root, layer, layerInputs(root, image)[i]!, paths, store);
    chain.push(blob);
    paths.push(store.path(blob));
  }
  const config = await store.takeJson(configOf(image, chain));
  const manifest = await store.takeJson(manifestOf(config, chain));
  const layout = store.unfinished(`layout-${name}`);
  await Deno.mkdir(layout);
  await Deno.writeTextFile(`${layout}/oci-layout`, JSON.stringify({ imageLayoutVersion: "1.0.0" }));
  await Deno.writeTextFile(`${layout}/index.json`, JSON.stringify(indexOf(image, manifest)));
  const file = store.unfinished(`archive-${name}`);
  await pack(file, layout, [manifest, config, ...chain], base, store);
  const path = archivePath(target, name);
  await Deno.rename(file, path);
  await Deno.remove(layout, { recursive: true });
  const blobs = [manifest, config, ...chain].map(({ digest }) => digest);
  const archive: Archive = { path, size: (await Deno.stat(path)).size, digest: manifest.digest, blobs };
  await Deno.writeTextFile(notePath(store, name), JSON.stringify({ ...archive, inputs } satisfies Note));
  return archive;
}

async function pack(file: string, layout: string, blobs: readonly Blob[], base: Base | undefined, store: BlobStore) {
  const same = ["--owner=0", "--group=0", "--numeric-owner", "--mode=0644", "--mtime=@0", "--format=gnu"];
  const members = blobs.flatMap((blob) => {
    const { folder } = blob === base?.layer ? base.store : store;
    return ["--directory", folder, pathInArchive(blob.digest)];
  });
  await command(
    "tar",
    ["--create", ...same, `--file=${file}`, "--directory", layout, "oci-layout", "index.json", ...members],
    "/",
  );
}

function configOf(image: Image, chain: readonly Blob[]) {
  const names = [...image.base === "debian" ? ["base"] : [], ...image.content.map(({ name }) => name)];
  return {
    created: new Date(0).toISOString(),
    architecture: ARCHITECTURES[Deno.build.arch],
    os: "linux",
    config: {
      Env: [`PATH=${PATH}`, ...Object.entries(image.env).map(([name, value]) => `${name}=${value}`)],
      User: image.user,
      WorkingDir: "/",
      Entrypoint: image.entrypoint,
    },
    // Layers are not compressed: the digest of a layer's blob is the digest of its tar file.
    rootfs: { type: "layers", diff_ids: chain.map(({ digest }) => digest) },
    history: names.map((name) => ({ created: new Date(0).toISOString(), created_by: name })),
  };
}

function manifestOf(config: Blob, chain: readonly Blob[]) {
  return {
    schemaVersion: 2,
    mediaType: `${MEDIA}.manifest.v1+json`,
    config: { mediaType: `${MEDIA}.config.v1+json`, ...config },
    layers: chain.map((layer) => ({ mediaType: `${MEDIA}.layer.v1.tar`, ...layer })),
  };
}

function indexOf({ reference, aliases = [] }: Image, manifest: Blob) {
  const platform = { architecture: ARCHITECTURES[Deno.build.arch], os: "linux" };
  const manifests = [reference, ...aliases].map((name) => {
    // containerd takes the whole name from its own annotation. The other annotation is the specification's.
    const tag = name.slice(name.lastIndexOf(":") + 1);
    const annotations = { "io.containerd.image.name": name, "org.opencontainers.image.ref.name": tag };
    return { mediaType: `${MEDIA}.manifest.v1+json`, ...manifest, platform, annotations };
  });
  return { schemaVersion: 2, mediaType: `${MEDIA}.index.v1+json`, manifests };
}

function inputsOfImage(root: string, image: Image): string {
  const { content, ...rest } = image;
  return digestOf(JSON.stringify([rest, PATH, content.map(({ name }) => name), layerInputs(root, image)]));
}

/** The inputs of each layer of an image. */
function layerInputs(root: string, { content }: Image): string[] {
  const inputs: string[] = [];
  for (const layer of content) inputs.push(inputsOf(root, layer, [...inputs]));
  return inputs;
}

function notePath(store: BlobStore, name: ImageName): string {
  return `${store.folder}/${name}.json`;
}

/** Removes layers that no archive of the folder has any more. */
export async function removeUnusedLayers(names: readonly ImageName[], store: BlobStore): Promise<void> {
  const used = new Set<string>();
  for (const name of names) {
    try {
      const note: Note = JSON.parse(Deno.readTextFileSync(notePath(store, name)));
      for (const digest of note.blobs) used.add(digest);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound || error instanceof SyntaxError)) throw error;
    }
  }
  await store.keepOnly(used);
}
