/**
 * Slices of endpoints in the usual spelling of orchestrators, read without a schema. A mesh has tens of thousands of
 * endpoints. For a slice of 100 endpoints zod takes 200 times as long, and the kinds' schema language 40 times (record
 * 40).
 *
 * @module
 */
import type { EndpointData, EndpointPortData, EndpointSliceData } from "./service_data.ts";
import {
  areTexts,
  eachUsual,
  isFields,
  isOptionalBoolean,
  isOptionalInteger,
  isOptionalText,
  NO_FIELDS,
} from "./usual_fields.ts";

/** Label with the name of the service of a slice. */
export const SERVICE_LABEL = "kubernetes.io/service-name";

/** The slice; undefined: the schema must read the slice, or report the mistakes. */
export function usualSlice(written: unknown): EndpointSliceData | undefined {
  if (!isFields(written) || !isFields(written["metadata"])) return undefined;
  const { metadata: { labels = NO_FIELDS }, addressType = "IPv4", endpoints = [], ports = [] } = written as {
    readonly [name: string]: unknown;
    readonly metadata: { readonly labels?: unknown };
  };
  if (!isFields(labels) || typeof addressType !== "string" || !Array.isArray(ports)) return undefined;
  const service = labels[SERVICE_LABEL] ?? "";
  const list = usualEndpoints(endpoints);
  const of = eachUsual(ports, usualPort);
  if (typeof service !== "string" || list === undefined || of === undefined) return undefined;
  return { service, addressType, endpoints: list, ports: of };
}

/** The endpoints; undefined: the schema must read the slice. */
export function usualEndpoints(written: unknown): readonly EndpointData[] | undefined {
  return Array.isArray(written) ? eachUsual(written, usualEndpoint) : undefined;
}

function usualPort(written: unknown): EndpointPortData | undefined {
  if (!isFields(written)) return undefined;
  const { name = "", port, protocol = "TCP", appProtocol } = written;
  if (typeof name !== "string" || typeof protocol !== "string") return undefined;
  if (!isOptionalInteger(port) || !isOptionalText(appProtocol)) return undefined;
  const read: { -readonly [K in keyof EndpointPortData]: EndpointPortData[K] } = { name, protocol };
  if (port !== undefined) read.port = port;
  if (appProtocol !== undefined) read.appProtocol = appProtocol;
  return read;
}

function usualEndpoint(written: unknown): EndpointData | undefined {
  if (!isFields(written)) return undefined;
  const { addresses, conditions = NO_FIELDS, nodeName, zone, targetRef = NO_FIELDS } = written;
  if (!areTexts(addresses) || addresses.length === 0 || !isFields(conditions) || !isFields(targetRef)) return undefined;
  const { ready, serving, terminating } = conditions;
  const { kind = "", name = "" } = targetRef;
  if (!isOptionalBoolean(ready) || !isOptionalBoolean(serving) || !isOptionalBoolean(terminating)) return undefined;
  if (!isOptionalText(nodeName) || !isOptionalText(zone) || typeof kind !== "string" || typeof name !== "string") {
    return undefined;
  }
  // Endpoints without this field are ready. Assignments, because spreads take three times as long.
  const read: { -readonly [K in keyof EndpointData]: EndpointData[K] } = { addresses, ready: ready ?? true };
  if (serving !== undefined) read.serving = serving;
  if (terminating !== undefined) read.terminating = terminating;
  if (nodeName !== undefined) read.nodeName = nodeName;
  if (zone !== undefined) read.zone = zone;
  if (kind === "Pod" && name !== "") read.pod = name;
  return read;
}
