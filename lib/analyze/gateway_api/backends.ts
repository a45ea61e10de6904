/**
 * Backends of routes that cannot be used. Without a ReferenceGrant, the finding does not tell whether the other namespace
 * has the backend.
 *
 * @module
 */
import { type WrittenBackend, writtenBackends } from "../../gateway_api/attach/backends.ts";
import { type ApiRoute, type ResolvedBackend, ROUTE_KINDS, type RouteKind } from "../../gateway_api/attach/types.ts";
import type { Severity } from "../../finding/finding.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import { severityOfAbsence } from "../reader/absence.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** An analyzer for each kind of routes. */
export const ROUTE_BACKENDS: readonly Analyzer<RouteKind>[] = ROUTE_KINDS.map((kind) => ({
  kind,
  reports: ["unusable-backend"],
  analyze: (object, read, report) => {
    const { gatewayApi } = read;
    if (gatewayApi === undefined) return;
    const route = object as ApiRoute;
    const said = new Set<string>();
    const writtenRules = writtenBackends(route);
    for (const { resolved } of gatewayApi.route(route.key)) {
      for (const [rule, { backends, mirrors }] of resolved.rules.entries()) {
        const written = writtenRules[rule] ?? { backends: [], mirrors: [] };
        const look = (list: readonly ResolvedBackend[], of: readonly WrittenBackend[]) => {
          for (const [at, backend] of list.entries()) {
            const one = of[at];
            if (backend.host !== undefined || one === undefined || said.has(one.field)) continue;
            said.add(one.field);
            unusable(one, backend, route, read, report);
          }
        };
        look(backends, written.backends);
        look(mirrors, written.mirrors);
      }
    }
  },
}));

type UnusableBackend = Extract<ResolvedBackend, { readonly host?: undefined }>;

function unusable(
  { ref: { kind, namespace: written, name } }: WrittenBackend,
  { reason, fault: { field, value, expected } }: UnusableBackend,
  { meta: { namespace: own } }: ApiRoute,
  read: AnalysisReader,
  report: ReportMistake,
): void {
  const namespace = written ?? own;
  const say = (severity: Severity) => report(severity, "unusable-backend", { field: `spec.${field}`, value, expected });
  if (reason === "RefNotPermitted") {
    // The grant belongs to the other namespace, whose objects may be in another repository.
    return say(severityOfAbsence(read, read.objectsIn("ReferenceGrant", namespace).length > 0));
  }
  if (reason !== "BackendNotFound" || !field.endsWith(".name")) return say("error");
  const isPool = kind === "InferencePool";
  if (!isPool && read.settings.assumeServices) return;
  if (read.isRefused(isPool ? kind : "Service", namespace, name)) return;
  say(severityOfAbsence(read, namespace === own));
}
