/**
 * The errors on the routes that a rollout touches, as Prometheus measures them.
 *
 * @module
 */
import type { AnyConfigObject } from "../../config/types.ts";
import type { TrafficFlow, TrafficSource } from "../../graph/traffic.ts";
import type { Mesh } from "../../mesh/mesh.ts";
import { fullHost } from "../../mesh/names.ts";
import { type ErrorRate, risenErrors } from "../../rollout/errors.ts";
import type { RunningRollout } from "../../rollout/staged.ts";

/** What the measurements say about a rollout. */
export interface ErrorLook {
  /** The present rate, to compare with later; undefined: there is no measurement. */
  readonly rate: ErrorRate | undefined;
  /** How errors have risen, in words. Empty: they have not, as far as it is known. */
  readonly risen: string;
  /** Why nothing can be said now. Empty: the present phase has been measured. */
  readonly problem: string;
}

/** Looks at the errors of a rollout, and compares them with the rate before it. */
export async function lookAtErrors(rollout: RunningRollout, traffic: TrafficSource, mesh: Mesh): Promise<ErrorLook> {
  const { object, settled, before, phase, since } = rollout;
  const versions = settled === undefined ? [object] : [object, settled];
  const hosts = new Set(versions.flatMap((one) => hostsOf(one, mesh)));
  const known = await traffic.known(namespaceOf(object, hosts, mesh));
  if (known.state !== "measured" || known.problem !== undefined) {
    const why = known.state === "asked" ? "there is no answer yet" : known.problem ?? "";
    return { rate: undefined, risen: "", problem: `errors cannot be compared: ${why}` };
  }
  const rate = sumOf(known.flows.filter(({ to }) => hosts.size === 0 || hosts.has(to.host)));
  const risen = before === undefined ? "" : risenErrors(before, rate);
  // A measurement from before the phase says nothing about it.
  const isOld = phase === "soaking" && known.at <= since;
  return { rate, risen, problem: isOld ? "errors have not been measured since the last acknowledgement" : "" };
}

/** The hosts of an object's routes. Empty: the object is about all requests of its namespace. */
function hostsOf(object: AnyConfigObject, { domainSuffix }: Mesh): string[] {
  const { namespace } = object.meta;
  if (object.kind === "DestinationRule") return [fullHost(object.spec.host, namespace, domainSuffix)];
  if (object.kind !== "VirtualService") return [];
  // Metrics name the services to which requests went.
  const { http = [], tls = [], tcp = [] } = object.spec;
  const named = (rule: { readonly route?: readonly { readonly destination: { readonly host: string } }[] }) =>
    (rule.route ?? []).map(({ destination }) => destination.host);
  return [...object.spec.hosts ?? [], ...http.flatMap(named), ...tls.flatMap(named), ...tcp.flatMap(named)]
    .map((host) => fullHost(host, namespace, domainSuffix));
}

/** The namespace of the measured services; undefined: the whole mesh. */
function namespaceOf({ meta }: AnyConfigObject, hosts: ReadonlySet<string>, mesh: Mesh): string | undefined {
  for (const host of hosts) {
    const [service] = mesh.services.of(host);
    if (service !== undefined) return service.namespace;
  }
  return meta.namespace === mesh.config.rootNamespace ? undefined : meta.namespace;
}

function sumOf(flows: readonly TrafficFlow[]): ErrorRate {
  return flows.reduce((sum, { requests, errors }) => ({
    requests: sum.requests + requests,
    errors: sum.errors + Math.min(errors, requests),
  }), { requests: 0, errors: 0 });
}
