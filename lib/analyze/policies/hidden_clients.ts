/**
 * AuthorizationPolicies that compare clients at workloads behind a waypoint. The waypoint's connections have the
 * waypoint's identity and address, so the node tunnel of such a workload never sees the client.
 *
 * @module
 */
import { carriesLabels } from "../../config/schema/labels.ts";
import type { ServiceFact, WorkloadFact } from "../../config/facts/view.ts";
import type { AuthorizationRule } from "../../config/kinds/authorization_policy/schema.ts";
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import type { StringMap } from "../../config/kinds/kinds.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import { selectionOf } from "../../mesh/selection/selection.ts";
import { tunnelPolicy } from "../../mesh/tunnel/authorization.ts";
import type { Analyzer } from "../analyzer.ts";
import type { AnalysisReader } from "../reader/reader.ts";
import { isTunnelled, namespacesOf } from "./tunnelled.ts";

export const HIDDEN_CLIENTS: Analyzer<"AuthorizationPolicy"> = {
  kind: "AuthorizationPolicy",
  reports: ["client-behind-waypoint"],
  analyze: (policy, read, report) => {
    const { action, rules = [] } = policy.spec;
    const comparing = rules.flatMap((rule, index) =>
      clientsIn(rule).map((field) => ({ rule, at: `spec.rules[${index}].${field}` }))
    );
    if (comparing.length === 0 || tunnelPolicy(policy, read.meshConfig).unsent) return;
    for (const found of behindWaypoints(policy, read)) {
      const { service, workload, waypoint: { namespace, name } } = found;
      const hidden = comparing.filter(({ rule }) => !names(rule, namespace, name));
      // The waypoint itself compares the client, and refuses it.
      const comparesPorts = hidden.some(({ rule }) => portsIn(rule));
      if (action === "DENY" && !comparesPorts && holdsAtWaypoint(policy, found.waypoint, read)) continue;
      // A rule that admits the waypoint admits its clients, whatever the other rules say.
      if (action === "ALLOW" && hidden.length < comparing.length) continue;
      const [first] = hidden;
      if (first === undefined) continue;
      report("warning", "client-behind-waypoint", {
        field: first.at,
        expected: `targetRefs (${service.fact.key} sends the clients of ${workload.kind} ${workload.meta.name} ` +
          `through the waypoint ${namespace}/${name})`,
        effect: action === "ALLOW"
          ? "The rule accepts no client that comes through the waypoint."
          : "The rule takes the waypoint for the client of all connections that come through it.",
        others: [service.fact.key, workload.key],
      });
      return;
    }
  },
};

const CLIENT_FIELDS = [
  ...["principals", "notPrincipals", "namespaces", "notNamespaces", "serviceAccounts", "notServiceAccounts"] as const,
  ...["ipBlocks", "notIpBlocks"] as const,
];

/** The fields of a rule that compare clients. */
function clientsIn({ from = [], when = [] }: AuthorizationRule): string[] {
  const sources = from.flatMap(({ source = {} }, at) =>
    CLIENT_FIELDS.filter((field) => source[field] !== undefined).map((field) => `from[${at}].source.${field}`)
  );
  return [...sources, ...when.flatMap(({ key }, at) => key.startsWith("source.") ? [`when[${at}]`] : [])];
}

/** Whether a rule names the account of a waypoint. The account of a waypoint has the name of its Gateway. */
function names({ from = [], when = [] }: AuthorizationRule, namespace: string, name: string): boolean {
  const sources = from.map(({ source = {} }) => source);
  const conditions = (key: string) => when.filter((one) => one.key === key).flatMap(({ values = [] }) => values);
  const principals = [...sources.flatMap((one) => one.principals ?? []), ...conditions("source.principal")];
  const namespaces = [...sources.flatMap((one) => one.namespaces ?? []), ...conditions("source.namespace")];
  const accounts = [...sources.flatMap((one) => one.serviceAccounts ?? []), ...conditions("source.serviceAccount")];
  return principals.some((one) => one === "*" || one.endsWith(`/ns/${namespace}/sa/${name}`)) ||
    namespaces.some((one) => one === "*" || one === namespace) ||
    accounts.some((one) => one === `${namespace}/${name}` || one === name);
}

/** Whether a rule compares ports, which are the service's at a waypoint, and the workload's at a tunnel. */
function portsIn({ to = [], when = [] }: AuthorizationRule): boolean {
  return to.some(({ operation = {} }) => operation.ports !== undefined || operation.notPorts !== undefined) ||
    when.some(({ key }) => key === "destination.port");
}

/** Whether a waypoint enforces a policy without targets, in front of its services. */
function holdsAtWaypoint(
  policy: AuthorizationPolicy,
  { namespace, name }: BehindWaypoint["waypoint"],
  read: AnalysisReader,
): boolean {
  if (read.settings.tunnels?.layersPolicies !== true) return false;
  const { labels } = selectionOf(policy);
  if (![namespace, read.meshConfig.rootNamespace].includes(policy.meta.namespace)) return false;
  return Object.keys(labels).length === 0 ||
    read.workloads(namespace, labels).some(({ spec }) => spec.labels[GATEWAY_NAME_LABEL] === name);
}

const USE_WAYPOINT = "mesh.io/use-waypoint";
const USE_WAYPOINT_NAMESPACE = "mesh.io/use-waypoint-namespace";

/** A workload of a policy, and a service that sends the workload's connections through a waypoint. */
interface BehindWaypoint {
  readonly workload: WorkloadFact;
  readonly service: ServiceFact;
  readonly waypoint: { readonly namespace: string; readonly name: string };
}

/** The search begins at services with a waypoint, which are few: a mesh has many more workloads. */
function* behindWaypoints(policy: AuthorizationPolicy, read: AnalysisReader): Iterable<BehindWaypoint> {
  const { labels } = selectionOf(policy);
  for (const namespace of namespacesOf(policy, read)) {
    const ofNamespace = read.namespaceFact(namespace)?.meta.labels;
    for (const service of read.serviceFacts(namespace)) {
      const { meta, spec: { selector } } = service.fact;
      const waypoint = waypointIn(meta.labels[USE_WAYPOINT] === undefined ? ofNamespace : meta.labels, namespace);
      if (waypoint === undefined || Object.keys(selector).length === 0) continue;
      const workload = read.workloads(namespace, labels).find((one) =>
        carriesLabels(one.spec.labels, selector) && isTunnelled(one, read)
      );
      if (workload !== undefined) yield { workload, service, waypoint };
    }
  }
}

function waypointIn(labels: StringMap = {}, namespace: string): BehindWaypoint["waypoint"] | undefined {
  const name = labels[USE_WAYPOINT];
  if (name === undefined || name === "" || name === "none") return undefined;
  return { namespace: labels[USE_WAYPOINT_NAMESPACE] ?? namespace, name };
}
