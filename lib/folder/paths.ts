/**
 * The paths of the folder that are configuration, and the scan task of an event.
 *
 * @module
 */

/** The part of the folder that a deferred look must cover. */
export type ScanTask =
  /** A file or folder. */
  | { readonly kind: "path"; readonly path: string }
  /** Everything in a folder (empty: the root): a mount swapped its hidden data folder. */
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "nothing" };

/** Whether a file name is configuration: .yaml, .yml or .json, and no editor's temporary file. */
export function isConfigName(name: string): boolean {
  return /\.(?:yaml|yml|json)$/.test(name) && !isTemporaryName(name);
}

/** Hidden names, and backups and locks of editors. */
export function isTemporaryName(name: string): boolean {
  return name.startsWith(".") || name.startsWith("#") || name.endsWith("~");
}

/**
 * The scan task for an event about a path (relative to the folder, with `/`). Mounted config maps keep their files in
 * hidden folders that begin with two dots (`..data`) and swap these folders by a single rename. Everything beside such
 * a folder is then looked at again.
 */
export function scanTaskOf(path: string): ScanTask {
  if (path === "") return { kind: "folder", path: "" };
  const parts = path.split("/");
  const mount = parts.findIndex((part) => part.startsWith(".."));
  if (mount >= 0) return { kind: "folder", path: parts.slice(0, mount).join("/") };
  return parts.some(isTemporaryName) ? { kind: "nothing" } : { kind: "path", path };
}
