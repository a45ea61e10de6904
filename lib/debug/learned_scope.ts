/**
 * `/debug/learned_scope`: the Sidecar that fits what a workload has called, what it would leave out, and what that saves.
 *
 * @module
 */
import { carriesLabels } from "../config/schema/labels.ts";
import * as z from "zod";
import type { HttpResponse } from "../http/message.ts";
import { jsonResponse, textResponse } from "../http/message.ts";
import type { Scope } from "../mesh/scope.ts";
import { envoyMemory } from "../sizing/envoy_memory.ts";
import type { ProxyState } from "../translate/machine/per_proxy/proxy_state.ts";
import {
  type CalledHosts,
  calledHosts,
  callingWorkloads,
  type CallingWorkloadView,
  type ConfigurationBytes,
  ConfigurationSizes,
} from "./calling_workloads.ts";
import { knowledgeOf } from "./calls.ts";
import { queried } from "./query.ts";

const EXPECTED = "namespace/workload";

/** Most characters of a namespace and a name. */
const MAX_LENGTH = 320;

/** Labels that usually name a workload, the most usual first. */
const NAMING = ["app", "app.kubernetes.io/name", "service.mesh.io/canonical-name", "service.istio.io/canonical-name"];

/** Labels that differ between versions or pods of a workload. */
const OF_PODS = new Set(["pod-template-hash", "controller-revision-hash", "pod-template-generation"]);

/** Memory of one Envoy, estimated, MiB. */
export interface SidecarMemory {
  readonly everything: number;
  readonly called: number;
}

/** What a Sidecar leaves out. */
interface LeftOutServices {
  readonly services: number;
  readonly of: number;
  /** Services left out, by namespace. */
  readonly byNamespace: Readonly<Record<string, number>>;
}

/** The Sidecar that fits what a workload has called. */
export interface LearnedScope {
  readonly workload: string;
  readonly knowledge: string;
  readonly asking: number;
  readonly whole: number;
  /** The called hosts, their virtual services, and hosts to which their routes lead, as `namespace/host`. */
  readonly hosts: readonly string[];
  /** Called names without a service that the workload sees now. */
  readonly gone: readonly string[];
  /** An object of kind Sidecar. Undefined: there is none, see `why`. */
  readonly sidecar?: object;
  /** Why there is no Sidecar. */
  readonly why?: string;
  /** Other workloads of the namespace that the Sidecar selects, too. */
  readonly alsoSelects: readonly string[];
  readonly leavesOut?: LeftOutServices;
  readonly bytes?: ConfigurationBytes;
  readonly memory?: SidecarMemory;
}

export const learnedScope = queried(
  z.object({
    workload: z.string({ error: EXPECTED }).max(MAX_LENGTH, { error: EXPECTED })
      .refine((text) => text.split("/").length === 2, { error: EXPECTED }),
  }),
  (request, view, { workload }): HttpResponse => {
    const all = callingWorkloads(view);
    const row = all.find((one) => `${one.namespace}/${one.workload}` === workload);
    if (row === undefined) {
      return textResponse(404, `no sidecar of workload ${workload} is connected, and no call of it is remembered\n`);
    }
    return jsonResponse(scopeOf(row, all), request);
  },
);

/** The Sidecar for a workload. @param all All workloads */
export function scopeOf(row: CallingWorkloadView, all: readonly CallingWorkloadView[]): LearnedScope {
  const { namespace, workload, calls, asking, whole } = row;
  const known = {
    ...{ workload: `${namespace}/${workload}`, knowledge: knowledgeOf(row) },
    ...{ asking: asking.length, whole: whole.length },
  };
  const nothing = { hosts: [], gone: [], alsoSelects: [] };
  const state = asking[0] ?? whole[0];
  if (state === undefined) {
    const why = "no sidecar of the workload is connected, so its labels and what it sees are not known";
    return { ...known, ...nothing, gone: [...calls.keys()], why };
  }
  const called = calledHosts(calls.keys(), state);
  const { hosts, gone, leavesOut } = compared(called, state);
  const bytes = new ConfigurationSizes().of(state, called.hosts);
  const measured = { leavesOut, bytes, memory: memoryOf(bytes, leavesOut.of) };
  if (hosts.length === 0) {
    const why = asking.length === 0
      ? "no call is known: give one pod the label mesh.io/on-demand=true, and ask again when it has worked for a while"
      : "the workload has called no host of the mesh yet";
    return { ...known, ...nothing, gone, why, ...measured };
  }
  const states = [...asking, ...whole];
  const labels = selectorOf(states);
  const alsoSelects = all.filter((other) =>
    other !== row && other.namespace === namespace && [...other.asking, ...other.whole].some((one) => has(one, labels))
  ).map((other) => other.workload);
  return { ...known, hosts, gone, sidecar: sidecarOf(row, labels, hosts), alsoSelects, ...measured };
}

/** The memory of one Envoy. */
export function memoryOf({ everything, called }: ConfigurationBytes, services: number): SidecarMemory {
  const part = everything === 0 ? 1 : called / everything;
  return { everything: Math.round(envoyMemory(services)), called: Math.round(envoyMemory(services, part)) };
}

function compared(
  { hosts: called, rules }: CalledHosts,
  { proxyClass: { scope } }: ProxyState,
): { readonly hosts: string[]; readonly gone: string[]; readonly leavesOut: LeftOutServices } {
  const hosts = new Set<string>(seenRules(rules, scope));
  const left = new Map<string, number>();
  const seen = new Set<string>();
  let of = 0;
  for (const host of scope.hosts()) {
    const service = scope.service(host);
    if (service === undefined) continue;
    of++;
    if (called.has(host)) {
      seen.add(host);
      hosts.add(`${service.namespace}/${host}`);
    } else left.set(service.namespace, (left.get(service.namespace) ?? 0) + 1);
  }
  const byNamespace = Object.fromEntries([...left].sort(([a], [b]) => (a < b ? -1 : 1)));
  const gone = [...called].filter((host) => !seen.has(host)).sort();
  return { hosts: [...hosts].sort(), gone, leavesOut: { services: of - seen.size, of, byNamespace } };
}

/** Virtual services of hosts with a service. A Sidecar selects virtual services by their own namespace. */
function seenRules(rules: ReadonlySet<string>, scope: Scope): string[] {
  return [...rules].filter((rule) => scope.service(rule.slice(rule.indexOf("/") + 1)) !== undefined);
}

/** Labels that all proxies have: a label that usually names a workload, or else all that are not of single pods. */
function selectorOf(states: readonly ProxyState[]): Readonly<Record<string, string>> {
  const common = Object.entries(states[0]!.proxy.properties.labels).filter(([name, value]) =>
    !OF_PODS.has(name) && states.every(({ proxy }) => proxy.properties.labels[name] === value)
  );
  const naming = NAMING.map((name) => common.find(([one]) => one === name)).find((found) => found !== undefined);
  return Object.fromEntries(naming ? [naming] : common);
}

function has({ proxy }: ProxyState, labels: Readonly<Record<string, string>>): boolean {
  return carriesLabels(proxy.properties.labels, labels);
}

function sidecarOf(
  { namespace, workload }: CallingWorkloadView,
  labels: Readonly<Record<string, string>>,
  hosts: readonly string[],
): object {
  return {
    ...{ apiVersion: "networking.mesh.io/v1", kind: "Sidecar", metadata: { name: workload, namespace } },
    spec: {
      // A Sidecar without a selector is for all workloads of its namespace.
      ...{ workloadSelector: { labels }, egress: [{ hosts: [...hosts] }] },
    },
  };
}
