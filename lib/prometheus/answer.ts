/**
 * Answers of Prometheus' HTTP API (`/api/v1/query`), as flows of traffic.
 *
 * @module
 */
import * as z from "zod";
import type { TrafficFlow } from "../graph/traffic.ts";
import { MAX_PAIRS } from "./query.ts";

/** Longest label: a host has at most 253 characters, an identity some more. */
const MAX_LABEL = 1024;

const VECTOR = z.object({
  status: z.literal("success"),
  data: z.object({
    resultType: z.literal("vector"),
    result: z.array(z.object({
      metric: z.record(z.string(), z.string().max(MAX_LABEL)),
      value: z.tuple([z.number(), z.string().max(100)]),
    })).max(MAX_PAIRS),
  }),
});

const REFUSAL = z.object({ status: z.literal("error"), error: z.string() });

type Vector = z.infer<typeof VECTOR>["data"]["result"];

/** Reads an answer. @throws {Error} with what is wrong */
export function readVector(text: string): Vector {
  const read = VECTOR.safeParse(parsed(text));
  if (read.success) return read.data.data.result;
  const [{ path, message }] = read.error.issues as [z.core.$ZodIssue];
  throw new Error(`${path.join(".") || "the answer"}: ${message}`);
}

/** Prometheus' own words about a refused query; undefined: the text has none. */
export function refusalText(text: string): string | undefined {
  try {
    return REFUSAL.safeParse(JSON.parse(text)).data?.error;
  } catch {
    // Another program than Prometheus has answered, or the text is cut.
    return undefined;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error("the answer: got a text that is not JSON, expected the JSON of Prometheus' API");
  }
}

/** The flows of both answers. */
export function flowsOf(requests: Vector, errors: Vector): readonly TrafficFlow[] {
  const failed = new Map(errors.map(({ metric, value }) => [endsKey(metric), rateOf(value)]));
  return requests.flatMap(({ metric, value }) => {
    const rate = rateOf(value);
    if (rate <= 0) return [];
    const label = (name: string) => known(metric[name]);
    const [, , , , account = ""] = identityParts(label("source_principal"));
    return [{
      from: { namespace: label("source_workload_namespace"), workload: label("source_workload"), account },
      to: { namespace: label("destination_service_namespace"), host: label("destination_service") },
      requests: rate,
      errors: failed.get(endsKey(metric)) ?? 0,
    }];
  });
}

/** The metrics say `unknown` where a value is missing. */
function known(text: string | undefined): string {
  return text === undefined || text === "unknown" ? "" : text;
}

/** Domain, `ns`, namespace, `sa`, account of `spiffe://DOMAIN/ns/NAMESPACE/sa/ACCOUNT`. */
function identityParts(principal: string): readonly string[] {
  return principal.startsWith("spiffe://") ? principal.slice("spiffe://".length).split("/") : [];
}

function endsKey(metric: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(metric).sort(([a], [b]) => a < b ? -1 : 1));
}

/** NaN and infinite values count as nothing. */
function rateOf([, text]: Vector[number]["value"]): number {
  const rate = Number(text);
  return Number.isFinite(rate) ? rate : 0;
}
