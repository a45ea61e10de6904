/**
 * ServiceEntries without an effect on any proxy, and unused hosts and ports of ServiceEntries with an effect.
 *
 * @module
 */
import { effectiveExportTo, fullHost } from "../mesh/names.ts";
import type { ServiceEntrySpec } from "../config/kinds/kinds.ts";
import type { ConfigObject } from "../config/types.ts";
import { takesHbone } from "../registry/labels.ts";
import { resolutionOf, type Service } from "../registry/types.ts";
import { entryResolution } from "../registry/service_entry/resolution.ts";
import { isPublic, isVisible } from "../mesh/visibility.ts";
import { profileOf } from "../translate/reader/proxy_profile.ts";
import { keyText } from "../finding/object_name.ts";
import type { EffectWorld, Judge, UnusedPart } from "./judge.ts";

/** The outcome for a host of an entry. */
interface HostFate {
  readonly host: string;
  /** The service made from the entry, if some known client sees the service. */
  readonly service?: Service;
  /** Some known client has clusters of the service. */
  readonly hasClusters: boolean;
  /** The service that clients have instead. */
  readonly winner?: Service;
}

/** Whether services of other entries may use a part of an entry: its selected workloads, or its names of servers. */
function sharesWithOthers({ endpoints = [], subjectAltNames = [], workloadSelector }: ServiceEntrySpec): boolean {
  return workloadSelector !== undefined || subjectAltNames.length > 0 ||
    endpoints.some(({ serviceAccount, labels }) => serviceAccount !== undefined || takesHbone(labels ?? {}));
}

/**
 * Whether another entry has a host of an entry, and shares its parts with other services: without the first entry, the
 * parts of the other entry may count.
 */
function keepsSharingAway(key: string, { entryHosts, object }: EffectWorld): boolean {
  return entryHosts.beside(key).values().some((other) => {
    const entry = object(other);
    return entry?.kind === "ServiceEntry" && sharesWithOthers(entry.spec);
  });
}

export const judgeServiceEntry: Judge<"ServiceEntry"> = (object, world) => {
  const { inForce } = world;
  if (sharesWithOthers(object.spec)) return [];
  const fates = object.spec.hosts.map((host) => fateOf(host, object, world));
  const lost = fates.map(({ host, service, winner }) =>
    service === undefined && winner !== undefined && !inForce.hasPart(object.key, `host ${host}`)
  );
  if (lost.includes(true) && keepsSharingAway(object.key, world)) {
    world.noteDead();
    return [];
  }
  // Later clients may change the verdict.
  if (!inForce.has(object.key) || fates.some(({ service }) => service?.cause !== object.key)) world.noteDead();
  const alive = fates.filter(({ service }) => service !== undefined);
  const winners = fates.flatMap(({ winner }, at) => lost[at] ? winner ?? [] : []);
  if (alive.length === 0) return winners.length === 0 || inForce.has(object.key) ? [] : [allHosts(object, winners[0]!)];
  return [
    ...fates.flatMap(({ winner }, at): UnusedPart[] =>
      lost[at]
        ? [{ field: `spec.hosts[${at}]`, value: object.spec.hosts[at], ...hostOf(winner!, object.meta.namespace) }]
        : []
    ),
    ...deadPorts(object, alive, world),
  ];
};

function fateOf(
  written: string,
  { key, meta: { namespace }, spec }: ConfigObject<"ServiceEntry">,
  { mesh, views }: EffectWorld,
): HostFate {
  const host = fullHost(written, namespace, mesh.domainSuffix).toLowerCase();
  const exportTo = effectiveExportTo(spec.exportTo, namespace, mesh.config.defaultServiceExportTo);
  let [found, winner, hasClusters]: [Service?, Service?, boolean?] = [];
  for (const proxy of views) {
    if (!isVisible({ namespace, exportTo }, proxy.namespace)) continue;
    const service = proxy.scope.service(host);
    if (service === undefined) continue;
    if (service.namespace === namespace && (service.cause === key || service.otherCauses?.includes(key))) {
      found = service;
      hasClusters ||= profileOf(proxy.type).outbound;
    } else winner ??= service;
  }
  // The oldest entry of a host decides who sees the host. So the clients of a younger entry lose the host.
  const isOldest = mesh.services.of(host).some((one) => one.namespace === namespace && one.cause === key);
  if (isOldest && !isPublic({ namespace, exportTo })) winner = undefined;
  return {
    host,
    hasClusters: hasClusters ?? false,
    ...(found === undefined ? {} : { service: found }),
    ...(winner === undefined ? {} : { winner }),
  };
}

function allHosts({ meta, spec: { hosts, ports = [] } }: ConfigObject<"ServiceEntry">, winner: Service): UnusedPart {
  const parts = ports.map((_, index) => `spec.ports[${index}]`);
  return { field: "spec.hosts", parts, value: hosts, ...hostOf(winner, meta.namespace) };
}

function hostOf(winner: Service, namespace: string): Pick<UnusedPart, "expected" | "others"> {
  const expected = winner.namespace === namespace && winner.provider === "External"
    ? `a host that no older entry has, or a port and resolution that add to the older entry (${
      keyText(winner.cause)
    } has the host)`
    : `a host that no other service has (${keyText(winner.cause)} has the host)`;
  return { expected, others: [winner.cause] };
}

/** Ports without a cluster of any client, for every host of the entry. */
function deadPorts(
  { key, spec }: ConfigObject<"ServiceEntry">,
  alive: readonly HostFate[],
  { inForce, noteDead }: EffectWorld,
): UnusedPart[] {
  const resolution = entryResolution(spec.resolution);
  return (spec.ports ?? []).flatMap(({ number }, at): UnusedPart[] => {
    const isDead = ({ host, service, hasClusters }: HostFate) => {
      const port = service!.ports.find((one) => one.port === number);
      // The port of an older entry with another resolution takes nothing from this entry.
      if (service!.cause !== key) return port === undefined || resolutionOf(service!, port) !== resolution;
      return hasClusters && port?.protocol !== "UDP" && !inForce.hasPart(key, `port ${number} of ${host}`);
    };
    if (!alive.every(isDead)) return [];
    noteDead();
    const [{ service }] = alive as [HostFate];
    const isOlder = service!.cause !== key;
    return [{
      field: `spec.ports[${at}].number`,
      value: number,
      expected: isOlder
        ? `a port that no older ServiceEntry of the host has, or the resolution and exportTo of the older entry (${
          keyText(service!.cause)
        } decides)`
        : "a port with a cluster at some client (no proxy has a cluster for the port)",
      ...(isOlder ? { others: [service!.cause] } : {}),
    }];
  });
}
