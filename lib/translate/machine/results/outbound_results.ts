/**
 * Outbound listeners and route configurations of sidecars, merged from parts of several hosts, patched and encoded.
 *
 * @module
 */
import type { EncodedResource } from "../../../resource/encoded.ts";
import { encodeListener } from "../../encode/encode.ts";
import { type BareRouteConfiguration, encodeBareRoute } from "../../encode/virtual_hosts.ts";
import type { ListenerConflict } from "../../listener/conflict.ts";
import type { ListenerContribution } from "../../listener/contribution.ts";
import { mergeOutboundListener } from "../../listener/outbound/merge.ts";
import type { ReportNote } from "../../message/notes.ts";
import { listenerPatching } from "../../patches/apply.ts";
import { patchBareRoutes } from "../../patches/routes.ts";
import type { Reader } from "../../reader/reader.ts";
import { sidecarRouteConfiguration } from "../../route/configuration.ts";
import { routesWithoutLimit } from "../../filters/on_demand.ts";
import { withoutCatchAll } from "../../route/asked_hosts.ts";

/** A listener merged from contributions. */
export interface MergedListener {
  readonly listener: EncodedResource | undefined;
  readonly conflicts: readonly ListenerConflict[];
}

/** A route configuration without the virtual hosts of hosts. */
export function bareRoute(read: Reader, name: string, _: undefined, report: ReportNote): BareRouteConfiguration {
  const built = sidecarRouteConfiguration(read, name, read.property("vhds") ? "vhds" : []);
  const patched = patchBareRoutes(read, built, { context: "SIDECAR_OUTBOUND" }, report);
  return encodeBareRoute(read.property("onDemand") ? routesWithoutLimit(withoutCatchAll(patched)) : patched);
}

/** A listener from contributions. */
export function mergedListener(
  read: Reader,
  name: string,
  contributions: readonly ListenerContribution[],
  report: ReportNote,
): MergedListener {
  const { listener: message, causes, parts, conflicts } = mergeOutboundListener(read, name, contributions);
  if (message === undefined) return { listener: undefined, conflicts };
  const [built] = listenerPatching(read, report, "SIDECAR_OUTBOUND")({ message, causes, parts });
  return { listener: built && encodeListener(built), conflicts };
}
