/**
 * Metrics of application, agent and Envoy in one page: a scraper asks the agent, and the agent asks the application
 * (`lib/config/agent_texts/application_scrape.ts`).
 *
 * @module
 */
import { requestTarget } from "../../kernel/text/request_target.ts";
import type { Texts } from "../spelling.ts";

/** Variable of the proxy with the place of the application's metrics. */
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
  readonly warnings: readonly string[];
}

/**
 * A key in the form of a Prometheus label: `prometheus.io/port`, `prometheus.io.port` and `prometheus_io_port` become
 * the same label, so Prometheus accepts any of the spellings.
 */
function labelOf(key: string): string {
  return key.replace(/[^A-Za-z0-9_]/g, "_");
}

const USUAL: readonly string[] = [SCRAPE, PATH, PORT];
const LABELS: ReadonlySet<string> = new Set(USUAL.map(labelOf));

/** Annotations without scraping annotations in unusual spellings. */
export function withoutScraping(annotations: Texts = {}): Texts {
  return Object.fromEntries(
    Object.entries(annotations).filter(([key]) => USUAL.includes(key) || !LABELS.has(labelOf(key))),
  );
}

/** The text of an annotation, in the usual spelling or else in another spelling. */
function textOf(annotations: Texts, key: string): string | undefined {
  if (Object.hasOwn(annotations, key)) return annotations[key];
  const other = Object.keys(annotations).find((one) => labelOf(one) === labelOf(key));
  return other === undefined ? undefined : annotations[other];
}

/** Values for false in Go. */
const NO = ["0", "f", "F", "false", "FALSE", "False"];

/**
 * Where metrics are scraped after injection; undefined: the user wants no metrics.
 *
 * @param annotations Annotations of the pod.
 * @param before Value of the variable from an earlier injection.
 */
export function mergedMetrics(
  annotations: Texts,
  statusPort: number,
  before: string | undefined,
): MergedMetrics | undefined {
  const [scrape, path, port] = [SCRAPE, PATH, PORT].map((key) => textOf(annotations, key)?.trim());
  if (scrape !== undefined && NO.includes(scrape)) return undefined;
  const own = { [SCRAPE]: "true", [PATH]: MERGED, [PORT]: String(statusPort) };
  // The annotations already name the agent: an earlier injection or a chart wrote them.
  if (port === String(statusPort)) return { annotations: own, variable: before, warnings: [] };
  const problem = applicationProblem(path, port);
  if (problem !== undefined) {
    return { annotations: own, variable: undefined, warnings: [`${problem}: only the proxy's metrics are served`] };
  }
  const given = { ...(scrape && { scrape }), ...(path && { path }), ...(port && { port }) };
  const variable = Object.keys(given).length === 0 ? undefined : JSON.stringify(given);
  return { annotations: own, variable, warnings: [] };
}

/** Why the agent could not scrape the application; undefined: there is no problem. */
function applicationProblem(path: string | undefined, port: string | undefined): string | undefined {
  if (port && !isPort(port)) {
    return `annotation ${PORT}: got ${JSON.stringify(port.slice(0, 120))}, expected a port number from 1 to 65535`;
  }
  if (path && requestTarget(path) === undefined) {
    return `annotation ${PATH}: got ${JSON.stringify(path.slice(0, 120))}, expected the path of a URL`;
  }
  return undefined;
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65535;
}
