/**
 * The way of a request through a mesh of texts, and the findings, in one line each.
 * @module
 */
import type { Finding } from "../../lib/finding/finding.ts";
import type { Explanation } from "../../lib/debug/explanation.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { checkMesh } from "../../lib/offline/check/check.ts";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import type { OfflineMeshOptions } from "../../lib/offline/offline_mesh.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { type ExplainQuestion, readQuestion } from "../../lib/offline/explain/question.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { findProxy } from "../../lib/offline/find_proxy.ts";
import { resourcesJson, type ShortType } from "../../lib/offline/proxy_resources.ts";
import { proxiesOf } from "../../lib/offline/workloads.ts";
import { meshOf } from "./mesh_of.ts";

/** Settings of the program other than its defaults. */
export type WaySettings = Parameters<typeof defaultSettings<"pilot-discovery">>[1];

/** The way of a request in a mesh of one text. */
export function explained(
  yaml: string,
  from: string,
  question: ExplainQuestion,
  settings: WaySettings = {},
  options: Pick<OfflineMeshOptions, "manifestServices"> = {},
): Promise<Explanation> {
  const mesh = meshOf({ "mesh.yaml": yaml }, { settings: defaultSettings("pilot-discovery", settings), ...options });
  const { proxies, options: known } = proxiesOf(mesh);
  const world = worldOf(mesh, proxies, new FieldPlaces(() => yaml));
  return explainRequest(readQuestion(question), onWay(findProxy(from, proxies, known).proxy), world);
}

/**
 * The last cluster of the first proxy, and the end of the way: `v1 of own.prod:8000 > 10.0.0.1:9080`, or the status.
 */
export async function wayOf(
  yaml: string,
  from: string,
  question: ExplainQuestion | string,
  settings: WaySettings = {},
  options: Pick<OfflineMeshOptions, "manifestServices"> = {},
): Promise<string> {
  const asked = typeof question === "string" ? { to: question } : question;
  const { hops, end } = await explained(yaml, from, asked, settings, options);
  const cluster = hops[0]?.steps.findLast(({ what }) => what === "cluster")?.name ?? "no cluster";
  return `${cluster} > ${end.endpoint ?? end.status ?? end.kind}`;
}

/** The findings of `check` in a mesh of one text. */
export function checked(yaml: string): readonly Finding[] {
  return unpaced(checkMesh(meshOf({ "mesh.yaml": yaml }), { assumeServices: false, textOf: () => yaml })).findings;
}

/** Code, severity and field of each finding of `check`. */
export function codes(yaml: string): string[] {
  return checked(yaml).map(({ code, severity, place }) => `${code} ${severity} ${place.field ?? ""}`.trim());
}

/**
 * The resources of a proxy, by name or node id, in a mesh of one text: of the given types, under their plural names.
 */
export function resourcesOf(
  yaml: string,
  from: string,
  types: readonly ShortType[],
  settings: WaySettings = {},
): Record<string, Record<string, unknown>[]> {
  const mesh = meshOf({ "mesh.yaml": yaml }, { settings: defaultSettings("pilot-discovery", settings) });
  const { proxies, options } = proxiesOf(mesh);
  return resourcesJson(mesh.join(findProxy(from, proxies, options).proxy.node), types);
}
