/**
 * Hosts that a Sidecar imports by name, and that nothing provides.
 *
 * @module
 */
import { isWildcard, wildcardsOver } from "../../mesh/host_match.ts";
import type { Analyzer } from "../analyzer.ts";
import { serviceNamespace } from "../reader/known_host.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { exportOf, meets } from "../reader/audience.ts";

/** A host of an egress listener. */
interface NamedImport {
  readonly host: string;
  /** The namespace of the host; undefined: any namespace. */
  readonly home: string | undefined;
  /** Namespace of the Sidecar. */
  readonly client: string;
}

export const SIDECAR_IMPORTS: Analyzer<"Sidecar"> = {
  kind: "Sidecar",
  reports: ["unknown-import"],
  analyze: ({ meta: { namespace: client }, spec: { egress = [] } }, read, report) => {
    for (const [at, { hosts }] of egress.entries()) {
      for (const [index, written] of hosts.entries()) {
        const slash = written.indexOf("/");
        const of = slash < 0 ? "*" : written.slice(0, slash);
        const host = written.slice(slash + 1).toLowerCase();
        // A wildcard may be for hosts that come later. In the mesh's Sidecar `.` is the namespace of each workload.
        if (of === "~" || isWildcard(host) || (of === "." && client === read.meshConfig.rootNamespace)) continue;
        const one = { host, home: of === "*" ? undefined : of === "." ? client : of, client };
        if (isKnown(one, read) || mayBeRefused(one, read)) continue;
        const { hint, others } = rightName(one, read);
        report("warning", "unknown-import", {
          field: `spec.egress[${at}].hosts[${index}]`,
          value: written,
          expected: `a host that a service or VirtualService ${
            one.home === undefined ? "" : `of namespace ${one.home} `
          }has${hint}`,
          others,
        });
      }
    }
  },
};

function isKnown(one: NamedImport, read: AnalysisReader): boolean {
  const { host, home } = one;
  if (servicesIn(one, host, read).length > 0) return true;
  const fact = read.serviceFact(host);
  if (fact !== undefined && (home ?? fact.fact.meta.namespace) === fact.fact.meta.namespace) return true;
  if (read.settings.assumeServices && isAssumed(one, read)) return true;
  // Any host of a virtual service imports the virtual service, even a host under its wildcard.
  return [host, ...wildcardsOver(host)].some((pattern) =>
    read.virtualServicesFor(pattern).some(({ namespace }) => (home ?? namespace) === namespace)
  );
}

function isAssumed({ host, home }: NamedImport, read: AnalysisReader): boolean {
  const namespace = serviceNamespace(host, read.settings.domainSuffix);
  return namespace !== undefined && (home ?? namespace) === namespace;
}

/** The services of a host in the import's namespace that the Sidecar's workloads see. */
function servicesIn({ home, client }: NamedImport, host: string, read: AnalysisReader) {
  const isOfMesh = client === read.meshConfig.rootNamespace;
  return read.servicesOf(host).filter((service) =>
    (home ?? service.namespace) === service.namespace && (isOfMesh || meets(exportOf(service, read), [client]))
  );
}

/** Whether a refused object may define the host. */
function mayBeRefused({ home, client }: NamedImport, read: AnalysisReader): boolean {
  return (["ServiceEntry", "VirtualService"] as const).some((kind) => read.hasRefused(kind, home ?? client));
}

/** The likely intention: a service without the needed export, the namespace with the host, or a service's wildcard. */
function rightName(
  one: NamedImport,
  read: AnalysisReader,
): { readonly hint: string; readonly others: readonly string[] } {
  const { host, home } = one;
  const hidden = read.servicesOf(host).find(({ namespace }) => (home ?? namespace) === namespace);
  if (hidden !== undefined) {
    return { hint: ` (it is exported to ${exportOf(hidden, read).join(", ")})`, others: [hidden.cause] };
  }
  for (const pattern of [host, ...wildcardsOver(host)]) {
    const [found] = servicesIn({ ...one, home: undefined }, pattern, read);
    if (found !== undefined) return { hint: `, such as ${found.namespace}/${pattern}`, others: [found.cause] };
  }
  const fact = read.serviceFact(host)?.fact;
  return fact === undefined
    ? { hint: "", others: [] }
    : { hint: `, such as ${fact.meta.namespace}/${host}`, others: [fact.key] };
}
