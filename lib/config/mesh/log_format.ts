/**
 * Checks the formats of access logs. Envoy refuses the whole listener because of an unreadable format.
 *
 * @module
 */
import { substitutionProblem } from "../validation/substitution.ts";
import type { JsonObject } from "../schema/json.ts";
import type { Findings } from "../../finding/findings.ts";
import type { ProviderLogFormat } from "./provider_schema.ts";
import type { MeshConfig } from "./types.ts";

/** Why a provider's format cannot be used; undefined: no reason. */
export function logFormatProblem({ text = "", labels = {} }: ProviderLogFormat): string | undefined {
  for (const part of [text, ...texts(labels)]) {
    // A command of an extension that comes with the format; the argument is like the argument of REQ.
    const problem = substitutionProblem(part.replaceAll("%REQ_WITHOUT_QUERY(", "%REQ("), "report");
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** The format of the mesh's own fields: a line, or fields for the encoding JSON; or why the format cannot be used. */
export function meshLogFormat(
  { accessLogFormat, accessLogEncoding }: Pick<MeshConfig, "accessLogFormat" | "accessLogEncoding">,
): ProviderLogFormat | { readonly problem: string } {
  if (!accessLogFormat) return {};
  const labels = accessLogEncoding === "JSON" ? parsedObject(accessLogFormat) : undefined;
  if (accessLogEncoding === "JSON" && labels === undefined) return { problem: "is not a JSON object" };
  const format = labels === undefined ? { text: accessLogFormat } : { labels };
  const problem = logFormatProblem(format);
  return problem === undefined ? format : { problem };
}

/** Warns of a format that proxies cannot read. */
export function checkMeshLogFormat(mesh: MeshConfig, report: Findings): void {
  const format = meshLogFormat(mesh);
  if (!("problem" in format)) return;
  const expected = `a format that proxies can read (${format.problem}); the default one is used`;
  report.warning("accessLogFormat", mesh.accessLogFormat, expected);
}

function parsedObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value as JsonObject : undefined;
  } catch {
    return undefined;
  }
}

/** All texts in a value, at any depth. */
function* texts(value: unknown): Iterable<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null) { for (const one of Object.values(value)) yield* texts(one); }
}
