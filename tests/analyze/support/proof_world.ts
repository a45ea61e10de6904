/**
 * A mesh of documents for following findings: removes the part in a finding, and compares the resources of all proxies.
 * @module
 */
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { OfflineMesh } from "../../../lib/offline/offline_mesh.ts";
import type { Finding } from "../../../lib/finding/finding.ts";
import { checkMesh } from "../../../lib/offline/check/check.ts";
import { proxiesOf } from "../../../lib/offline/workloads.ts";
import { NodeRefused } from "../../../lib/translate/proxy/identity.ts";
import type { ProxyState } from "../../../lib/translate/machine/per_proxy/proxy_state.ts";
import { resources } from "../../discovery/fixture.ts";
import type { RemovedPart } from "./proofs.ts";

/** A document in written form. */
export type WrittenDocument = Readonly<Record<string, unknown>>;

/** A document's mesh, and its findings. */
export interface ProofWorld {
  readonly mesh: OfflineMesh;
  readonly documents: readonly WrittenDocument[];
  readonly findings: readonly Finding[];
  /** The proxies implied by the documents. */
  readonly proxies: ReturnType<typeof proxiesOf>["proxies"];
}

/** Builds a world; every document is a file, named by its place in the list. */
export function proofWorld(documents: readonly WrittenDocument[]): ProofWorld {
  const mesh = rebuilt(documents);
  const { proxies } = proxiesOf(mesh);
  const check = checkMesh(mesh, { assumeServices: false, textOf: () => undefined, now: () => Date.UTC(2026, 0, 1) });
  let step = check.next();
  while (!step.done) step = check.next();
  return { mesh, documents, findings: step.value.findings, proxies };
}

/** A mesh of documents. */
export function rebuilt(documents: readonly WrittenDocument[]): OfflineMesh {
  const settings = defaultSettings("pilot-discovery");
  const mesh = new OfflineMesh({ settings, domain: "cluster.local", meshConfig: "rootNamespace: mesh-system" });
  mesh.apply(documents.map((one, at) => ({
    path: `${String(at).padStart(3, "0")}.json`,
    bytes: new TextEncoder().encode(JSON.stringify(one)),
  })));
  return mesh;
}

/** The state of each proxy of a world in a mesh, without proxies refused by every server. */
export function statesIn(mesh: OfflineMesh, { proxies }: Pick<ProofWorld, "proxies">): ProxyState[] {
  return proxies.flatMap(({ node }) => {
    try {
      return [mesh.join(node)];
    } catch (error) {
      if (error instanceof NodeRefused) return [];
      throw error;
    }
  });
}

/** Names of the resources that differ when other documents replace the world's, for the same proxies. */
export function changedBy(world: ProofWorld, documents: readonly WrittenDocument[]): string[] {
  const before = statesIn(world.mesh, world).map(resources);
  const after = statesIn(rebuilt(documents), world).map(resources);
  const changed = new Set<string>();
  for (const [at, of] of before.entries()) {
    const now = after[at] ?? {};
    for (const name of new Set([...Object.keys(of), ...Object.keys(now)])) {
      if (of[name]?.value.toBase64() !== now[name]?.value.toBase64()) changed.add(name);
    }
  }
  return [...changed].sort();
}

/** The documents without the part in a finding, or without its object; undefined: the finding names no part. */
export function without(
  { documents }: ProofWorld,
  finding: Finding,
  what: RemovedPart,
): readonly WrittenDocument[] | undefined {
  const { objects: [object], field } = finding.place;
  const path = what === "rule" ? /^spec\.\w+\[\d+\]/.exec(field)?.[0] ?? "" : field;
  if (object === undefined || (what !== "object" && path === "")) return undefined;
  const at = documents.findIndex(({ kind, metadata }) => {
    const { namespace = "default", name } = metadata as { readonly namespace?: string; readonly name?: string };
    return kind === object.kind && namespace === object.namespace && name === object.name;
  });
  if (at < 0) return undefined;
  if (what === "object") return [...documents.toSpliced(at, 1), ...measuringOf(documents[at]!)];
  const copy = structuredClone(documents[at]!);
  if (valueAt(copy, path) === undefined) return undefined;
  const rest = removeAt(copy, path) ? documents.with(at, copy) : documents.toSpliced(at, 1);
  return path.startsWith("spec.metrics") ? [...rest, ...measuringOf(documents[at]!)] : rest;
}

/**
 * A Telemetry for nobody in place of removed metrics of a Telemetry: all proxies of the mesh exchange headers as soon
 * as any Telemetry has metrics.
 */
function measuringOf({ kind, ...removed }: WrittenDocument): WrittenDocument[] {
  const { metrics = [] } = removed["spec"] as { readonly metrics?: readonly unknown[] };
  if (kind !== "Telemetry" || metrics.length === 0) return [];
  return [{ ...removed, kind, metadata: { name: "measuring", namespace: "nobody" }, spec: { metrics } }];
}

function keysOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[("(?:[^"\\]|\\.)*"|\d+)\]|([^.[\]]+)/g)].map(([, index, key]) =>
    index === undefined ? key! : index.startsWith('"') ? JSON.parse(index) as string : Number(index)
  );
}

/** The value at a path of a document; undefined: nothing is there. */
export function valueAt(document: unknown, path: string): unknown {
  let value = document;
  for (const key of keysOf(path)) value = (value as Record<string | number, unknown> | undefined)?.[key];
  return value;
}

/** Lists with another meaning when absent. */
const TELLING = /^spec\.(?:gateways|hosts|http|tls|tcp)$/;

/** The imports of an egress listener of a Sidecar. */
const IMPORTS = /^spec\.egress\[\d+\]\.hosts$/;

/**
 * Removes the value of a path from a document, and then an empty list around it. @returns false: the whole object is to
 * go
 */
function removeAt(document: object, path: string): boolean {
  const keys = keysOf(path);
  const last = keys.pop();
  const around = path.replace(/(?:\.[^.[\]]+|\[[^\]]+\])$/, "");
  const parent = valueAt(document, around);
  if (last === undefined || typeof parent !== "object" || parent === null) return false;
  if (!Array.isArray(parent)) return delete (parent as Record<string | number, unknown>)[last];
  parent.splice(Number(last), 1);
  if (parent.length > 0) return true;
  // A Sidecar that loses its only import would import everything.
  if (IMPORTS.test(around)) return parent.push("~/*") > 0;
  if (TELLING.test(around)) return false;
  // A rule that loses its only match would match everything.
  return removeAt(document, around.replace(/\.match$/, ""));
}
