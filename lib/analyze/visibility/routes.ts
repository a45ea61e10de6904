/**
 * VirtualServices for sidecars that no sidecar can see: `exportTo` names nobody, or every Sidecar leaves their hosts out.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { overlaps } from "../../mesh/host_match.ts";
import { effectiveExportTo } from "../../mesh/names.ts";
import { MESH_GATEWAY } from "../../mesh/virtual_service_index.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";

/** See the module. */
export const UNSEEN_ROUTES: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["unseen-route"],
  analyze: (object, read, report) => {
    const { meta: { namespace }, spec: { gateways = [], hosts = [], exportTo } } = object;
    // A delegate is seen by its root.
    if (hosts.length === 0 || (gateways.length > 0 && !gateways.includes(MESH_GATEWAY))) return;
    const exported = effectiveExportTo(exportTo, namespace, read.meshConfig.defaultVirtualServiceExportTo);
    if (exported[0] === "~") {
      const expected = "a namespace, . or *, since without one no sidecar gets the rules";
      report("error", "unseen-route", { field: "spec.exportTo", value: exportTo, expected });
      return;
    }
    const full = hosts.map((host) => read.fullHost(host, namespace));
    const hiding = hidingSidecars(exported, namespace, full, read);
    if (hiding === undefined) return;
    report("error", "unseen-route", {
      field: "spec.hosts",
      value: hosts,
      expected: `a host that a Sidecar imports (${
        hiding.map(({ meta }) => `${meta.namespace}/${meta.name}`).join(", ")
      })`,
      others: hiding.map(({ key }) => key),
    });
  },
};

/** Sidecars that are named in one message. */
const MOST_NAMED = 5;

/** The Sidecars that hide hosts from everybody; undefined: somebody sees them. */
function hidingSidecars(
  exported: readonly string[],
  namespace: string,
  hosts: readonly string[],
  read: AnalysisReader,
): ConfigObject<"Sidecar">[] | undefined {
  const { rootNamespace } = read.meshConfig;
  const roots = read.objectsIn("Sidecar", rootNamespace).filter(isDefault);
  const imports = (sidecar: ConfigObject<"Sidecar">) => importsAny(sidecar, namespace, hosts);
  const isWhole = exported[0] === "*";
  // Without a Sidecar for the whole mesh a namespace may always come that has none of its own.
  if (isWhole && (roots.length === 0 || roots.some(imports))) return undefined;
  if (isWhole) return read.objects("Sidecar").some(imports) ? undefined : roots.slice(0, MOST_NAMED);
  const found: ConfigObject<"Sidecar">[] = [];
  for (const client of exported) {
    const own = read.objectsIn("Sidecar", client);
    const inForce = [...own, ...own.some(isDefault) ? [] : roots];
    if (!inForce.some(isDefault) || inForce.some(imports)) return undefined;
    found.push(...inForce);
  }
  return found.slice(0, MOST_NAMED);
}

function isDefault({ spec: { workloadSelector } }: ConfigObject<"Sidecar">): boolean {
  return Object.keys(workloadSelector?.labels ?? {}).length === 0;
}

function importsAny({ meta, spec }: ConfigObject<"Sidecar">, namespace: string, hosts: readonly string[]): boolean {
  const egress = spec.egress ?? [];
  if (egress.length === 0) return true;
  return egress.some((one) =>
    one.hosts.some((written) => {
      const slash = written.indexOf("/");
      const of = slash < 0 ? "*" : written.slice(0, slash);
      const isOpen = of === "*" || (of === "." ? meta.namespace : of) === namespace;
      return isOpen && hosts.some((host) => overlaps(written.slice(slash + 1).toLowerCase(), host));
    })
  );
}
