/**
 * What users wrote and do not get, as translation found it. A warning belongs to the unit of work that found it, so it
 * goes when that unit is built again without it.
 *
 * @module
 */
import type { Mesh } from "../mesh/mesh.ts";
import { servicelessHosts } from "../mesh/serviceless.ts";
import type { Built } from "./built.ts";
import type { GatewayProblem } from "./gateway/problem.ts";
import type { InboundConflict } from "./listener/inbound/port.ts";
import type { ListenerConflict } from "./listener/part.ts";

/** The part of translation that found it. */
export type WarningRoom = "clusters" | "endpoints" | "routes" | "listeners" | "inbound" | "gateways" | "configuration";

/** Gauges that count warnings. */
export type WarningMetric =
  | "pilot_conflict_inbound_listener"
  | "pilot_conflict_outbound_listener_tcp_over_current_tcp"
  | "pilot_destrule_subsets"
  | "pilot_vservice_dup_domain";

/** One thing that a user asked for and does not get. */
export interface Warning {
  readonly room: WarningRoom;
  /** Keys of the objects that it is about (`VirtualService/ns/name`), the nearest cause first. */
  readonly objects: readonly string[];
  /** One sentence. */
  readonly text: string;
  /** The gauge that counts it, where the field has one. */
  readonly metric?: WarningMetric;
}

/** Takes warnings while a unit is built. */
export type Warn = (warning: Warning) => void;

/** Hands on what a builder has to say about a message, and gives the message back. */
export function warned(
  room: WarningRoom,
  warn: Warn,
): <B extends Pick<Built<unknown>, "causes" | "warnings">>(b: B) => B {
  return (built) => {
    for (const text of built.warnings ?? []) warn({ room, objects: built.causes, text });
    return built;
  };
}

/** Two hosts want one outbound listener. */
export function listenerWarning(conflict: ListenerConflict): Warning {
  const { listener, accepted, rejected, rejectedProtocol, reason, causes } = conflict;
  const text = `listener ${listener}: ${accepted} has it, so ${rejectedProtocol} of ${rejected} is not served`;
  const metric = "pilot_conflict_outbound_listener_tcp_over_current_tcp";
  return { room: "listeners", objects: causes, text, ...(reason === "tcpOverTcp" ? { metric } : {}) };
}

/** Two services want one port of a workload. */
export function inboundWarning({ port, accepted, rejected, causes }: InboundConflict): Warning {
  const text = `inbound port ${port}: ${accepted} has it, so ${rejected} is not served there`;
  return { room: "inbound", objects: causes, text, metric: "pilot_conflict_inbound_listener" };
}

/** Two virtual hosts of one route configuration want one domain. */
export function domainWarning(
  routeConfiguration: string,
  domain: string,
  owner: string,
  loser: string,
  objects: readonly string[],
): Warning {
  const text = `routes ${routeConfiguration}: domain ${domain} belongs to ${owner}, so ${loser} goes without it`;
  return { room: "routes", objects, text, metric: "pilot_vservice_dup_domain" };
}

/** Something that a gateway does not serve as written. */
export function gatewayWarning({ cause, message }: GatewayProblem): Warning {
  return { room: "gateways", objects: cause === "" ? [] : [cause], text: message };
}

/**
 * What the indexes of the mesh found: what does not resolve, virtual services that another one hides, subsets that
 * several rules define, hosts without service.
 */
export function* meshWarnings(mesh: Mesh): Iterable<Warning> {
  for (const [key, problems] of mesh.problems) {
    for (const text of problems) yield { room: "configuration", objects: [key], text: `${key}: ${text}` };
  }
  for (const { host, protocol, accepted, rejected } of mesh.virtualServices.shadowed()) {
    const text = `${
      rejected[0]
    }: ${accepted} is older and has ${protocol} rules for ${host}, so those here are for nobody`;
    yield { room: "configuration", objects: rejected, text, metric: "pilot_vservice_dup_domain" };
  }
  for (const { host, subset, causes } of mesh.destinationRules.duplicateSubsets()) {
    const text = `DestinationRules of ${host}: the first subset ${subset} holds, others of that name are left out`;
    yield { room: "configuration", objects: causes, text, metric: "pilot_destrule_subsets" };
  }
  for (const { host, causes } of servicelessHosts(mesh.virtualServices.all(), mesh.services)) {
    const text = `${causes[0]}: no service has the destination host ${host}, so what is routed there fails`;
    yield { room: "configuration", objects: causes, text };
  }
}

/** More services want an automatic address than there are. Names none of them: it is one warning, however many they are. */
export function addressRangeWarnings(range: { readonly wanted: number; readonly available: number }): Warning[] {
  const { wanted, available } = range;
  if (wanted <= available) return [];
  const text = `more services without addresses than automatic addresses (${available}): the youngest have none`;
  return [{ room: "configuration", objects: [], text }];
}

/** Each warning once, sorted: many classes of proxies find the same. */
export function distinctWarnings(warnings: Iterable<Warning>): Warning[] {
  const found = new Map<string, Warning>();
  for (const warning of warnings) found.set(warningKey(warning), warning);
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, warning]) => warning);
}

/** Tells warnings apart. */
export function warningKey({ room, objects, text }: Warning): string {
  return `${room}\n${objects.join()}\n${text}`;
}
