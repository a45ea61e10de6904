/**
 * The images' Debian: a minimal system by debootstrap with the packages that `containers/` install, made once a machine
 * and kept as a layer in the user's cache folder. Removing the folder has the base made anew, with newer packages.
 *
 * Permissions: env (XDG_CACHE_HOME, HOME), sys (uid), read, write (the cache folder), run (debootstrap, tar, rm).
 *
 * @module
 */
import { attempt, command } from "../setup/command.ts";
import { requiredTestCache, withLock } from "../test/cache.ts";
import { type Blob, BlobStore, digestOf } from "./store.ts";

/** The Debian release of the images in `containers/`. */
export const RELEASE = "trixie";

/** Packages beside those that every Debian has. */
export const BASE_PACKAGES = ["ca-certificates", "iproute2", "iptables", "nftables", "util-linux"] as const;

/** Folders whose content is left out: lists and packages of apt, and pages for people. */
const LEFT_OUT = [
  ...["var/lib/apt/lists", "var/cache/apt", "var/cache/debconf", "var/cache/ldconfig", "var/log", "tmp", "run", "dev"],
  ...["usr/share/doc", "usr/share/man", "usr/share/info", "usr/share/locale", "usr/share/lintian"],
];

/** Files by which debootstrap has copied the machine into the base. */
const MACHINE_FILES = ["etc/resolv.conf", "etc/hostname"];

/** The layer of the base, and the store with the layer. */
export interface Base {
  readonly layer: Blob;
  readonly store: BlobStore;
}

/**
 * The base, which is made if missing.
 *
 * @param say Receives a line before and a line after the work.
 * @throws {Error} With debootstrap's output, or if this machine cannot make the base.
 */
export async function debianBase(say: (line: string) => void, folder = `${requiredTestCache()}/images`): Promise<Base> {
  const store = new BlobStore(folder);
  const inputs = digestOf(JSON.stringify([RELEASE, BASE_PACKAGES, LEFT_OUT, MACHINE_FILES, Deno.build.arch]))
    .slice("sha256:".length);
  const found = store.find(inputs);
  if (found !== undefined) return { layer: found, store };
  return await withLock(folder, async () => {
    await store.prepare();
    return { layer: store.find(inputs) ?? await makeBase(store, inputs, say), store };
  });
}

async function makeBase(store: BlobStore, inputs: string, say: (line: string) => void): Promise<Blob> {
  if (Deno.uid() !== 0) throw new Error("the images' Debian is made by debootstrap, which needs root");
  const started = performance.now();
  say(`Debian ${RELEASE}: made by debootstrap, about a minute the first time ...`);
  const root = store.unfinished("root");
  const release = await bootstrap(root, say);
  for (const path of LEFT_OUT) await emptyFolder(`${root}/${path}`);
  for (const path of MACHINE_FILES) await Deno.writeTextFile(`${root}/${path}`, "");
  const file = store.unfinished("base");
  // Without extended headers for times, which would differ.
  const same = ["--sort=name", "--numeric-owner", "--mtime=@0", "--format=gnu"];
  await command("tar", ["--create", ...same, `--file=${file}`, "--directory", root, "."], "/");
  // Removed by a program: the folder has files of other users, and links that lead to nowhere here.
  await command("rm", ["-rf", "--one-file-system", root], "/");
  const blob = await store.take(file, inputs);
  say(`Debian ${release}: ready (${((performance.now() - started) / 1000).toFixed(0)} s)`);
  return blob;
}

/** Installs the release into a folder; where the mirror lacks the release, this machine's release. */
async function bootstrap(root: string, say: (line: string) => void): Promise<string> {
  const mirror = mirrorOf(aptSources());
  if (mirror === undefined) {
    throw new Error(
      "no Debian mirror in /etc/apt/sources.list or /etc/apt/sources.list.d: expected one for debootstrap",
    );
  }
  const include = `--include=${BASE_PACKAGES.join(",")}`;
  const words = (release: string) => ["--variant=minbase", include, release, root, mirror];
  const { success, all } = await attempt("debootstrap", words(RELEASE), "/");
  if (success) return RELEASE;
  const own = /^VERSION_CODENAME=(\w+)$/m.exec(Deno.readTextFileSync("/etc/os-release"))?.[1];
  if (own === undefined || own === RELEASE || !/Failed getting release file|No such script/.test(all)) {
    throw new Error(`debootstrap ${words(RELEASE).join(" ")} failed:\n${all.trimEnd()}`);
  }
  say(`Debian ${RELEASE} is not at ${mirror}: the images get this machine's Debian ${own} instead`);
  await command("rm", ["-rf", "--one-file-system", root], "/");
  await command("debootstrap", words(own), "/");
  return own;
}

/** The texts of apt's sources. */
function aptSources(): string[] {
  const folder = "/etc/apt/sources.list.d";
  try {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) =>
      /\.(list|sources)$/.test(name)
    );
    return ["/etc/apt/sources.list", ...names.sort().map((name) => `${folder}/${name}`)].map(textOf);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [textOf("/etc/apt/sources.list")];
    throw error;
  }
}

function textOf(path: string): string {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}

/**
 * The mirror of Debian itself among texts of apt's sources, in either format. Undefined if there is none. Sources of
 * security updates and of other vendors are not mirrors for debootstrap.
 */
export function mirrorOf(texts: readonly string[]): string | undefined {
  const addresses = texts.flatMap((text) => [
    ...text.matchAll(/^deb\s+(?:\[[^\]]*\]\s+)?(https?:\S+)/gm),
    ...text.matchAll(/^URIs:\s*(https?:\S+)/gm),
  ]).map(([, address = ""]) => address.replace(/\/$/, ""));
  return addresses.find((address) => /\/debian$/.test(new URL(address).pathname));
}

async function emptyFolder(path: string): Promise<void> {
  await command("sh", ["-c", 'if [ -d "$0" ]; then find "$0" -mindepth 1 -delete; fi', path], "/");
}
