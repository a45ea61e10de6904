/**
 * Facts about this build.
 *
 * Permissions: read (`.git` of the tree); without it the commit is unknown.
 *
 * @module
 */
import { gitRevision } from "./git_revision.ts";

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
