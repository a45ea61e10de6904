/**
 * What reaches none of the proxies that a mesh of texts implies.
 *
 * @module
 */
import type { Finding } from "../../finding/finding.ts";
import type { OfflineMesh } from "../offline_mesh.ts";
import { byObject, EffectAnalysis } from "../../effect/effect_analysis.ts";
import type { ProxyState } from "../../translate/machine/per_proxy/proxy_state.ts";
import { NO_ADDRESS } from "../workloads.ts";

/** Findings about what reaches no proxy; none where services are not known, since what is for them has an effect there. */
export function* effectFindings(
  mesh: OfflineMesh,
  { assumeServices, progress }: { readonly assumeServices: boolean; readonly progress?: (text: string) => void },
  analyzed: readonly Finding[],
): Generator<void, Finding[]> {
  if (assumeServices || !mesh.knowsServices) return [];
  const { objects, pipeline: { translator } } = mesh;
  progress?.("looked for what reaches no proxy");
  const standsIn = ({ proxy }: ProxyState) => proxy.addresses.includes(NO_ADDRESS);
  const effects = new EffectAnalysis({ object: (key) => objects.get(key), standsIn });
  effects.changed(objects.keys());
  yield* effects.steps(translator);
  const said = byObject([...analyzed, ...mesh.findings()]);
  return [...effects.findings((key) => said.get(key) ?? [])];
}
