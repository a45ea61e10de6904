/**
 * Manifests of images with a Wasm module, and the layer of the module.
 *
 * Formats: OCI image specification 1.1; Docker image manifest version 2, schema 2. A module is an own layer (artifact)
 * or the file `plugin.wasm` in the last layer (annotated `module.wasm.image/variant=compat`).
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../../../kernel/json/issues.ts";
import { FetchFault } from "./fetch_fault.ts";

const INDEX_TYPES = [
  "application/vnd.oci.image.index.v1+json",
  "application/vnd.docker.distribution.manifest.list.v2+json",
];

/** Supported types of manifests. */
export const MANIFEST_TYPES: readonly string[] = [
  "application/vnd.oci.image.manifest.v1+json",
  "application/vnd.docker.distribution.manifest.v2+json",
  ...INDEX_TYPES,
];

const MODULE_LAYER = "application/vnd.module.wasm.content.layer.v1+wasm";

const described = z.object({
  mediaType: z.string({ error: "a media type" }).default(""),
  digest: z.string({ error: "a digest" }).regex(
    /^sha256:[0-9a-f]{64}$/,
    "sha256: and 64 lower-case hexadecimal digits",
  ),
}, { error: "a descriptor" });
const listed = described.extend({
  platform: z.object({ architecture: z.string().default(""), os: z.string().default("") }).optional(),
});
const schema = z.object({
  mediaType: z.string({ error: "a media type" }).optional(),
  ["layers"]: z.array(described, { error: "a list of layers" }).optional(),
  manifests: z.array(listed, { error: "a list of manifests" }).optional(),
}, { error: "a manifest" });

/** Content of a manifest. */
export type ImageManifest =
  /** Manifests by platform: digests in hex, the best manifest first. */
  | { readonly type: "index"; readonly manifests: readonly string[] }
  /** Digest of the module's layer, and whether the layer is the module or an archive with the module. */
  | { readonly type: "image"; readonly layer: string; readonly isArchive: boolean };

/**
 * Reads a manifest.
 * @param of The manifest's name in errors.
 * @throws {FetchFault} When the text is not a manifest, or has no module.
 */
export function readManifest(text: string, contentType: string, of: string): ImageManifest {
  let data: unknown;
  try {
    data = JSON.parse(text);
  } catch {
    throw new FetchFault(`${of}: the manifest is not JSON`, "manifest_failure");
  }
  const { success, data: found, error } = schema.safeParse(data, { reportInput: true });
  if (!success) {
    throw new FetchFault(`${of}: ${issueLines(error.issues, "the manifest").join("; ")}`, "manifest_failure");
  }
  const { mediaType = contentType, ["layers"]: blobs = [], manifests } = found;
  if (INDEX_TYPES.includes(mediaType) || (manifests !== undefined && blobs.length === 0)) {
    return { type: "index", manifests: inOrder(manifests ?? [], of) };
  }
  const module = blobs.find((layer) => layer.mediaType === MODULE_LAYER);
  const layer = module ?? blobs.at(-1);
  if (layer === undefined) throw new FetchFault(`${of}: the image has no layer`, "manifest_failure");
  return { type: "image", layer: hex(layer.digest), isArchive: module === undefined };
}

/** A module for any platform first, then a module for the most common platform. */
function inOrder(manifests: readonly z.infer<typeof listed>[], of: string): string[] {
  const rank = ({ platform }: z.infer<typeof listed>) =>
    platform?.architecture === "wasm" ? 0 : platform === undefined ? 1 : platform.architecture === "amd64" ? 2 : 3;
  if (manifests.length === 0) throw new FetchFault(`${of}: the index has no manifests`, "manifest_failure");
  return manifests.toSorted((a, b) => rank(a) - rank(b)).map(({ digest }) => hex(digest));
}

function hex(digest: string): string {
  return digest.slice("sha256:".length);
}
