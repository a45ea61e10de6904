/** Objects of all kinds in the messages between control planes. */
import assert from "node:assert/strict";
import { load } from "js-yaml";
import { KIND_WIRE_TYPES, type KindWireType } from "../../lib/mcp/wire_types.ts";
import { MESH_KINDS, type MeshKind } from "../../lib/config/kinds/kinds.ts";
import { parseObject } from "../../lib/config/object.ts";
import { groupOfKind } from "../../lib/config/spelling/spelling.ts";
import type { ConfigObject } from "../../lib/config/types.ts";
import { FolderIndex } from "../../lib/folder/index.ts";
import { kindTypeUrl, readWireObject, wireName, writeWireObject } from "../../lib/mcp/kind_codec.ts";
import { KindList } from "../../lib/mcp/kind_list.ts";
import { KindSets } from "../../lib/mcp/kind_sets.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { any } from "../../lib/pb/codec.ts";

const DATA = new URL("../testdata/config/", import.meta.url);

/** The valid cases of a kind's golden file. */
function cases(kind: MeshKind): ConfigObject[] {
  const written = load(Deno.readTextFileSync(new URL(`kinds/${kind}.yaml`, DATA))) as {
    readonly meta?: object;
    readonly spec?: unknown;
  }[];
  const apiVersion = `${groupOfKind(kind)}.mesh.io/v1`;
  return written.flatMap(({ meta, spec }, index) => {
    const metadata = { name: `case-${index}`, namespace: "shop", creationTimestamp: "2024-01-31T12:00:01Z", ...meta };
    const origin = { from: "api", source: "test", uid: "" } as const;
    return parseObject({ apiVersion, kind, metadata, spec }, origin, { defaultNamespace: "shop" }).object ?? [];
  });
}

function samples(): ConfigObject[] {
  const index = new FolderIndex({ defaultNamespace: "default", source: "" });
  const files = ["routing.yaml", "external.yaml", "policies.yaml"];
  const read = files.map((path) => ({ path, bytes: Deno.readFileSync(new URL(`samples/${path}`, DATA)) }));
  return [...index.apply(read).upserted];
}

/** An object after the way to another control plane. */
function travelled(type: KindWireType, objects: readonly ConfigObject[]): ConfigObject[] {
  const failures: string[] = [];
  const sets = new KindSets(({ key }, error) => void failures.push(`${key}: ${error}`));
  unpaced(sets.fill((kind) => objects.filter((object) => object.kind === kind)));
  assert.deepEqual(failures, []);
  const packed = [...sets.get(kindTypeUrl(type))!].map(({ typeUrl: type_url, value }) => ({ type_url, value }));
  const list = new KindList(type, "xds://there:15010");
  const { upserted, refused } = unpaced(list.take(packed));
  assert.deepEqual(refused, []);
  return [...upserted];
}

const facts = ({ key, meta, spec }: ConfigObject) => ({ key, meta, spec });
const byKey = (a: { readonly key: string }, b: { readonly key: string }) => (a.key < b.key ? -1 : 1);

Deno.test("every kind has its messages", () => {
  assert.deepEqual(KIND_WIRE_TYPES.map(({ kind }) => kind).sort(), [...MESH_KINDS].sort());
});

for (const type of KIND_WIRE_TYPES) {
  Deno.test(`objects of kind ${type.kind} mean the same after they went to another control plane`, () => {
    const kind = type.kind as MeshKind;
    const objects = [...cases(kind), ...samples().filter((object) => object.kind === kind)];
    assert.ok(objects.length > 1, `${objects.length} cases`);
    assert.deepEqual(travelled(type, objects).map(facts).sort(byKey), objects.map(facts).sort(byKey));
  });
}

Deno.test("what is no resource, has no name, or another body than its kind is refused with what was expected", () => {
  const type = KIND_WIRE_TYPES[0]!;
  const empty = { version: "", labels: {}, annotations: {}, spec: {} };
  const nameless = writeWireObject(type, { namespace: "", name: "", ...empty });
  const other = writeWireObject(KIND_WIRE_TYPES[1]!, { namespace: "a", name: "b", ...empty });
  const refusal = (packed: Parameters<typeof readWireObject>[1]) => {
    try {
      readWireObject(type, packed);
    } catch (error) {
      return (error as Error).message;
    }
    return "read";
  };
  assert.match(
    refusal(any("google.protobuf.Struct")),
    /^got a "type.*Struct", expected type.*istio.mcp.v1alpha1.Resource/,
  );
  assert.equal(refusal(nameless), 'metadata.name: got "/", expected NAMESPACE/NAME');
  assert.match(refusal(other), /^a\/b: got a body ".*DestinationRule", expected .*VirtualService$/);
  assert.deepEqual([wireName(other), wireName({ value: new Uint8Array([255]) })], ["a/b", ""]);
});
