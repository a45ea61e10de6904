/**
 * Compares the namespaces that services are exported to with the namespaces that should reach the services.
 *
 * @module
 */
import { effectiveExportTo } from "../../mesh/names.ts";
import type { Service } from "../../registry/types.ts";
import type { AnalysisReader } from "./reader.ts";

/** Namespaces: `["*"]` (all), `["~"]` (none), or names. */
export type Audience = readonly string[];

/** The namespaces that see a service. */
export function exportOf({ exportTo, namespace }: Service, { meshConfig }: AnalysisReader): Audience {
  return effectiveExportTo(exportTo, namespace, meshConfig.defaultServiceExportTo);
}

/** The namespaces that see at least one of the services. For an empty list: nobody. */
export function exportOfAny(services: readonly Service[], read: AnalysisReader): Audience {
  const all = services.map((one) => exportOf(one, read));
  if (all.some(([first]) => first === "*")) return ["*"];
  const named = [...new Set(all.flat())].filter((one) => one !== "~").sort();
  return named.length === 0 ? ["~"] : named;
}

/** Annotation of an orchestrator's Service with the namespaces that the Service is exported to. */
const EXPORT_ANNOTATION = "networking.mesh.io/exportTo";

/** The namespaces that see a host of a service in the mesh or in a manifest; empty: not known. */
export function exportOfHost(host: string, read: AnalysisReader): Audience {
  const services = read.servicesOf(host);
  if (services.length > 0) return exportOfAny(services, read);
  const fact = read.serviceFact(host)?.fact;
  return fact === undefined || Object.hasOwn(fact.meta.annotations, EXPORT_ANNOTATION) ? ["~"] : ["*"];
}

/** Whether some namespace is in both. */
export function meets(a: Audience, b: Audience): boolean {
  return both(a, b)[0] !== "~";
}

/** The namespaces in both audiences. */
export function both(a: Audience, b: Audience): Audience {
  if (a[0] === "*") return b;
  if (b[0] === "*") return a;
  const shared = a.filter((one) => one !== "~" && b.includes(one));
  return shared.length === 0 ? ["~"] : shared;
}

/** Whether every namespace of an audience is in the other audience. */
export function isWithin(one: Audience, other: Audience): boolean {
  if (one[0] === "~" || other[0] === "*") return true;
  return one[0] !== "*" && one.every((namespace) => other.includes(namespace));
}
