/**
 * The node by which a client introduces itself.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import { decode } from "../../pb/reflect.ts";
import { WireCursor, WireError } from "../../resource/protowire.ts";

// The size of a node, looked at before the node is decoded: a client may send a message of 4 MB, and reading 150,000
// fields of metadata takes more than a second.

/** Bytes of a node. Annotations of a pod, which agents pass on, have 256 KiB at most. */
const MAX_NODE = 1024 * 1024;

/** Fields of a node and values of its metadata. Agents send some hundred; reading as many takes about 0.1 s. */
const MAX_VALUES = 5000;

/** Where messages stand in messages: of each the fields that have messages, and what these are. */
const PARTS = {
  node: { 3: "struct" },
  struct: { 1: "entry" },
  entry: { 2: "value" },
  value: { 5: "struct", 6: "list" },
  list: { 1: "value" },
} as const satisfies Readonly<Record<string, Readonly<Record<number, string>>>>;

type NodePiece = keyof typeof PARTS;

/** What is too much in a node; undefined: nothing, or the bytes are none. */
export function nodeSizeProblem(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_NODE) return `it has ${bytes.length} bytes, expected at most ${MAX_NODE}`;
  try {
    if (hasFewValues(bytes)) return undefined;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
  return `it has more than ${MAX_VALUES} fields and values of metadata, expected at most as many`;
}

/** The messages are walked without recursion: their depth is the client's to choose. */
function hasFewValues(bytes: Uint8Array): boolean {
  const open: [part: NodePiece, from: number, end: number][] = [["node", 0, bytes.length]];
  let values = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, from, end] = next;
    const parts: Readonly<Record<number, NodePiece>> = PARTS[part];
    const cursor = new WireCursor(bytes, from, end);
    while (cursor.next()) {
      // An entry has a name and a value, and a value has one field: they are counted where they stand.
      if (part !== "entry" && part !== "value" && ++values > MAX_VALUES) return false;
      const inner = cursor.wireType === 2 ? parts[cursor.field] : undefined;
      if (inner === undefined) cursor.skip();
      else {
        const to = cursor.lengthPrefix();
        open.push([inner, cursor.at, to]);
        cursor.at = to;
      }
    }
  }
  return true;
}

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
