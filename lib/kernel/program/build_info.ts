/**
 * Version, commit and runtime of the running build.
 *
 * Permissions: read (`.git` of the tree). Without the permission, the commit is unknown.
 *
 * @module
 */

/** Reads a text file. Undefined for an absent or forbidden file. */
type ReadText = (path: string) => string | undefined;

/** A full name of a commit: SHA-1 or SHA-256. */
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * The checked-out commit of a clone, from git's own files: no program is started. Undefined outside a clone.
 *
 * @param root Path of the clone, without a slash at the end.
 */
export function gitRevision(root: string, read: ReadText): string | undefined {
  const folder = gitFolder(root, read);
  const head = read(`${folder}/HEAD`)?.trim();
  const ref = /^ref: (refs\/\S+)$/.exec(head ?? "")?.[1];
  if (ref === undefined) return commitIn(head);
  // A work tree shares the refs of its repository.
  const common = read(`${folder}/commondir`)?.trim();
  const shared = common === undefined ? folder : inside(folder, common);
  return commitIn(read(`${folder}/${ref}`)) ?? commitIn(read(`${shared}/${ref}`)) ??
    packed(read(`${shared}/packed-refs`), ref);
}

/** `.git` of a clone is the folder. `.git` of a work tree is a file that names the folder. */
function gitFolder(root: string, read: ReadText): string {
  const link = /^gitdir: (.+)$/m.exec(read(`${root}/.git`) ?? "")?.[1];
  return link === undefined ? `${root}/.git` : inside(root, link.trim());
}

function inside(folder: string, path: string): string {
  return path.startsWith("/") ? path : `${folder}/${path}`;
}

function commitIn(text: string | undefined): string | undefined {
  const commit = text?.trim() ?? "";
  return COMMIT.test(commit) ? commit : undefined;
}

function packed(text: string | undefined, ref: string): string | undefined {
  const line = text?.split("\n").find((one) => one.endsWith(` ${ref}`));
  return commitIn(line?.split(" ")[0]);
}

/** Facts about a build. `unknown` where the build does not tell. */
export interface BuildInfo {
  readonly version: string;
  /** Commit of the source. */
  readonly revision: string;
  /** Runtime with version, such as `deno2.8.3`. Tools made for Istio get the runtime under `golang_version`. */
  readonly runtime: string;
  /** `Clean` or `Modified`: whether the commit says everything. */
  readonly status: string;
  readonly tag: string;
}

/** Version of the product, as in the changelog. */
export const VERSION = "0.1.0";

/** Facts about the running build. The commit is the checked-out commit of the program's clone. */
export function buildInfo(): BuildInfo {
  return {
    version: VERSION,
    revision: ownRevision() ?? "unknown",
    runtime: `deno${Deno.version.deno}`,
    status: "unknown",
    tag: "unknown",
  };
}

/** Read once, at the start of a program: a later pull does not change the running code. */
const ownRevision = once((): string | undefined => {
  const root = new URL("../../..", import.meta.url);
  if (root.protocol !== "file:" || Deno.build.standalone) return undefined;
  return gitRevision(root.pathname.replace(/\/$/, ""), (path) => {
    // A library must not cause a permission prompt on the user's terminal.
    if (Deno.permissions.querySync({ name: "read", path }).state !== "granted") return undefined;
    try {
      return Deno.readTextFileSync(path);
    } catch {
      // Not a clone, a folder, or a forbidden file: in each case the commit is unknown.
      return undefined;
    }
  });
});

function once<T>(read: () => T): () => T {
  let value: { readonly is: T } | undefined;
  return () => (value ??= { is: read() }).is;
}
