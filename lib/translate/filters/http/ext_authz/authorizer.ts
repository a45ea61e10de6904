/**
 * External authorizers: extension providers of the mesh configuration, named in CUSTOM policies.
 *
 * @module
 */
import { StatusCode } from "../../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../../proto/gen/types.ts";
import type { ExtAuthzGrpcProvider, ExtAuthzHttpProvider } from "../../../../config/mesh/provider_schema.ts";
import { providerCluster } from "../../../destination/provider_service.ts";
import type { Reader } from "../../../reader/reader.ts";
import { breaksLines } from "../../../../config/validation/values.ts";

/** An authorizer that can be asked. */
export interface Authorizer {
  readonly hostname: string;
  readonly cluster: string;
  readonly timeout: number;
  readonly http?: ExtAuthzHttpProvider;
  readonly grpc?: ExtAuthzGrpcProvider;
}

/** Why an authorizer cannot be asked. */
export interface NoAuthorizer {
  /** Follows the provider's name. */
  readonly why: string;
}

/** Default time limit of a check, ms (Istio's value). */
const DEFAULT_TIMEOUT_MS = 600_000;

/** Statuses in Envoy's enumeration. Envoy refuses a listener with any other status. */
const STATUSES: ReadonlySet<number> = new Set(Object.values(StatusCode));

/** The authorizer of a provider's name. */
export function authorizer(read: Reader, name: string): Authorizer | NoAuthorizer {
  const providers = read.mesh().extensionProviders ?? [];
  const found = providers.find((one) => one.name === name);
  if (!found) return { why: "is not among the extensionProviders of the mesh configuration" };
  const { proxyExtAuthzHttp: http, proxyExtAuthzGrpc: grpc } = found;
  const settings = http ?? grpc;
  if (!settings) return { why: "is not an external authorizer (envoyExtAuthzHttp or envoyExtAuthzGrpc)" };
  const why = commonProblem(settings) ?? (http && httpProblem(http));
  if (why !== undefined) return { why };
  const service = providerCluster(read, settings);
  if ("why" in service) return service;
  return { ...service, timeout: settings.timeout ?? DEFAULT_TIMEOUT_MS, ...(http ? { http } : grpc ? { grpc } : {}) };
}

function commonProblem(settings: ExtAuthzGrpcProvider): string | undefined {
  const { statusOnError, timeout = 1, includeRequestBodyInCheck: body } = settings;
  if (statusOnError !== undefined && !STATUSES.has(Number(statusOnError))) {
    return `has statusOnError ${statusOnError}, which is not an HTTP status of Envoy`;
  }
  if (timeout <= 0 || timeout >= 2 ** 32 * 1000) return "has a timeout that is not above 0";
  const bytes = body?.maxRequestBytes ?? 0;
  return body && bytes <= 0 ? "has includeRequestBodyInCheck without maxRequestBytes above 0" : undefined;
}

/** Lists of header names of an HTTP authorizer. Names may have a wildcard. */
const HEADER_LISTS = [
  "includeRequestHeadersInCheck",
  "includeHeadersInCheck",
  "headersToUpstreamOnAllow",
  "headersToDownstreamOnDeny",
  "headersToDownstreamOnAllow",
] as const satisfies readonly (keyof ExtAuthzHttpProvider)[];

function httpProblem(settings: ExtAuthzHttpProvider): string | undefined {
  const { pathPrefix = "/", includeAdditionalHeadersInCheck = {} } = settings;
  if (!pathPrefix.startsWith("/") || breaksLines(pathPrefix)) return "has a pathPrefix that does not start with /";
  const alone = HEADER_LISTS.find((list) => settings[list]?.some((name) => name === "*" || name === ""));
  if (alone !== undefined) {
    return `has ${alone} with "*" alone or nothing, where a beginning or end of a name is needed`;
  }
  const wrong = Object.entries(includeAdditionalHeadersInCheck).find(([name, value]) =>
    name === "" || breaksLines(name) || breaksLines(value)
  );
  return wrong && `has an invalid header name or value in includeAdditionalHeadersInCheck: ${wrong[0]}`;
}

/** The HTTP status for requests whose check fails. */
export function statusOnError({ statusOnError }: ExtAuthzGrpcProvider): envoy.type.v3.HttpStatus | undefined {
  // Checked against the list above.
  return statusOnError === undefined ? undefined : { code: Number(statusOnError) as envoy.type.v3.StatusCode };
}
