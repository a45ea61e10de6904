/**
 * Names of images: `oci://registry:port/repository:tag@sha256:digest`.
 *
 * @module
 */
import { FetchFault } from "./fetch_fault.ts";

export interface ImageName {
  /** `host` or `host:port` of the registry. */
  readonly registry: string;
  readonly repository: string;
  /** `latest` if the name has no tag. */
  readonly tag: string;
  /** SHA-256 of the manifest, hex. Undefined: the tag decides. */
  readonly digest: string | undefined;
}

/** Begin of the addresses of images. */
export const OCI = "oci://";
/** The registry behind `docker.io`. */
export const DOCKER_HUB = "registry-1.docker.io";

const DIGEST = /@sha256:([0-9a-f]{64})$/i;
const TAG = /^\w[\w.-]{0,127}$/;
const PATH = /^[a-z0-9](?:[a-z0-9._/-]*[a-z0-9])?$/;
/** A longer name cannot be an image's name: registries take 255 characters of a repository. */
const MAX_NAME = 1024;

/** Path, tag and digest of a name, after the registry. Undefined: the name has no path. */
function partsOf(name: string): { readonly path: string; readonly tag?: string; readonly digest?: string } | undefined {
  if (name.length > MAX_NAME) return undefined;
  const digest = DIGEST.exec(name)?.[1];
  const rest = digest === undefined ? name : name.slice(0, -"@sha256:".length - digest.length);
  const colon = rest.indexOf(":");
  const [path, tag] = colon < 0 ? [rest] : [rest.slice(0, colon), rest.slice(colon + 1)];
  if (!PATH.test(path!) || (tag !== undefined && !TAG.test(tag))) return undefined;
  return { path: path!, ...(tag !== undefined && { tag }), ...(digest !== undefined && { digest }) };
}

/**
 * Reads a name.
 * @throws {FetchFault} For another text.
 */
export function parseImageName(url: string): ImageName {
  const rest = url.startsWith(OCI) ? url.slice(OCI.length) : "";
  const slash = rest.indexOf("/");
  const first = slash < 0 ? "" : rest.slice(0, slash);
  // The rule of Docker: a first part without a dot and without a port is not a host.
  const isHost = /[.:]/.test(first) || first === "localhost";
  const { path = "", tag = "latest", digest } = partsOf(isHost ? rest.slice(slash + 1) : rest) ?? {};
  if (path === "" || (isHost && !URL.canParse(`https://${first}`))) {
    throw new FetchFault(`${JSON.stringify(url)}: expected oci://registry/repository:tag`, "manifest_failure");
  }
  const isHub = !isHost || first === "docker.io" || first === "index.docker.io";
  const repository = isHub && !path.includes("/") ? `library/${path}` : path;
  return { registry: isHub ? DOCKER_HUB : first, repository, tag, digest: digest?.toLowerCase() };
}
