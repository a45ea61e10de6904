/**
 * The record that an injection leaves on a pod. Another injection uses the record to undo the first injection.
 *
 * @module
 */
import * as z from "zod";
import { parseJson } from "../../config/yaml/parse.ts";
import { ownKey } from "../../config/spelling/spelling.ts";
import { PROBERS } from "./probes.ts";
import { METRICS } from "./prometheus.ts";
import type { InjectedPod, PodContainer } from "../pod.ts";
import { ownTexts } from "../spelling.ts";

/** JSON with the names of the added containers, volumes and pull secrets. */
export const STATUS = "sidecar.mesh.io/status";
/** JSON with the user's containers that have the name of an injected container. */
export const OVERRIDES = "proxy.mesh.io/overrides";

const names = z.array(z.string()).nullish().transform((list): ReadonlySet<string> => new Set(list ?? []));
const statusSchema = z.object({ initContainers: names, containers: names, volumes: names, imagePullSecrets: names });
const containers = z.array(z.looseObject({ name: z.string() })).nullish().transform((list) => list ?? []);
const overridesSchema = z.object({ containers, initContainers: containers });

/** The names in a status. */
export type InjectionStatus = z.infer<typeof statusSchema>;

/** Reads the annotation of an injection; undefined: there is no readable status. */
export function readStatus(text: string | undefined): InjectionStatus | undefined {
  return parsed(statusSchema, text);
}

/** A pod as it was before an earlier injection. */
export interface PodBefore {
  readonly pod: InjectedPod;
  /** Probes of the earlier proxy, by path. */
  readonly probers: Readonly<Record<string, unknown>>;
  /** The earlier proxy's variable for scraping the application. */
  readonly metrics: string | undefined;
}

/** Removes the containers and volumes of an earlier injection. A pod without a readable status stays unchanged. */
export function beforeInjection(pod: InjectedPod): PodBefore {
  const annotations = ownTexts(pod.metadata.annotations);
  const status = readStatus(annotations[STATUS]);
  const clean = {
    ...pod,
    metadata: { ...pod.metadata, annotations: without(pod.metadata.annotations, [STATUS, OVERRIDES]) },
  };
  if (status === undefined) return { pod: clean, probers: {}, metrics: undefined };
  const overrides = parsed(overridesSchema, annotations[OVERRIDES]);
  const kept = (
    list: readonly PodContainer[] | undefined,
    added: ReadonlySet<string>,
    own: readonly PodContainer[] = [],
  ) => [...(list ?? []).filter(({ name }) => !added.has(name)), ...own];
  const { containers, initContainers, volumes, ...spec } = pod.spec;
  const inits = kept(initContainers, status.initContainers, overrides?.initContainers as PodContainer[]);
  const proxy = [...containers, ...initContainers ?? []].filter(({ name }) => isAdded(name, status));
  return {
    pod: {
      ...clean,
      spec: {
        ...spec,
        containers: kept(containers, status.containers, overrides?.containers as PodContainer[]),
        ...(inits.length > 0 && { initContainers: inits }),
        ...(volumes !== undefined && { volumes: volumes.filter(({ name }) => !status.volumes.has(name)) }),
      },
    },
    probers: asObject(variable(proxy, PROBERS)),
    metrics: variable(proxy, METRICS),
  };
}

function isAdded(name: string, status: InjectionStatus): boolean {
  return status.containers.has(name) || status.initContainers.has(name);
}

function variable(containers: readonly PodContainer[], name: string): string | undefined {
  return containers.flatMap(({ env = [] }) => env).find((one) => one.name === name)?.value;
}

function asObject(text: string | undefined): Readonly<Record<string, unknown>> {
  return parsed(z.record(z.string(), z.unknown()), text) ?? {};
}

/** A status that somebody has edited by hand may be unreadable, and then counts as absent. */
function parsed<T>(schema: z.ZodType<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  const json = parseJson(text);
  return "tree" in json ? schema.safeParse(json.tree).data : undefined;
}

function without(texts: Record<string, string> | undefined, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(texts ?? {}).filter(([key]) => !keys.includes(ownKey(key))));
}
