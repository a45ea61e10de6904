/**
 * VirtualServices for sidecars that no sidecar sees, because `exportTo` names nobody or every Sidecar omits the hosts.
 * Also VirtualServices that a Sidecar omits although the Sidecar imports the host's service.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { type HostImport, importsHost, importsService, parseImports } from "../../mesh/imports.ts";
import { effectiveExportTo } from "../../mesh/names.ts";
import { MESH_GATEWAY } from "../../mesh/sidecar_rules.ts";
import type { Analyzer, ReportMistake } from "../analyzer.ts";
import type { Audience } from "../reader/audience.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** A VirtualService as Sidecars import it. */
interface ImportableRoute {
  readonly namespace: string;
  /** The hosts as written, and their full names. */
  readonly hosts: readonly { readonly written: string; readonly full: string }[];
  readonly audience: Audience;
}

export const UNSEEN_ROUTES: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["unseen-route", "route-left-out"],
  analyze: ({ meta: { namespace }, spec: { gateways = [], hosts = [], exportTo } }, read, report) => {
    // The root of a delegate sees the delegate.
    if (hosts.length === 0 || (gateways.length > 0 && !gateways.includes(MESH_GATEWAY))) return;
    const audience = effectiveExportTo(exportTo, namespace, read.meshConfig.defaultVirtualServiceExportTo);
    if (audience[0] === "~") {
      const expected = "a namespace, . or *, since without one no sidecar gets the rules";
      report("error", "unseen-route", { field: "spec.exportTo", value: exportTo, expected });
      return;
    }
    const written = hosts.map((host) => ({ written: host, full: read.fullHost(host, namespace) }));
    const route: ImportableRoute = { namespace, hosts: written, audience };
    const hiding = hidingSidecars(route, read)?.slice(0, MOST_NAMED);
    if (hiding === undefined) return lookForLeftOut(route, read, report);
    report("error", "unseen-route", {
      field: "spec.hosts",
      value: hosts,
      expected: `a host that a Sidecar imports (${hiding.map(nameOf).join(", ")})`,
      others: hiding.map(({ key }) => key),
    });
  },
};

/** The most Sidecars named in a message. */
const MOST_NAMED = 5;

function nameOf({ meta: { namespace, name } }: SidecarObject): string {
  return `${namespace}/${name}`;
}

/** The Sidecars that hide a route from everybody; undefined: somebody sees the route. */
function hidingSidecars(route: ImportableRoute, read: AnalysisReader): readonly SidecarObject[] | undefined {
  const { namespace, audience } = route;
  if (audience[0] !== "*") return hiddenFromAll(audience, route, read);
  const roots = meshSidecars(read);
  // Without a Sidecar for the whole mesh, a future namespace may have no Sidecar.
  if (roots.length === 0 || roots.some((one) => lets(one, ANY_OTHER, route))) return undefined;
  if (hiddenFromAll([namespace], route, read) === undefined) return undefined;
  return read.objects("Sidecar").some((one) => lets(one, one.meta.namespace, route)) ? undefined : roots;
}

/** An empty namespace without a name. */
const ANY_OTHER = "";

/** The Sidecars that hide a route from all workloads of these namespaces; undefined: some workload sees the route. */
function hiddenFromAll(
  clients: readonly string[],
  route: ImportableRoute,
  read: AnalysisReader,
): readonly SidecarObject[] | undefined {
  const found = new Set<SidecarObject>();
  for (const client of clients) {
    const sidecars = sidecarsFor(client, read);
    if (!sidecars.some(isDefaultSidecar) || sidecars.some((one) => lets(one, client, route))) return undefined;
    for (const one of sidecars) found.add(one);
  }
  return [...found];
}

/** Whether a Sidecar imports a route for the workloads of a namespace. */
function lets(sidecar: SidecarObject, client: string, { namespace, hosts }: ImportableRoute): boolean {
  const imports = importsFor(sidecar, client);
  return imports === undefined || hosts.some(({ full }) => importsHost(imports, namespace, full));
}

/**
 * Looks for a Sidecar that sends past the route, in the route's own namespace and in namespaces that the route is
 * exported to by name.
 */
function lookForLeftOut(route: ImportableRoute, read: AnalysisReader, report: ReportMistake): void {
  const { namespace, hosts, audience } = route;
  for (const client of audience[0] === "*" ? [namespace] : audience) {
    for (const sidecar of sidecarsFor(client, read)) {
      if (lets(sidecar, client, route)) continue;
      const imports = importsFor(sidecar, client) ?? [];
      for (const [at, { written, full }] of hosts.entries()) {
        const service = read.service(full, client) ?? ofFact(full, read);
        if (service === undefined || !importsService(imports, service)) continue;
        const name = nameOf(sidecar);
        report("warning", "route-left-out", {
          field: `spec.hosts[${at}]`,
          value: written,
          expected: `${namespace}/${full} or ${namespace}/* in egress of Sidecar ${name}, which has ${
            service.namespace === namespace ? "another host" : `only the host of namespace ${service.namespace}`
          }`,
          others: [sidecar.key, ...(service.cause === undefined ? [] : [service.cause])],
          effect: `Workloads of namespace ${client} with Sidecar ${name} send to ${full} past these rules.`,
        });
        return;
      }
    }
  }
}

function ofFact(host: string, read: AnalysisReader) {
  const fact = read.serviceFact(host)?.fact;
  return fact && { namespace: fact.meta.namespace, hostname: host, cause: fact.key };
}

type SidecarObject = ConfigObject<"Sidecar">;

/** Whether a Sidecar is for all workloads of its namespace. In the root namespace: for all workloads of the mesh. */
function isDefaultSidecar({ spec: { workloadSelector } }: SidecarObject): boolean {
  return Object.keys(workloadSelector?.labels ?? {}).length === 0;
}

/** The Sidecars for the whole mesh. */
function meshSidecars(read: AnalysisReader): SidecarObject[] {
  return read.objectsIn("Sidecar", read.meshConfig.rootNamespace).filter(isDefaultSidecar);
}

/**
 * The Sidecars that workloads of a namespace may have. Without a Sidecar for all workloads, some workloads have no
 * Sidecar.
 */
function sidecarsFor(client: string, read: AnalysisReader): readonly SidecarObject[] {
  const own = read.objectsIn("Sidecar", client);
  return own.some(isDefaultSidecar) ? own : [...own, ...meshSidecars(read)];
}

/** The imports of a Sidecar for workloads of a namespace; undefined: everything exported to the namespace. */
function importsFor(
  { spec: { egress = [] } }: SidecarObject,
  client: string,
): readonly HostImport[] | undefined {
  return egress.length === 0 ? undefined : egress.flatMap(({ hosts }) => parseImports(hosts, client));
}
