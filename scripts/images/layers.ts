/**
 * Layers as tar files: the same content gives the same bytes, because owners, times and order are fixed.
 *
 * Permissions: env (ENVOY, XDG_CACHE_HOME, HOME), read, write (the store's folder), run (tar, ln, gcc, and the programs of `record.ts`).
 *
 * @module
 */
import { builtProgram } from "../orchestrator/binaries.ts";
import { command } from "../setup/command.ts";
import { type Compiled, type Copied, ENVOY, type Layer, type Linked, type Recorded, RUNTIME } from "./description.ts";
import { recordRun } from "./record.ts";
import { type Blob, type BlobStore, digestOf } from "./store.ts";

/** Changes whenever the same inputs give other bytes. */
const RECIPE = 1;

/** Larger files, such as the runtime, are told apart by size and time of change; smaller files by content. Bytes. */
const LARGE = 16 * 1024 * 1024;

/** A file or link of a layer, with absolute paths. */
type Entry = { readonly to: string; readonly from: string; readonly mode: number } | Linked | Compiled | Recorded;

/**
 * A text that stands for the inputs of a layer: equal inputs give equal bytes. The bytes of a {@linkcode Recorded} layer
 * differ from run to run, so such a layer is made once for the same inputs.
 *
 * @param below The inputs of the layers below.
 */
export function inputsOf(root: string, layer: Layer, below: readonly string[]): string {
  const states = entriesOf(root, layer).map((entry) => {
    if ("from" in entry) return [entry.to, entry.mode, stateOf(entry.from)];
    if ("run" in entry) return [entry, below];
    return "source" in entry ? [entry, stateOf(`${root}${entry.source}`)] : [entry];
  });
  return digestOf(JSON.stringify([RECIPE, layer.name, states])).slice("sha256:".length);
}

/**
 * Makes a layer's tar file, unless the store has the file.
 *
 * @param below Paths of the tar files of the layers below.
 */
export async function makeLayer(
  root: string,
  layer: Layer,
  inputs: string,
  below: readonly string[],
  store: BlobStore,
): Promise<Blob> {
  const found = store.find(inputs);
  if (found !== undefined) return found;
  const stage = store.unfinished("stage");
  await Deno.mkdir(stage, { recursive: true });
  const names: string[] = [];
  for (const entry of entriesOf(root, layer)) names.push(...await place(root, stage, entry, below, store));
  const file = store.unfinished("layer");
  await Deno.writeTextFile(`${stage}.names`, names.toSorted().map((name) => `${name}\0`).join(""));
  const same = ["--owner=0", "--group=0", "--numeric-owner", "--mtime=@0", "--format=gnu", "--no-recursion"];
  const listed = ["--null", "--verbatim-files-from", `--files-from=${stage}.names`];
  await command("tar", ["--create", ...same, `--file=${file}`, "--directory", stage, ...listed], "/");
  await Deno.remove(stage, { recursive: true });
  await Deno.remove(`${stage}.names`);
  return await store.take(file, inputs);
}

/** Puts an entry into the stage. Returns the paths in the stage. */
async function place(
  root: string,
  stage: string,
  entry: Entry,
  below: readonly string[],
  store: BlobStore,
): Promise<string[]> {
  if ("run" in entry) return await recordRun(entry, below, store.unfinished("room"), stage);
  const path = `${stage}${entry.to}`;
  await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
  if ("target" in entry) await command("ln", ["-s", entry.target, path], "/");
  else if ("source" in entry) {
    await command("gcc", ["-O2", "-static", "-s", "-Wl,--build-id=none", "-o", path, `${root}${entry.source}`], "/");
    await Deno.chmod(path, 0o755);
  } else {
    await Deno.copyFile(entry.from, path);
    await Deno.chmod(path, entry.mode);
  }
  return [entry.to.slice(1)];
}

function entriesOf(root: string, layer: Layer): Entry[] {
  return layer.files.flatMap((file): Entry[] => "from" in file ? copiesOf(placeOf(root, file.from), file.to) : [file]);
}

function placeOf(root: string, from: Copied["from"]): string {
  if (from === RUNTIME) return Deno.execPath();
  if (typeof from !== "string") {
    const path = builtProgram(from.program);
    if (path === undefined) throw new Error(`${from.program} is not built: deno task orchestrator ${from.program}`);
    return path;
  }
  if (from === ENVOY) return Deno.env.get("ENVOY") ?? `${root}.cache/envoy/envoy/_bin/envoy`;
  return `${root}${from}`;
}

/** The files of a path, by name. */
function copiesOf(from: string, to: string): { to: string; from: string; mode: number }[] {
  const { isDirectory, mode } = Deno.statSync(from);
  if (!isDirectory) return [{ from, to, mode: ((mode ?? 0) & 0o100) === 0 ? 0o644 : 0o755 }];
  const names = [...Deno.readDirSync(from)].map(({ name }) => name).sort();
  return names.flatMap((name) => copiesOf(`${from}/${name}`, `${to}/${name}`));
}

/** Tells states of a file apart. */
function stateOf(path: string): unknown {
  const { size, mtime } = Deno.statSync(path);
  return size > LARGE ? [path, size, mtime?.getTime()] : digestOf(Deno.readFileSync(path));
}
