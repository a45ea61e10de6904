/**
 * Facts about this build.
 *
 * Permissions: read (`.git` of the tree); without it the commit is unknown.
 *
 * @module
 */

// The commit of a clone, from git's own files: no program is started for it.

/** Reads a text file; undefined where there is none, or none that may be read. */
type ReadText = (path: string) => string | undefined;

/** A full name of a commit: SHA-1 or SHA-256. */
const COMMIT = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;

/**
 * The commit that is checked out below a folder; undefined where it is no clone.
 *
 * @param root Without a slash at the end.
 */
export function gitRevision(root: string, read: ReadText): string | undefined {
  const folder = gitFolder(root, read);
  const head = read(`${folder}/HEAD`)?.trim();
  const ref = /^ref: (refs\/\S+)$/.exec(head ?? "")?.[1];
  if (ref === undefined) return commitIn(head);
  // The refs of a work tree lie where those of its repository do.
  const common = read(`${folder}/commondir`)?.trim();
  const shared = common === undefined ? folder : inside(folder, common);
  return commitIn(read(`${folder}/${ref}`)) ?? commitIn(read(`${shared}/${ref}`)) ??
    packed(read(`${shared}/packed-refs`), ref);
}

/** `.git` of a clone is the folder itself; of a work tree a file that says where it is. */
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

/** Facts about a build; `unknown` where the build did not say. */
export interface BuildInfo {
  readonly version: string;
  /** Commit it was built from. */
  readonly revision: string;
  /** Runtime and its version, such as `deno2.8.3`. Tools made for Istio look for it under `golang_version`. */
  readonly runtime: string;
  /** `Clean` or `Modified`: whether the commit says everything. */
  readonly status: string;
  readonly tag: string;
}

/** Version of the product, as in the changelog. */
export const VERSION = "0.1.0";

/** Facts about the running build. The commit is that of the clone that the program runs from. */
export function buildInfo(): BuildInfo {
  return {
    version: VERSION,
    revision: ownRevision() ?? "unknown",
    runtime: `deno${Deno.version.deno}`,
    status: "unknown",
    tag: "unknown",
  };
}

/** Read once, when a program starts: a later pull does not change what runs. */
const ownRevision = once((): string | undefined => {
  const root = new URL("../../..", import.meta.url);
  if (root.protocol !== "file:" || Deno.build.standalone) return undefined;
  return gitRevision(root.pathname.replace(/\/$/, ""), (path) => {
    // A library must not make its user's terminal ask for this.
    if (Deno.permissions.querySync({ name: "read", path }).state !== "granted") return undefined;
    try {
      return Deno.readTextFileSync(path);
    } catch {
      // No clone, a folder, or nothing that this program may read: each means that the commit is not known.
      return undefined;
    }
  });
});

function once<T>(read: () => T): () => T {
  let value: { readonly is: T } | undefined;
  return () => (value ??= { is: read() }).is;
}
