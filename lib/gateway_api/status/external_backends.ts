/**
 * Status of XBackends: an entry for each Gateway that routes to the backend.
 *
 * @module
 */
import { GATEWAY_API_GROUP } from "../../config/spelling/spelling.ts";
import type { ExternalBackendView } from "../attach/external_backends.ts";
import { changedStatus } from "./change.ts";
import type { StatusJson } from "./conditions.ts";
import { type IsOurs, mergedEntries, type WantedEntry } from "./parents.ts";
import { byName, type PolicyGateway } from "./policies.ts";

/** What is reported about a backend. */
export interface ExternalBackendReport {
  readonly view: ExternalBackendView;
  /** Gateways with routes, in any order. */
  readonly gateways: readonly PolicyGateway[];
  readonly isOurs: IsOurs;
}

/** Most entries of a status. */
const MOST_PARENTS = 32;

/**
 * The new status of a backend; undefined: nothing to write.
 *
 * @param present The status as it was read.
 */
export function externalBackendStatus(
  { view: { backend, host, accepted, resolvedRefs }, gateways, isOurs }: ExternalBackendReport,
  present: StatusJson,
  now: string,
): StatusJson | undefined {
  const { namespace, generation = 0 } = backend.meta;
  const wanted = gateways.filter(({ hosts }) => hosts.has(host)).sort(byName).map((gateway): WantedEntry => ({
    ref: { group: GATEWAY_API_GROUP, kind: "Gateway", namespace: gateway.namespace, name: gateway.name },
    controller: gateway.controller,
    conditions: { Accepted: accepted, ResolvedRefs: resolvedRefs },
  }));
  const list = { field: "parentRef", most: MOST_PARENTS, namespace, isOurs } as const;
  const parents = mergedEntries(present["parents"], wanted, list, { generation, now });
  if (parents === undefined || (parents.length === 0 && present["parents"] === undefined)) return undefined;
  return changedStatus(present, { parents });
}
