/**
 * The questions to Prometheus, in its query language: rates of the standard metric of requests.
 *
 * @module
 */

/** Seconds over which rates are measured: several scrapes, also with the usual interval of a minute. */
export const RATE_WINDOW = 300;

/** Most pairs of ends in an answer, the busiest first. */
export const MAX_PAIRS = 2000;

/** Answers that count as errors: no response or a server's error, and gRPC's statuses of a failing server. */
const FAILED_CODES = `response_code=~"0|5.."`;
const FAILED_CALLS = `response_code!~"0|5..",grpc_response_status=~"2|4|12|13|14|15"`;

/** Labels that tell the ends apart: of the whole mesh by namespace, and of an opened namespace. */
const NAMESPACES = ["source_workload_namespace", "destination_service_namespace"];
const WORKLOADS = [...NAMESPACES, "source_workload", "source_principal", "destination_service"];

/** The two questions about the traffic of the mesh, or of a namespace. */
export function trafficQueries(opened: string | undefined): { readonly requests: string; readonly errors: string } {
  const labels = opened === undefined ? NAMESPACES : WORKLOADS;
  const scopes = opened === undefined ? [""] : [
    `destination_service_namespace=${JSON.stringify(opened)}`,
    `destination_service_namespace!=${JSON.stringify(opened)},source_workload_namespace=${JSON.stringify(opened)}`,
  ];
  const failures = [FAILED_CODES, FAILED_CALLS];
  return {
    requests: ratesOf(scopes, labels),
    errors: ratesOf(scopes.flatMap((scope) => failures.map((one) => scope === "" ? one : `${scope},${one}`)), labels),
  };
}

/**
 * The sum of the rates of disjoint sets of series. Both proxies of a request count it, so the larger of the two counts is
 * taken: a caller or a service without a proxy leaves a single count.
 */
function ratesOf(selectors: readonly string[], labels: readonly string[]): string {
  const rates = selectors.map((one) => `rate(istio_requests_total{${one}}[${RATE_WINDOW}s])`).join(" or ");
  const by = labels.join(",");
  return `topk(${MAX_PAIRS},max by(${by})(sum by(reporter,${by})(${rates}))>0)`;
}
