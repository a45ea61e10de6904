/**
 * Fetches a module by its address: over HTTP, or from an image in a registry.
 *
 * Permissions: net (the servers).
 *
 * @module
 */
import type { ByteStream } from "./bounded_bytes.ts";
import { download, type DownloadRules } from "./download.ts";
import { FetchFault } from "./fetch_fault.ts";
import { type ImageName, OCI, parseImageName } from "./image_name.ts";
import { readManifest } from "./manifest.ts";
import { credentialsFor } from "./pull_secret.ts";
import { isTemporary, Repository } from "./registry.ts";
import { shownUrl } from "./shown_url.ts";
import { unpacked } from "./unpack.ts";

/** The module to fetch. */
export interface ModuleRequest {
  readonly url: string;
  /** A Docker configuration as JSON; undefined: no credentials. */
  readonly pullSecret: string | undefined;
}

/** A module that is ready to be read. */
export interface FetchedModule {
  /** Digests (hex) of an image, the image's own digest first. Empty: only the module's own digest counts. */
  readonly digests: readonly string[];
  /** The module, unpacked. The content is read once, and may throw {@linkcode FetchFault}. */
  content(): ByteStream;
}

/**
 * Begins a fetch.
 *
 * @throws {FetchFault} when there is no such module
 */
export function fetchModule(rules: DownloadRules, request: ModuleRequest, signal: AbortSignal): Promise<FetchedModule> {
  if (request.url.startsWith(OCI)) return fetchImage(rules, request, signal);
  if (/^https?:/.test(request.url)) return fetchFile(rules, request, signal);
  const error = new FetchFault(
    `${JSON.stringify(shownUrl(request.url))}: expected an address that begins with http://, https:// or oci://`,
    "download_failure",
  );
  return Promise.reject(error);
}

async function fetchFile(rules: DownloadRules, { url }: ModuleRequest, signal: AbortSignal): Promise<FetchedModule> {
  const answer = await download(rules, { url }, signal);
  if (answer.status !== 200) {
    answer.close();
    throw new FetchFault(
      `${shownUrl(url)}: status ${answer.status}, expected 200`,
      "download_failure",
      isTemporary(answer.status),
    );
  }
  return { digests: [], content: () => unpacked(answer.body, shownUrl(url)) };
}

async function fetchImage(
  rules: DownloadRules,
  { url, pullSecret }: ModuleRequest,
  signal: AbortSignal,
): Promise<FetchedModule> {
  const name = parseImageName(url);
  const credentials = pullSecret === undefined ? { type: "none" } as const : credentialsFor(name.registry, pullSecret);
  const repository = new Repository(rules, name, credentials, signal);
  try {
    return await findModule(repository, name, url);
  } catch (error) {
    // Until the module itself is requested, the missing part is the manifest.
    if (!(error instanceof FetchFault) || error.failure === "checksum_mismatched") throw error;
    throw new FetchFault(error.message, "manifest_failure", error.isTemporary);
  }
}

async function findModule(repository: Repository, name: ImageName, url: string): Promise<FetchedModule> {
  const digests: string[] = [];
  let reference = name.digest === undefined ? name.tag : `sha256:${name.digest}`;
  for (;;) {
    const { bytes, digest, mediaType } = await repository.manifest(reference);
    digests.unshift(digest);
    const manifest = readManifest(new TextDecoder().decode(bytes), mediaType, url);
    if (manifest.type === "image") {
      const { layer, isArchive } = manifest;
      return { digests, content: () => layerContent(repository, layer, isArchive, url) };
    }
    if (digests.length > 1) throw new FetchFault(`${url}: an index in an index`, "manifest_failure");
    reference = `sha256:${manifest.manifests[0]}`;
  }
}

async function* layerContent(
  repository: Repository,
  digest: string,
  isArchive: boolean,
  url: string,
): AsyncGenerator<Uint8Array> {
  const layer = await repository.layer(digest);
  yield* unpacked(layer, url, isArchive ? (path) => path.split("/").at(-1) === "plugin.wasm" : undefined);
}
