/**
 * The node: a client's description of itself.
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { Code } from "../../grpc/codes.ts";
import { RpcError } from "../../grpc/status.ts";
import { decode } from "../../pb/reflect.ts";
import { WireCursor, WireError } from "../../resource/protowire.ts";

/** Most bytes of a node. Annotations of a pod, passed on by agents, have 256 KiB at most. */
const MAX_NODE = 1024 * 1024;

/**
 * Most fields of a node and values of its metadata together. Agents send some hundred. Reading 5000 takes about 0.1 s.
 */
const MAX_VALUES = 5000;

/** The nested messages of a node: by message, the fields with a message inside and the sort of the inner message. */
const PARTS = {
  node: { 3: "struct" },
  struct: { 1: "entry" },
  entry: { 2: "value" },
  value: { 5: "struct", 6: "list" },
  list: { 1: "value" },
} as const satisfies Readonly<Record<string, Readonly<Record<number, string>>>>;

type NodePiece = keyof typeof PARTS;

/**
 * The reason why a node is too large; undefined: the size is right, or the bytes are not a node.
 *
 * The size is looked at before the node is decoded: a client may send a message of 4 MB, and reading 150,000 fields of
 * metadata takes more than a second.
 */
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

/** Walks the messages without recursion: the client chooses the depth. */
function hasFewValues(bytes: Uint8Array): boolean {
  const open: [part: NodePiece, from: number, end: number][] = [["node", 0, bytes.length]];
  let values = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [part, from, end] = next;
    const parts: Readonly<Record<number, NodePiece>> = PARTS[part];
    const cursor = new WireCursor(bytes, from, end);
    while (cursor.next()) {
      // Fields of an entry (a name and a value) and of a value (one field) do not count: the entry or the list counts
      // already.
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
 * Reads a node.
 *
 * @throws {RpcError} INVALID_ARGUMENT when the bytes are not a node, or the node is too large or without an id
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
