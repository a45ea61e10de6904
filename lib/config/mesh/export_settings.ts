/**
 * Headers and times of reports to collectors. Envoy refuses the listener because of an unacceptable header or time, so
 * such a header is not sent, and the default replaces such a time.
 *
 * @module
 */
import { substitutionProblem } from "../validation/substitution.ts";
import { breaksLines, isHeaderName } from "../validation/values.ts";
import type { ExtensionProvider } from "./types.ts";
import type { ProviderHttpHeader } from "./provider_schema.ts";

/** How a report travels. */
export type ReportProtocol = "http" | "grpc";

/** Headers and time of one kind of a provider's reports. */
export interface WrittenExport {
  /** Field of the provider. */
  readonly at: string;
  readonly protocol: ReportProtocol;
  readonly timeout?: number | undefined;
  /** Name of the list of headers. */
  readonly list: string;
  readonly headers: readonly ProviderHttpHeader[];
}

/** All headers and times of a provider. */
export function writtenExports({ zipkin, opentelemetry }: ExtensionProvider): WrittenExport[] {
  const { http, grpc, dynatraceSampler } = opentelemetry ?? {};
  const sampler = dynatraceSampler?.httpService?.http;
  const ofHttp = (
    at: string,
    one: { readonly timeout?: number; readonly headers?: readonly ProviderHttpHeader[] },
  ) => ({
    ...{ at, protocol: "http" as const, list: "headers" },
    ...{ timeout: one.timeout, headers: one.headers ?? [] },
  });
  return [
    ...(zipkin ? [ofHttp("zipkin", zipkin)] : []),
    ...(http ? [ofHttp("opentelemetry.http", http)] : []),
    ...(grpc
      ? [{
        ...{ at: "opentelemetry.grpc", protocol: "grpc" as const, list: "initialMetadata" },
        ...{ timeout: grpc.timeout, headers: grpc.initialMetadata ?? [] },
      }]
      : []),
    ...(sampler ? [ofHttp("opentelemetry.dynatraceSampler.httpService.http", sampler)] : []),
  ];
}

/** Envoy's longest time, ms. */
const LONGEST = 2 ** 32 * 1000;

/** Whether Envoy takes a time, ms. */
export function isReportTime(timeout: number): boolean {
  return timeout > 0 && timeout < LONGEST;
}

/** Why a header cannot be sent, as an expectation; undefined: the header can be sent, if its variable has a value. */
export function exportHeaderProblem(
  { name = "", value, envName }: ProviderHttpHeader,
  protocol: ReportProtocol,
): string | undefined {
  if (!isHeaderName(name)) return "a header with a name of letters, digits and -";
  if (protocol === "grpc" && name.toLowerCase() === "host") return "metadata of another name than host";
  if (value !== undefined && sentValue(value, "own", protocol) === undefined && value !== "") return SENDABLE[protocol];
  return value || envName ? undefined : "a header with a value or an envName";
}

/** The form of a value for sending. */
export const SENDABLE: Readonly<Record<ReportProtocol, string>> = {
  http: "a value without line breaks and NUL",
  grpc: "a value without line breaks, NUL and lone percent signs (Envoy cannot send these over gRPC)",
};

/**
 * The text for Envoy to send a value. Envoy reads texts with commands. An unreadable text, or a text from a variable,
 * is meant literally. Over gRPC Envoy also reads the commands, but sends the text literally.
 *
 * @returns Undefined: no such text.
 */
export function sentValue(value: string, from: "own" | "variable", protocol: ReportProtocol): string | undefined {
  if (value === "" || breaksLines(value)) return undefined;
  const isReadable = substitutionProblem(value, "header") === undefined;
  if (protocol === "grpc") return isReadable ? value : undefined;
  return isReadable && from === "own" ? value : value.replaceAll("%", "%%");
}
