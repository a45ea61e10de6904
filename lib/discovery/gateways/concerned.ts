/**
 * Which Gateways a change concerns: changes of Gateways, classes, ListenerSets, namespaces and ConfigMaps with overlays.
 *
 * @module
 */
import type { FactStore } from "../../config/facts/store.ts";
import type { Fact } from "../../config/facts/types.ts";
import type { ChangeSet, ConfigStore } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { DeployedListener } from "../../gateway_api/deploy/types.ts";
import { DEFAULTS_FOR_CLASS, parametersMap } from "../../gateway_api/deploy/overlays.ts";
import type { GatewayApiVerdicts } from "../../gateway_api/groups/verdicts.ts";

/** Where changes come from. */
export interface ChangeSources {
  readonly store: ConfigStore;
  readonly facts: FactStore;
  readonly verdicts: Pick<GatewayApiVerdicts, "gateway" | "onChange">;
  /** Namespace with the ConfigMaps of classes. */
  readonly systemNamespace: string;
}

/** Gets a Gateway, as `namespace/name`. Must not throw. */
export type ConcernedListener = (key: string) => void;

/** The key of a Gateway in queues. */
export function gatewayKey({ meta: { namespace, name } }: Pick<ConfigObject, "meta">): string {
  return `${namespace}/${name}`;
}

/** Calls a listener with each Gateway that a change concerns. @returns ends the calls */
export function followChanges(sources: ChangeSources, concerned: ConcernedListener): () => void {
  const { store, facts, verdicts } = sources;
  const attached = new Map<string, string>();
  const ends = [
    store.subscribe((changes) => takeObjects(changes, sources, concerned)),
    facts.subscribe((changes) => takeFacts(changes, sources, concerned)),
    verdicts.onChange((keys) => {
      for (const key of keys) if (key.startsWith("ApiGateway/")) takeVerdict(key, attached, sources, concerned);
    }),
  ];
  return () => ends.forEach((end) => end());
}

/** The listeners of accepted ListenerSets of a Gateway. @param key Key of the Gateway in the store. */
export function attachedListeners(
  key: string,
  verdicts: Pick<GatewayApiVerdicts, "gateway">,
): readonly DeployedListener[] {
  const all = verdicts.gateway(key)?.view.listeners ?? [];
  return all.filter(({ owner }) => owner.kind === "ListenerSet").map(({ spec: { name, port, protocol } }) => ({
    ...{ name, port, protocol },
  }));
}

/** Most changes of verdicts are about routes. Only other listeners of sets concern the deployment. */
function takeVerdict(
  key: string,
  attached: Map<string, string>,
  { verdicts }: ChangeSources,
  concerned: ConcernedListener,
): void {
  const text = JSON.stringify(attachedListeners(key, verdicts));
  if ((attached.get(key) ?? "[]") === text) return;
  attached.set(key, text);
  concerned(key.slice("ApiGateway/".length));
}

function takeObjects(
  { added, updated, refreshed, removed }: ChangeSet<ConfigObject>,
  { store }: ChangeSources,
  concerned: ConcernedListener,
): void {
  const classes = new Set<string>();
  for (const object of [...added, ...removed, ...[...updated, ...refreshed].map((one) => one.new)]) {
    if (object.kind === "ApiGateway") concerned(gatewayKey(object));
    if (object.kind === "GatewayClass") classes.add(object.meta.name);
  }
  if (classes.size === 0) return;
  for (const gateway of store.list("ApiGateway")) {
    if (classes.has(gateway.spec.gatewayClassName)) concerned(gatewayKey(gateway));
  }
}

function takeFacts(
  { added, updated, refreshed, removed }: ChangeSet<Fact>,
  { store, systemNamespace }: ChangeSources,
  concerned: ConcernedListener,
): void {
  const changes = [...updated, ...refreshed];
  const namespaces = new Set<string>();
  const maps = new Set<string>();
  const classes = new Set<string>();
  for (const { kind, meta } of [...added, ...removed, ...changes.flatMap((one) => [one.old, one.new])]) {
    if (kind === "Namespace") namespaces.add(meta.name);
    if (kind !== "ConfigMap") continue;
    maps.add(`${meta.namespace}/${meta.name}`);
    const ofClass = meta.namespace === systemNamespace ? meta.labels[DEFAULTS_FOR_CLASS] : undefined;
    if (ofClass !== undefined) classes.add(ofClass);
  }
  if (namespaces.size + maps.size === 0) return;
  for (const gateway of store.list("ApiGateway")) {
    const { meta: { namespace }, spec } = gateway;
    const map = parametersMap(spec);
    const isConcerned = namespaces.has(namespace) || classes.has(spec.gatewayClassName) ||
      (map !== undefined && maps.has(`${namespace}/${map}`));
    if (isConcerned) concerned(gatewayKey(gateway));
  }
}
