/**
 * Names of images: `oci://registry:port/repository:tag@sha256:digest`.
 *
 * @module
 */
import { FetchFault } from "./fetch_fault.ts";

/** A name. */
export interface ImageName {
  /** `host` or `host:port` of the registry. */
  readonly registry: string;
  readonly repository: string;
  /** `latest` when the name says none. */
  readonly tag: string;
  /** SHA-256 of the manifest, hex; undefined: the tag says which one it is. */
  readonly digest: string | undefined;
}

/** Begin of the addresses of images. */
export const OCI = "oci://";
/** The registry that `docker.io` stands for. */
export const DOCKER_HUB = "registry-1.docker.io";

const FORM =
  /^(?<path>[a-z0-9]+(?:[._:[\]/-]+[a-z0-9]+)*?)(?::(?<tag>\w[\w.-]{0,127}))?(?:@sha256:(?<digest>[0-9a-f]{64}))?$/i;

/**
 * Reads a name.
 *
 * @throws {FetchFault} when it is none
 */
export function parseImageName(url: string): ImageName {
  const rest = url.startsWith(OCI) ? url.slice(OCI.length) : "";
  const slash = rest.indexOf("/");
  const first = slash < 0 ? "" : rest.slice(0, slash);
  // As Docker reads them: a part without a dot and a port is no host.
  const isHost = /[.:]/.test(first) || first === "localhost";
  const { path = "", tag = "latest", digest } = FORM.exec(isHost ? rest.slice(slash + 1) : rest)?.groups ?? {};
  if (path === "" || /[A-Z:[\]]/.test(path) || (isHost && !URL.canParse(`https://${first}`))) {
    throw new FetchFault(`${JSON.stringify(url)}: expected oci://registry/repository:tag`, "manifest_failure");
  }
  const isHub = !isHost || first === "docker.io" || first === "index.docker.io";
  const repository = isHub && !path.includes("/") ? `library/${path}` : path;
  return { registry: isHub ? DOCKER_HUB : first, repository, tag, digest: digest?.toLowerCase() };
}
