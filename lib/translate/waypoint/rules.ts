/**
 * The virtual services that decide at a waypoint about the traffic of a service: producers' rules, of the service's
 * namespace, and rules of the waypoint's namespace. Rules of clients in other namespaces are for these clients.
 *
 * @module
 */
import type { EffectiveVirtualService, RuleProtocol } from "../../mesh/types.ts";
import type { Service } from "../../registry/types.ts";
import { virtualServiceAt } from "../reader/queries.ts";
import type { OpenReader } from "../reader/reader.ts";

/** The virtual services with rules of a protocol for a service, in order of precedence. */
export function rulesAtWaypoint(
  read: OpenReader,
  { hostname, namespace }: Service,
  protocol: RuleProtocol,
): readonly EffectiveVirtualService[] {
  const found: EffectiveVirtualService[] = [];
  for (let at = 0;; at++) {
    const rules = read.ask(virtualServiceAt(protocol, at), hostname);
    if (rules === undefined) return found;
    const isOwn = rules.namespace === namespace ||
      read.derived(`namespace=${rules.namespace}`, (t) => t.namespace === rules.namespace);
    if (isOwn && (rules.spec[protocol]?.length ?? 0) > 0) found.push(rules);
  }
}
