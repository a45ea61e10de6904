/**
 * The node by which a client introduces itself.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import { decode } from "../../pb/reflect.ts";
import { nodeSizeProblem } from "./node_size.ts";

type Node = envoy.config.core.v3.Node;

/**
 * Reads it.
 *
 * @throws {RpcError} INVALID_ARGUMENT when it is none, is too large or has no id
 */
export function readNode(bytes: Uint8Array): Node {
  const problem = nodeSizeProblem(bytes);
  if (problem !== undefined) throw new RpcError(Code.INVALID_ARGUMENT, `node: ${problem}`);
  let node: Node;
  try {
    node = decode<Node>("envoy.config.core.v3.Node", bytes);
  } catch (error) {
    throw new RpcError(Code.INVALID_ARGUMENT, `node: expected a Node message, got ${(error as Error).message}`);
  }
  if (!node.id) {
    throw new RpcError(Code.INVALID_ARGUMENT, "node.id: expected the proxy's id in the first request, got none");
  }
  return node;
}
