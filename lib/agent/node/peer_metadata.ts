/**
 * The metadata of a workload for metrics. The workload's own proxy and the proxies of its peers get this metadata.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { concatBytes } from "../../resource/block.ts";
import { fieldSize, putFieldHead } from "../../resource/protowire.ts";

/** The facts about a workload. */
export interface PeerInput {
  readonly workload: string;
  readonly namespace: string;
  readonly cluster: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Names of further labels for peers. */
  readonly additional: readonly string[];
}

/** Longest value, in UTF-16 units: as long as a label or a name may be. */
const MAX_VALUE = 253;
/** Size of all further labels, bytes. Every request carries the labels. */
const MAX_ADDITIONAL = 2048;

const SPELLINGS = ["service.mesh.io", "service.istio.io"];

/** The parts by name, and `header`: the parts' message (a `google.protobuf.Value`, in Base64). */
export function peerMetadata(
  { workload, namespace, cluster, labels, additional }: PeerInput,
): Record<string, string> & { readonly header: string } {
  const label = (...names: readonly string[]) => names.map((name) => labels[name]).find((value) => value);
  const canonical = (name: string) => SPELLINGS.map((domain) => `${domain}/canonical-${name}`);
  const parts = Object.fromEntries(
    Object.entries({
      workload: workload || "unknown",
      namespace: namespace || "unknown",
      app: label("app") ?? "unknown",
      version: label("version") ?? "unknown",
      service: label(...canonical("name"), "app.kubernetes.io/name", "app") ?? (workload || "unknown"),
      revision: label(...canonical("revision"), "app.kubernetes.io/version", "version") ?? "latest",
      cluster: cluster || "unknown",
    }).map(([name, value]) => [name, value.slice(0, MAX_VALUE)]),
  );
  const further = additionalLabels(labels, additional);
  const sent = Object.keys(further).length === 0 ? parts : { ...parts, labels: further };
  return { ...parts, header: Buffer.from(valueBytes(sent)).toString("base64") };
}

/** As many labels as there is room for, in the given order. */
function additionalLabels(
  labels: Readonly<Record<string, string>>,
  names: readonly string[],
): Readonly<Record<string, string>> {
  const kept: Record<string, string> = {};
  let room = MAX_ADDITIONAL;
  for (const name of new Set(names)) {
    const value = labels[name]?.slice(0, MAX_VALUE);
    if (value === undefined) continue;
    room -= Buffer.byteLength(name) + Buffer.byteLength(value);
    if (room >= 0) kept[name] = value;
  }
  return kept;
}

interface NestedTexts {
  readonly [name: string]: string | NestedTexts;
}

/** `google.protobuf.Value`: string_value = 3, struct_value = 5; of a `Struct` fields = 1, a map of key = 1, value = 2. */
function valueBytes(value: string | NestedTexts): Uint8Array {
  if (typeof value === "string") return delimited(3, new TextEncoder().encode(value));
  const fields = Object.entries(value).map(([name, one]) =>
    delimited(1, concatBytes([delimited(1, new TextEncoder().encode(name)), delimited(2, valueBytes(one))]))
  );
  return delimited(5, concatBytes(fields));
}

function delimited(field: number, content: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(fieldSize(content.length));
  bytes.set(content, putFieldHead(bytes, 0, field, content.length));
  return bytes;
}
