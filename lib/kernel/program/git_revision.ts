/**
 * The commit of a clone, from git's own files: no program is started for it.
 *
 * @module
 */

/** Reads a text file; undefined where there is none, or none that may be read. */
export type ReadText = (path: string) => string | undefined;

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
