/**
 * Finds the objects of the Gateway API whose progress to the proxies may have changed: after proxies have come, gone,
 * acknowledged or refused, and after reports of other servers.
 *
 * A look at all routes of a Gateway is worth its cost only when the Gateway has got its first proxy or lost its last.
 *
 * @module
 */
import type { ApiRoute } from "../../gateway_api/attach/types.ts";
import { isRequestRoute } from "../../gateway_api/groups/judged.ts";
import type { GatewayApiVerdicts, JudgedGateway } from "../../gateway_api/groups/verdicts.ts";
import type { ServerReport } from "../../status/report.ts";
import type { GatewayApiProgress } from "./gateway_progress.ts";
import type { GatewayProxies } from "./gateway_proxies.ts";
import type { MeshRouteRows } from "./mesh_route_rows.ts";

export interface ProgressWatchParts {
  readonly verdicts: Pick<GatewayApiVerdicts, "judgedGateways" | "judgedMeshRoutes">;
  readonly meshRoutes: Pick<MeshRouteRows, "revision" | "take">;
  readonly progress: GatewayApiProgress;
  readonly proxies: GatewayProxies;
  /** Changes with each event of a proxy. */
  readonly revision: () => number;
  /** Changes with each refusal. */
  readonly refusals: () => number;
  readonly reports: { readonly revision: number; readonly areEarly: boolean; all(): readonly ServerReport[] };
}

export class ProgressWatch {
  readonly #parts: ProgressWatchParts;
  #revision = "";
  #refusals = -1;
  #reports = -1;
  #refused = new Set<string>();
  /** Gateways with proxies. */
  #served = new Set<string>();
  /** The rows of other servers in a word, by id. */
  #rows = new Map<string, string>();

  constructor(parts: ProgressWatchParts) {
    this.#parts = parts;
  }

  /** Changes when proxies have done something. */
  get revision(): string {
    const { revision, reports, meshRoutes } = this.#parts;
    return `${revision()} ${reports.revision} ${reports.areEarly} ${meshRoutes.revision}`;
  }

  /** The keys of objects to look at; undefined: nothing has happened since the last call. */
  changed(): Set<string> | undefined {
    const { meshRoutes } = this.#parts;
    const now = this.revision;
    if (now === this.#revision) return undefined;
    this.#revision = now;
    const changed = [...this.#newlyServed(), ...this.#newlyRefused(), ...this.#newlyReported(), ...meshRoutes.take()];
    return new Set(changed);
  }

  *#newlyServed(): Iterable<string> {
    const { verdicts, progress } = this.#parts;
    const served = new Set<string>();
    for (const judged of verdicts.judgedGateways()) {
      const { key } = judged.view.gateway;
      if (progress.gateway(judged.view).total > 0) served.add(key);
      if (served.has(key) !== this.#served.has(key)) yield* keysOf(judged);
    }
    this.#served = served;
  }

  *#newlyRefused(): Iterable<string> {
    const { refusals, proxies, verdicts } = this.#parts;
    if (refusals() === this.#refusals) return;
    this.#refusals = refusals();
    const refused = proxies.refused();
    const changed = refused.symmetricDifference(this.#refused);
    this.#refused = refused;
    yield* changed;
    const isDerived = (key: string) => key.startsWith("Gateway/") || key.startsWith("VirtualService/");
    if (![...changed].some(isDerived)) return;
    // Only routes for connections are known by derived objects.
    for (const judged of verdicts.judgedGateways()) yield* keysOf(judged, (route) => !isRequestRoute(route));
  }

  *#newlyReported(): Iterable<string> {
    const { reports, verdicts } = this.#parts;
    if (reports.revision === this.#reports) return;
    this.#reports = reports.revision;
    const rows = new Map<string, string>();
    for (const report of reports.all()) {
      for (const [id, { generation, total, live, rejected }] of report) {
        const word = `${generation} ${total > 0} ${live < total} ${rejected > 0}`;
        rows.set(id, `${rows.get(id) ?? ""} ${word}`);
      }
    }
    const uids = new Set<string>();
    for (const id of new Set([...rows.keys(), ...this.#rows.keys()])) {
      if (rows.get(id) !== this.#rows.get(id)) uids.add(id.split(" ", 1)[0]!);
    }
    this.#rows = rows;
    if (uids.size === 0) return;
    const isReported = ({ origin }: ApiRoute) => origin.from === "api" && uids.has(origin.uid);
    for (const judged of verdicts.judgedGateways()) yield* keysOf(judged, isReported);
    for (const { route } of verdicts.judgedMeshRoutes()) if (isReported(route)) yield route.key;
  }
}

/** Keys of a Gateway, of its ListenerSets, and of its routes that pass. */
function* keysOf(
  { view, routes }: JudgedGateway,
  passes: (route: ApiRoute) => boolean = () => true,
): Iterable<string> {
  yield view.gateway.key;
  for (const { set } of view.sets) yield set.key;
  for (const { route } of routes) if (passes(route)) yield route.key;
}
