/**
 * Where the agent scrapes the application: the JSON of `MESH_METRICS_ANNOTATIONS`, written by injection from the
 * workload's annotations `prometheus.io/scrape`, `prometheus.io/path` and `prometheus.io/port`.
 *
 * @module
 */
import * as z from "zod";
import { issueLines } from "../../kernel/json/issues.ts";
import { requestTarget } from "../../kernel/text/request_target.ts";

const PORT = "a port number from 1 to 65535";
const text = z.string({ error: "a text" });
const ANNOTATIONS = z.object({
  scrape: z.union([text, z.boolean()], { error: '"true" or "false"' }).nullish(),
  path: text.nullish(),
  port: z.union([z.literal(""), z.coerce.number().int().min(1).max(65535)], { error: PORT }).nullish(),
}, { error: "an object with scrape, path and port" });

/** The address of the application's metrics, or the mistakes, a line each. */
export type ReadApplicationScrape = { readonly url: string | undefined } | { readonly faults: readonly string[] };

/**
 * Reads the value; an empty value names no application.
 *
 * @param statusPort port of the merged metrics. The application's port must differ, or a scrape would not end.
 */
export function readApplicationScrape(json: string, statusPort: number): ReadApplicationScrape {
  if (json === "") return { url: undefined };
  const variable = (line: string) => `variable MESH_METRICS_ANNOTATIONS: ${line}`;
  let tree: unknown;
  try {
    tree = JSON.parse(json);
  } catch (error) {
    return { faults: [variable(`expected JSON: ${(error as Error).message}`)] };
  }
  const { success, data, error } = ANNOTATIONS.safeParse(tree, { reportInput: true });
  if (!success) return { faults: issueLines(error.issues).map(variable) };
  if (String(data.scrape) === "false") return { url: undefined };
  const port = data.port || 80;
  if (port === statusPort) {
    const why = "another port than that of the agent, which would scrape itself (is prometheus.io/port the agent's?)";
    return { faults: [variable(`port: got ${port}, expected ${why}`)] };
  }
  const path = data.path || "/metrics";
  const target = requestTarget(path);
  return target === undefined
    ? { faults: [variable(`path: got ${JSON.stringify(path)}, expected the path of a URL`)] }
    : { url: `http://localhost:${port}${target}` };
}
