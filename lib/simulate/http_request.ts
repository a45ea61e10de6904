/**
 * An HTTP request as the router sees it: normalised by the connection manager.
 *
 * @module
 */
import type { envoy } from "../../proto/gen/types.ts";
import { type HeaderValues, headerValues } from "./header_values.ts";
import type { SimulatedRequest } from "./types.ts";

type HttpConnectionManager = envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager;

/** A request before the router. */
export interface NormalizedRequest {
  readonly method: string;
  /** Without port where the connection manager strips it. */
  readonly authority: string;
  /** Path with query. */
  readonly path: string;
  readonly scheme: "http" | "https";
  /** Without pseudo headers. */
  readonly headers: HeaderValues;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** An answer of the connection manager itself, without a route. */
export interface LocalReply {
  readonly status: number;
  readonly location?: string;
  readonly why: string;
}

/** Values of `path_with_escaped_slashes_action`. */
const REJECT = 2;
const UNESCAPE_AND_REDIRECT = 3;
const UNESCAPE_AND_FORWARD = 4;

/** The request after normalisation, or the connection manager's answer. */
export function normalize(
  hcm: HttpConnectionManager,
  request: SimulatedRequest,
  encrypted: boolean,
): NormalizedRequest | LocalReply {
  const authority = request.host ?? "";
  if (authority === "") return { status: 400, why: "the request names no host" };
  const slashes = escapedSlashes(hcm, request.path ?? "/");
  if ("status" in slashes) return slashes;
  return {
    method: request.method ?? "GET",
    authority: stripPort(hcm, authority, request.destination.port),
    path: normalizePath(hcm, slashes.path),
    scheme: encrypted ? "https" : "http",
    headers: headerValues(request),
    metadata: request.metadata ?? {},
  };
}

/** The path without query and fragment. */
export function pathAlone(path: string): string {
  return path.replace(/[?#].*$/s, "");
}

/** The host without its port. */
export function hostAlone(authority: string): string {
  return authority.replace(/:\d+$/, "");
}

/** The values of a header or pseudo header, in the order of the request. Empty: the header is missing. */
export function valuesOf(request: NormalizedRequest, name: string): readonly string[] {
  switch (name.toLowerCase()) {
    case ":method":
      return [request.method];
    case ":authority":
    case "host":
      return [request.authority];
    case ":path":
      return [request.path];
    case ":scheme":
      return [request.scheme];
    default:
      return request.headers.get(name.toLowerCase()) ?? [];
  }
}

/** The first value of a header or pseudo header; undefined: the header is missing. */
export function headerOf(request: NormalizedRequest, name: string): string | undefined {
  return valuesOf(request, name)[0];
}

function escapedSlashes(hcm: HttpConnectionManager, path: string): { readonly path: string } | LocalReply {
  const action = hcm.path_with_escaped_slashes_action ?? 0;
  const alone = pathAlone(path);
  if (!/%2f|%5c/i.test(alone)) return { path };
  const plain = alone.replace(/%2f/gi, "/").replace(/%5c/gi, "\\") + path.slice(alone.length);
  if (action === REJECT) return { status: 400, why: "the path has escaped slashes" };
  if (action === UNESCAPE_AND_REDIRECT) return { status: 307, location: plain, why: "the path has escaped slashes" };
  return { path: action === UNESCAPE_AND_FORWARD ? plain : path };
}

function normalizePath(hcm: HttpConnectionManager, path: string): string {
  const alone = pathAlone(path);
  let out = alone;
  if (hcm.normalize_path?.value && alone.startsWith("/")) out = canonical(alone);
  if (hcm.merge_slashes) out = out.replace(/\/{2,}/g, "/");
  return out + path.slice(alone.length);
}

/** RFC 3986 normalisation: dot segments removed, backslashes turned, escaped unreserved characters plain. */
function canonical(path: string): string {
  const plain = path.replace(/%([0-9a-f]{2})/gi, (escaped, hex) => {
    const character = String.fromCharCode(parseInt(hex, 16));
    return /[\w.~-]/.test(character) ? character : escaped;
  }).replaceAll("\\", "/");
  const out: string[] = [];
  const segments = plain.split("/").slice(1);
  for (const [i, segment] of segments.entries()) {
    const last = i === segments.length - 1;
    if (segment === "..") out.pop();
    else if (segment !== ".") out.push(segment);
    if (last && (segment === "." || segment === "..")) out.push("");
  }
  return "/" + out.join("/");
}

function stripPort(hcm: HttpConnectionManager, authority: string, listenerPort: number): string {
  if (hcm.strip_any_host_port) return hostAlone(authority);
  if (hcm.strip_matching_host_port && authority.endsWith(`:${listenerPort}`)) return hostAlone(authority);
  return authority;
}
