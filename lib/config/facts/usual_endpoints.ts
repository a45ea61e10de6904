/**
 * Endpoints of slices, read without a schema where they are written as orchestrators write them: a mesh has tens of
 * thousands, and the schema takes six times as long for each.
 *
 * @module
 */
import type { EndpointData } from "./service_data.ts";

/** The fields of an endpoint that are read, none of which is known to be right. */
interface WrittenEndpoint {
  readonly addresses?: unknown;
  readonly conditions?: unknown;
  readonly nodeName?: unknown;
  readonly zone?: unknown;
  readonly targetRef?: unknown;
}

/** Fields of which each may be left out. */
type Fields = Readonly<Record<string, unknown>>;

/** The endpoints; undefined where one is written otherwise than usual, so that the schema reads it, or says what is wrong. */
export function usualEndpoints(written: unknown): readonly EndpointData[] | undefined {
  if (!Array.isArray(written)) return undefined;
  const found: EndpointData[] = [];
  for (const one of written) {
    const read = usualEndpoint(one);
    if (read === undefined) return undefined;
    found.push(read);
  }
  return found;
}

function usualEndpoint(written: unknown): EndpointData | undefined {
  if (!isFields(written)) return undefined;
  const { addresses, conditions = NO_FIELDS, nodeName, zone, targetRef = NO_FIELDS }: WrittenEndpoint = written;
  if (!areTexts(addresses) || !isFields(conditions) || !isFields(targetRef)) return undefined;
  const { ready, serving, terminating } = conditions;
  const { kind = "", name = "" } = targetRef;
  if (!maySay(ready) || !maySay(serving) || !maySay(terminating)) return undefined;
  if (!mayName(nodeName) || !mayName(zone) || typeof kind !== "string" || typeof name !== "string") return undefined;
  return {
    addresses,
    // Endpoints without that field are ready.
    ready: ready ?? true,
    ...(serving === undefined ? {} : { serving }),
    ...(terminating === undefined ? {} : { terminating }),
    ...(nodeName === undefined ? {} : { nodeName }),
    ...(zone === undefined ? {} : { zone }),
    ...(kind === "Pod" && name !== "" ? { pod: name } : {}),
  };
}

const NO_FIELDS: Fields = Object.freeze({});

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function areTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "string");
}

function maySay(value: unknown): value is boolean | undefined {
  return value === undefined || typeof value === "boolean";
}

function mayName(value: unknown): value is string | undefined {
  return value === undefined || typeof value === "string";
}
