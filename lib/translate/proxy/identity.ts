/**
 * The claimed identity of a proxy: the parts of its node ID.
 *
 *     sidecar~10.1.2.3~reviews-v1-abc.default~default.svc.cluster.local
 *     type    address  name.namespace         DNS domain
 *
 * @module
 */
import { hostProblem, isDnsLabel } from "../../config/validation/names.ts";
import { isIp } from "../../registry/address.ts";
import { isNodeType, NODE_TYPES, type NodeType } from "../reader/proxy_profile.ts";

/** The parts of a node id. */
export interface NodeId {
  readonly type: NodeType;
  readonly address: string;
  readonly name: string;
  readonly namespace: string;
  readonly dnsDomain: string;
}

/** A node that cannot be served. The message has the part, the value and the expectation. */
export class NodeRefused extends Error {
  override name = "NodeRefused";
}

const longest = 1024;

/** The name of a workload: visible characters. Outside the orchestrator, names are free. */
const NAME = /^[\x21-\x7e]+$/;

/** The type of node tunnels, which are no proxies: a tunnel stands for all workloads of its node. */
const TUNNEL = "ztunnel";

/** Whether a node ID is of a node tunnel. */
export function isTunnelId(id: string): boolean {
  return id.startsWith(`${TUNNEL}~`);
}

/**
 * Parses the node ID of a node tunnel.
 *
 * @throws {NodeRefused} With all problems, not only the first.
 */
export function parseTunnelId(id: string): Omit<NodeId, "type"> {
  const { type: _type, ...parts } = parseId(id, (type) => type === TUNNEL ? undefined : typeProblem(type));
  return parts;
}

/**
 * Parses a node ID.
 *
 * @throws {NodeRefused} With all problems, not only the first.
 */
export function parseNodeId(id: string): NodeId {
  const { type, ...parts } = parseId(id, (type) => isNodeType(type) ? undefined : typeProblem(type));
  return { type: type as NodeType, ...parts };
}

/** @param problemOf the problem of a type; undefined: the type is right */
function parseId(
  id: string,
  problemOf: (type: string) => string | undefined,
): Omit<NodeId, "type"> & { readonly type: string } {
  if (id.length > longest) throw new NodeRefused(`node id has ${id.length} characters, expected at most ${longest}`);
  const parts = id.split("~");
  if (parts.length !== 4) {
    throw new NodeRefused(
      `node id ${JSON.stringify(id)} has ${parts.length} part(s), expected type~IP~name.namespace~domain`,
    );
  }
  const [type, address, workload, dnsDomain] = parts as [string, string, string, string];
  const problems: string[] = [];
  const wrongType = problemOf(type);
  if (wrongType !== undefined) problems.push(wrongType);
  if (address !== "" && !isIp(address)) problems.push(`address ${JSON.stringify(address)}, expected an IP address`);
  const dot = workload.lastIndexOf(".");
  const namespace = workload.slice(dot + 1);
  if (!NAME.test(workload.slice(0, Math.max(0, dot))) || !isDnsLabel(namespace)) {
    problems.push(`workload ${JSON.stringify(workload)}, expected name.namespace`);
  }
  if (dnsDomain === "") problems.push("empty DNS domain, expected a domain such as default.svc.cluster.local");
  else if (hostProblem(dnsDomain) !== undefined) {
    problems.push(`DNS domain ${JSON.stringify(dnsDomain)}, expected a domain such as default.svc.cluster.local`);
  }
  if (problems.length > 0) throw new NodeRefused(`node id ${JSON.stringify(id)}: ${problems.join("; ")}`);
  return { type, address, name: workload.slice(0, dot), namespace, dnsDomain };
}

function typeProblem(type: string): string {
  if (type === TUNNEL) return `type "${type}" is served with PILOT_ENABLE_AMBIENT=true`;
  return `type ${JSON.stringify(type)}, expected ${NODE_TYPES.join(" or ")}`;
}
