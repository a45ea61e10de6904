/**
 * Targets of policies of backends: the hosts of a target, and which of several policies of one target is in force.
 *
 * @module
 */
import type { Kind, ObjectMeta } from "../../config/types.ts";
import { externalService, isExternal } from "./external_backends.ts";
import { byPrecedence } from "./precedence.ts";
import { NETWORKING_GROUPS, serviceNamed } from "./services.ts";
import type { AttachOptions, AttachReader, ConditionVerdict, FieldFault, PolicyAtTarget } from "./types.ts";
import { fails, faultText } from "./verdicts.ts";

/** A reference to a target, in the namespace of the policy. */
export interface TargetReference {
  readonly group: string;
  readonly kind: string;
  readonly name: string;
  /** Name of a port. Absent: all ports. */
  readonly sectionName?: string;
}

/** A policy of backends. */
export interface TargetedPolicy {
  readonly key: string;
  readonly kind: Kind;
  readonly meta: ObjectMeta;
  readonly spec: { readonly targetRefs: readonly TargetReference[] };
}

/**
 * A policy at its targets.
 *
 * @param all The policies of the kind in the namespace: the same array until one of them changes.
 * @param verdict The verdict at a target that exists and that no older policy has.
 */
export function policyAtTargets(
  policy: TargetedPolicy,
  all: readonly TargetedPolicy[],
  verdict: ConditionVerdict,
  read: AttachReader,
  options: AttachOptions,
): readonly PolicyAtTarget[] {
  const { namespace } = policy.meta;
  return policy.spec.targetRefs.map((ref, index): PolicyAtTarget => {
    const { group, kind, name, sectionName } = ref;
    const field = `targetRefs[${index}]`;
    const hosts = hostsOf(field, ref, policy, read, options);
    const target = { group, kind, namespace, name, ...(sectionName === undefined ? {} : { sectionName }) };
    const judged = hosts.refusal === undefined
      ? targetVerdict(policy, ref, field, verdict, all)
      : { accepted: hosts.refusal, fault: hosts.fault };
    return { index, target, hosts: hosts.found ?? [], ...judged };
  });
}

/** The hosts of a target, or why there are none. */
type TargetHosts =
  | { readonly found: readonly string[]; readonly refusal?: undefined }
  | { readonly found?: undefined; readonly refusal: ConditionVerdict; readonly fault: FieldFault };

function hostsOf(
  field: string,
  { group, kind, name, sectionName }: TargetReference,
  { kind: ofPolicy, meta: { namespace } }: TargetedPolicy,
  read: AttachReader,
  options: AttachOptions,
): TargetHosts {
  const refuse = (reason: string, part: string, value: string, expected: string): TargetHosts => {
    const fault = { field: `${field}.${part}`, value, expected };
    return { fault, refusal: fails(reason, faultText(fault)) };
  };
  // TLS of an XBackend is in the XBackend itself.
  if (isExternal({ group, kind }) && ofPolicy === "XBackendTrafficPolicy") {
    const host = externalService({ namespace, name }, read, options)?.host;
    if (host !== undefined) return { found: [host] };
    return refuse(
      "TargetNotFound",
      "name",
      name,
      `an XBackend that exists and is accepted (${namespace}/${name} is not)`,
    );
  }
  const isService = group === "" && kind === "Service";
  if (!isService && !(NETWORKING_GROUPS.includes(group) && kind === "ServiceEntry")) {
    return refuse("Invalid", "kind", group === "" ? kind : `${kind}.${group}`, "a Service or ServiceEntry");
  }
  const service = isService ? serviceNamed({ namespace, name }, read, options) : undefined;
  const entry = isService ? undefined : read.object("ServiceEntry", namespace, name)?.spec;
  const hosts = service ? [service.host] : entry?.hosts;
  const ports: readonly { readonly name: string }[] = service?.ports ?? entry?.ports ?? [];
  if (hosts === undefined) {
    return refuse("TargetNotFound", "name", name, `a ${kind} that exists (${namespace}/${name} does not)`);
  }
  if (sectionName !== undefined && !ports.some((port) => port.name === sectionName)) {
    const known = ports.map((port) => port.name).filter((one) => one !== "").join(", ");
    const expected = `the name of a port of ${kind} ${namespace}/${name} (${
      known === "" ? "no port has a name" : known
    })`;
    return refuse("TargetNotFound", "sectionName", sectionName, expected);
  }
  return { found: hosts };
}

function targetVerdict(
  policy: TargetedPolicy,
  ref: TargetReference,
  field: string,
  verdict: ConditionVerdict,
  all: readonly TargetedPolicy[],
): Pick<PolicyAtTarget, "accepted" | "fault"> {
  const winner = olderPolicy(policy, ref, all);
  if (winner !== undefined) {
    const { kind, meta: { namespace, name } } = winner;
    const expected = `a target without an older policy (${kind} ${namespace}/${name} is older)`;
    const fault = { field: `${field}.name`, value: ref.name, expected };
    return { accepted: fails("Conflicted", faultText(fault)), fault };
  }
  return { accepted: verdict };
}

/** The policy in force at each target. A store gives one array until a policy of the namespace changes. */
const byTarget = new WeakMap<readonly TargetedPolicy[], Map<string, TargetedPolicy>>();

/** The policy that is in force at a target in place of a policy; undefined: no other policy is. */
function olderPolicy(
  policy: TargetedPolicy,
  ref: TargetReference,
  all: readonly TargetedPolicy[],
): TargetedPolicy | undefined {
  let index = byTarget.get(all);
  if (index === undefined) {
    index = new Map();
    for (const one of all.toSorted(byPrecedence)) {
      for (const target of one.spec.targetRefs) {
        const key = targetKey(target);
        if (!index.has(key)) index.set(key, one);
      }
    }
    byTarget.set(all, index);
  }
  const first = index.get(targetKey(ref));
  return first === undefined || first.key === policy.key ? undefined : first;
}

function targetKey({ group, kind, name, sectionName = "" }: TargetReference): string {
  const own = NETWORKING_GROUPS.includes(group) ? NETWORKING_GROUPS[0] : group;
  return JSON.stringify([own, kind, name, sectionName]);
}
