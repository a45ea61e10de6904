/**
 * Applies the patches of a proxy to the messages of builders, before these are encoded.
 *
 *     builder ─> message ─> patches that match ─> encoder
 *
 * A result then depends on the patches of its part of the configuration, and on nothing where there are none.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { patchCluster, type PatchedCluster } from "../../patches/cluster.ts";
import { hasChains, patchListener } from "../../patches/listener.ts";
import type { CompiledPatch, PatchContext, ReportPatch } from "../../patches/types.ts";
import type { Built } from "../message/built.ts";
import type { ReportNote } from "../message/notes.ts";
import { aspect } from "../reader/aspect.ts";
import { NO_PATCHES, type PatchPart } from "../reader/patch_selection.ts";
import type { Reader } from "../reader/reader.ts";
import { patchInlineRoutes } from "./inline_routes.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type Listener = envoy.config.listener.v3.Listener;

/** Changes the message of a builder; empty: a patch removed it. */
export type Patching<T> = (built: Built<T>) => readonly Built<T>[];

/** The context of resources that belong to no workload's own ports. */
export function clientContext(read: Reader): PatchContext {
  return aspect(read, "gateways") ? "GATEWAY" : "SIDECAR_OUTBOUND";
}

/** Patches clusters. @param of Gives the purpose of a cluster; called only where there are patches. */
export function clusterPatching(
  read: Reader,
  report: ReportNote,
  of: (name: string) => PatchedCluster,
): Patching<Cluster> {
  return patching(read, "clusters", report, (message, patches, note) => {
    return patchCluster(message, patches, of(message.name ?? ""), note);
  });
}

/** Patches clusters that lead away from the proxy. */
export function clientClusterPatching(read: Reader, report: ReportNote): Patching<Cluster> {
  return clusterPatching(read, report, () => ({ context: clientContext(read), hosts: [] }));
}

/** Patches listeners, and the routes that some of them have inside. One without chains is left out: Envoy refuses it. */
export function listenerPatching(read: Reader, report: ReportNote, context: PatchContext): Patching<Listener> {
  const listeners = patching<Listener>(read, "listeners", report, (message, patches, note) => {
    const applied: CompiledPatch[] = [];
    const patched = patchListener(message, patches, context, (outcome) => {
      applied.push(outcome.patch);
      note(outcome);
    });
    if (patched === undefined || patched === message || hasChains(patched)) return patched;
    const patch = applied.at(-1)!;
    const error = `listener ${message.name} is left out: patches leave it no filter chain`;
    const beside = new Set(applied.map(({ filter }) => filter).filter((filter) => filter !== patch.filter));
    report({ patch, error, beside: [...beside], sort: "listener-without-chains" });
    return undefined;
  });
  const routes = patching<Listener>(read, "routes", report, (message, patches, note) => {
    return patchInlineRoutes(message, patches, context, note);
  });
  return (built) => routes(built).flatMap(listeners);
}

/**
 * Makes a step that patches one kind of message.
 *
 * @param patch Gives the same message where no patch matches; undefined: removed
 */
export function patching<T>(
  read: Reader,
  part: PatchPart,
  report: ReportNote,
  patch: (message: T, patches: readonly CompiledPatch[], note: ReportPatch) => T | undefined,
): Patching<T> {
  const patches = read.patches(part);
  if (patches === NO_PATCHES) return (built) => [built];
  return (built) => {
    const filters = new Set<string>();
    let packedOnly = true;
    const message = patch(
      built.message,
      patches,
      patchNotes(report, filters, (patch) => {
        packedOnly &&= PACKED.has(patch.applyTo);
      }),
    );
    if (message === undefined) return [];
    if (message === built.message) return [built];
    const now = patchedAs(built, message, filters);
    return [packedOnly ? encodedAs(now, built) : now];
  };
}

/** Parts that lie packed in a listener: around these a patched listener has nothing that builders would not write. */
const PACKED: ReadonlySet<CompiledPatch["applyTo"]> = new Set<CompiledPatch["applyTo"]>([
  "HTTP_FILTER",
  "ROUTE_CONFIGURATION",
  "VIRTUAL_HOST",
  "HTTP_ROUTE",
]);

/** The same message, encoded as another one is. */
function encodedAs<T>({ patched: _, ...message }: Built<T>, other: Built<T>): Built<T> {
  return other.patched ? { ...message, patched: true } : message;
}

/** A message in place of another one, with the filters among its causes. */
export function patchedAs<B extends Built<unknown>>(
  built: B,
  message: B["message"],
  filters: ReadonlySet<string>,
): B {
  return { ...built, message, causes: [...new Set([...built.causes, ...filters])], patched: true };
}

/**
 * Notes each patch once, and gathers the keys of the filters that were applied.
 *
 * @param applied Hears of each place where a patch was applied.
 */
export function patchNotes(
  report: ReportNote,
  filters: Set<string>,
  applied?: (patch: CompiledPatch) => void,
): ReportPatch {
  const noted = new Set<CompiledPatch>();
  return ({ patch, error }) => {
    if (error === undefined) {
      filters.add(patch.filter);
      applied?.(patch);
    }
    if (noted.has(patch)) return;
    noted.add(patch);
    report(error === undefined ? { patch } : { patch, error });
  };
}
