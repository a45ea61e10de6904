/**
 * Metrics of application, agent and Envoy in one page: a scraper is sent to the agent, and the agent to the application
 * (`lib/agent/scrape/application_scrape.ts`).
 *
 * @module
 */

/** Variable of the proxy that says where the application's metrics are. */
export const METRICS = "MESH_METRICS_ANNOTATIONS";

const SCRAPE = "prometheus.io/scrape";
const PATH = "prometheus.io/path";
const PORT = "prometheus.io/port";
/** The agent's page. */
const MERGED = "/stats/prometheus";

/** Annotations for the scraper, and the value of the variable; undefined: there is nothing to scrape but the proxy. */
export interface MergedMetrics {
  readonly annotations: Readonly<Record<string, string>>;
  readonly variable: string | undefined;
}

/**
 * Where metrics are scraped after injection; undefined: the user wants none.
 *
 * @param annotations As the pod has them.
 * @param before Value of the variable from an earlier injection.
 */
export function mergedMetrics(
  annotations: Readonly<Record<string, string>>,
  statusPort: number,
  before: string | undefined,
): MergedMetrics | undefined {
  const { [SCRAPE]: scrape, [PATH]: path, [PORT]: port } = annotations;
  if (scrape === "false") return undefined;
  const own = { [SCRAPE]: "true", [PATH]: MERGED, [PORT]: String(statusPort) };
  if (port === String(statusPort) && path === MERGED) return { annotations: own, variable: before };
  const given = { ...(scrape && { scrape }), ...(path && { path }), ...(port && { port }) };
  const variable = Object.keys(given).length === 0 ? undefined : JSON.stringify(given);
  return { annotations: own, variable };
}
