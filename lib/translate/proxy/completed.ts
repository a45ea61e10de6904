/**
 * Completes a proxy with the registries' knowledge about its workload. The proxy's own report has precedence. Missing
 * facts come from the source of endpoint facts, so client and endpoint of a workload are at the same place.
 *
 * @module
 */
import type { Proxy } from "./node.ts";

/** Facts about a workload that the proxy's report may lack. */
export type WorkloadFacts = Pick<Proxy["properties"], "labels" | "locality" | "network">;

/**
 * The proxy, with missing facts filled in. The same object if nothing changes.
 *
 * @param known Undefined when nothing is known about the workload: the proxy is then as reported.
 */
export function completed(proxy: Proxy, known: WorkloadFacts | undefined): Proxy {
  const { reported = proxy, properties: { patched } } = proxy;
  if (known === undefined) {
    return reported === proxy ? proxy : { ...reported, properties: { ...reported.properties, patched } };
  }
  const own = reported.properties;
  const facts: WorkloadFacts = {
    labels: { ...known.labels, ...own.labels },
    locality: own.locality || known.locality,
    network: own.network || known.network,
  };
  if (sameFacts(facts, proxy.properties)) return proxy;
  return { ...reported, reported, properties: { ...own, ...facts, patched } };
}

/** The proxy with other candidates. The same object if nothing changes. */
export function withCandidates(proxy: Proxy, candidates: string | undefined): Proxy {
  if (proxy.properties.candidates === candidates) return proxy;
  const { candidates: _before, ...properties } = proxy.properties;
  return { ...proxy, properties: candidates === undefined ? properties : { ...properties, candidates } };
}

function sameFacts(a: WorkloadFacts, b: WorkloadFacts): boolean {
  const keys = Object.keys(a.labels);
  return a.locality === b.locality && a.network === b.network && keys.length === Object.keys(b.labels).length &&
    keys.every((key) => a.labels[key] === b.labels[key]);
}
