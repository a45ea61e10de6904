/**
 * Applies the patches of a proxy to the messages of builders, before encoding.
 *
 *     builder ─> message ─> patches that match ─> encoder
 *
 * A result then depends on the patches for its part of the configuration, and on nothing if there are none.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { patchCluster, type PatchedCluster } from "../../patches/cluster.ts";
import { hasChains, patchListener } from "../../patches/listener.ts";
import type { CompiledPatch, PatchContext, PatchTarget, ReportPatch } from "../../patches/types.ts";
import type { Built } from "../message/built.ts";
import type { ReportNote } from "../message/notes.ts";
import { aspect } from "../reader/aspect.ts";
import { NO_PATCHES, type PatchPart } from "../reader/patch_selection.ts";
import type { Reader } from "../reader/reader.ts";
import { AppliedPatches } from "./applied.ts";
import { patchInlineRoutes } from "./inline_routes.ts";

type Cluster = envoy.config.cluster.v3.Cluster;
type Listener = envoy.config.listener.v3.Listener;

/** Changes the message of a builder. An empty result means that a patch removed the message. */
export type Patching<T> = (built: Built<T>) => readonly Built<T>[];

/** The context of resources outside a workload's own ports. */
export function clientContext(read: Reader): PatchContext {
  if (aspect(read, "gateways")) return "GATEWAY";
  return aspect(read, "waypoint") ? "SIDECAR_INBOUND" : "SIDECAR_OUTBOUND";
}

/**
 * Patches clusters.
 *
 * @param of Gives the purpose of a cluster. Called only if there are patches.
 */
export function clusterPatching(
  read: Reader,
  report: ReportNote,
  of: (name: string) => PatchedCluster,
): Patching<Cluster> {
  return patching(read, "clusters", report, (message, patches, note) => {
    return patchCluster(message, patches, of(message.name ?? ""), note);
  });
}

/** Patches outbound clusters. */
export function clientClusterPatching(read: Reader, report: ReportNote): Patching<Cluster> {
  return clusterPatching(read, report, () => ({ context: clientContext(read), hosts: [] }));
}

/**
 * Patches listeners and the routes inside listeners. A listener without chains is omitted, because Envoy refuses such a
 * listener.
 */
export function listenerPatching(read: Reader, report: ReportNote, context: PatchContext): Patching<Listener> {
  const listeners = patching<Listener>(read, "listeners", report, (message, patches, note) => {
    const applied: CompiledPatch[] = [];
    const patched = patchListener(message, patches, context, (outcome) => {
      applied.push(outcome.patch);
      note(outcome);
    });
    if (patched === undefined || patched === message || hasChains(patched)) return patched;
    const patch = applied.at(-1)!;
    const error = `listener ${message.name} is left out: patches remove all of its filter chains`;
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
 * A step for one kind of message.
 *
 * @param patch Returns the same message if no patch matches, or undefined for a removed message.
 */
function patching<T>(
  read: Reader,
  part: PatchPart,
  report: ReportNote,
  patch: (message: T, patches: readonly CompiledPatch[], note: ReportPatch) => T | undefined,
): Patching<T> {
  const patches = read.patches(part);
  if (patches === NO_PATCHES) return (built) => [built];
  return (built) => {
    const applied = new AppliedPatches(report, PACKED);
    const message = patch(built.message, patches, applied.note);
    if (message === undefined) return [];
    return [message === built.message ? built : applied.to(built, message)];
  };
}

/**
 * Parts packed inside a listener. If only such parts are patched, the listener's own fields need no special encoder.
 */
const PACKED: ReadonlySet<PatchTarget> = new Set<PatchTarget>([
  "HTTP_FILTER",
  "ROUTE_CONFIGURATION",
  "VIRTUAL_HOST",
  "HTTP_ROUTE",
]);
