/**
 * The record that an injection leaves on a pod, by which another injection undoes it before it does its own work.
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

/** JSON with the names of the containers, volumes and pull secrets that were added. */
export const STATUS = "sidecar.mesh.io/status";
/** JSON with the containers of the user that have the name of an injected one. */
export const OVERRIDES = "proxy.mesh.io/overrides";

const names = z.array(z.string()).nullish().transform((list): ReadonlySet<string> => new Set(list ?? []));
const statusSchema = z.object({ initContainers: names, containers: names, volumes: names, imagePullSecrets: names });
const containers = z.array(z.looseObject({ name: z.string() })).nullish().transform((list) => list ?? []);
const overridesSchema = z.object({ containers, initContainers: containers });

/** A pod as it was before an earlier injection. */
export interface PodBefore {
  readonly pod: InjectedPod;
  /** Probes that the earlier proxy makes, by path. */
  readonly probers: Readonly<Record<string, unknown>>;
  /** The variable of the earlier proxy that says how it scrapes the application. */
  readonly metrics: string | undefined;
}

/** Takes back what an earlier injection added: containers and volumes. A pod without a status that can be read keeps its own. */
export function beforeInjection(pod: InjectedPod): PodBefore {
  const annotations = ownTexts(pod.metadata.annotations);
  const status = parsed(statusSchema, annotations[STATUS]);
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

function isAdded(name: string, status: z.infer<typeof statusSchema>): boolean {
  return status.containers.has(name) || status.initContainers.has(name);
}

function variable(containers: readonly PodContainer[], name: string): string | undefined {
  return containers.flatMap(({ env = [] }) => env).find((one) => one.name === name)?.value;
}

function asObject(text: string | undefined): Readonly<Record<string, unknown>> {
  return parsed(z.record(z.string(), z.unknown()), text) ?? {};
}

/** A text that somebody has changed by hand is no status. */
function parsed<T>(schema: z.ZodType<T>, text: string | undefined): T | undefined {
  if (text === undefined) return undefined;
  const json = parseJson(text);
  return "tree" in json ? schema.safeParse(json.tree).data : undefined;
}

function without(texts: Record<string, string> | undefined, keys: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(texts ?? {}).filter(([key]) => !keys.includes(ownKey(key))));
}
