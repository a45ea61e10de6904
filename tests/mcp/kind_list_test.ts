/** Lists of another control plane, as far as they are readable, and the answers. */
import assert from "node:assert/strict";
import { KIND_WIRE_TYPES } from "../../lib/mcp/wire_types.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { kindTypeUrl, writeWireObject } from "../../lib/mcp/kind_codec.ts";
import { KindList } from "../../lib/mcp/kind_list.ts";
import { KindClientMachine } from "../../lib/mcp/machine.ts";
import type { Any } from "../../lib/pb/codec.ts";

const entries = KIND_WIRE_TYPES.find(({ kind }) => kind === "ServiceEntry")!;

function packed(
  name: string,
  spec: object = { hosts: [`${name}.example.com`], ports: [{ number: 80, name: "http" }] },
) {
  const empty = { version: "", labels: {}, annotations: {} };
  return writeWireObject(entries, { namespace: "x", name, ...empty, spec });
}

const unreadable: Any = { type_url: packed("a").type_url, value: new Uint8Array([255, 255]) };
const foreignBody = (name: string): Any => {
  const type = KIND_WIRE_TYPES.find(({ kind }) => kind === "Sidecar")!;
  return writeWireObject(type, { namespace: "x", name, version: "", labels: {}, annotations: {}, spec: {} });
};

function taken(list: KindList, resources: readonly Any[]) {
  const { upserted, removed, refused } = unpaced(list.take(resources));
  return { upserted: upserted.map(({ key }) => key), removed, refused: refused.length };
}

Deno.test("a whole list gives the differences from the list before: new, changed and removed objects", () => {
  const list = new KindList(entries, "xds://there:15010");
  assert.deepEqual(taken(list, [packed("a"), packed("b")]), {
    upserted: ["ServiceEntry/x/a", "ServiceEntry/x/b"],
    removed: [],
    refused: 0,
  });
  assert.deepEqual(taken(list, [packed("a"), packed("b")]), { upserted: [], removed: [], refused: 0 });
  assert.deepEqual(taken(list, [packed("a", { hosts: ["c.example.com"], ports: [{ number: 80, name: "http" }] })]), {
    upserted: ["ServiceEntry/x/a"],
    removed: ["ServiceEntry/x/b"],
    refused: 0,
  });
});

Deno.test("an object that cannot be read keeps its earlier version, and affects no other object", () => {
  const list = new KindList(entries, "xds://there:15010");
  taken(list, [packed("a"), packed("b"), packed("c")]);
  assert.deepEqual(taken(list, [foreignBody("a"), packed("d")]), {
    upserted: ["ServiceEntry/x/d"],
    removed: ["ServiceEntry/x/b", "ServiceEntry/x/c"],
    refused: 1,
  });
  // The unreadable object has no name: no known object goes.
  assert.deepEqual(taken(list, [unreadable]), { upserted: [], removed: [], refused: 1 });
  assert.deepEqual(taken(list, []), { upserted: [], removed: ["ServiceEntry/x/a", "ServiceEntry/x/d"], refused: 0 });
});

Deno.test("an object that is refused is a finding, and its last good version stays until it goes", () => {
  const list = new KindList(entries, "xds://there:15010");
  const { upserted: [good] } = unpaced(list.take([packed("a")]));
  assert.equal(list.isStale(good!), false);
  assert.deepEqual(taken(list, [packed("a", { hosts: [] })]), { upserted: [], removed: [], refused: 0 });
  assert.deepEqual([...list.findings()].map(({ severity, place }) => [severity, place.field])[0], [
    "error",
    "spec.hosts",
  ]);
  assert.equal(list.isStale(good!), true);
  assert.deepEqual(taken(list, []), { upserted: [], removed: ["ServiceEntry/x/a"], refused: 0 });
  assert.deepEqual([...list.findings()], []);
});

Deno.test("a stream asks for every kind, acknowledges the accepted resources, and is synced when each kind has an answer", () => {
  const two = KIND_WIRE_TYPES.slice(0, 2);
  const [first = "", second = ""] = two.map(kindTypeUrl);
  const machine = new KindClientMachine(two, { id: "n" });
  assert.deepEqual(machine.opened().map(({ type_url, node }) => [type_url, node]), [[first, { id: "n" }], [
    second,
    undefined,
  ]]);
  const taken = machine.taken({ type_url: first, version_info: "v1", nonce: "n1" });
  assert.deepEqual(taken, { type_url: first, version_info: "v1", response_nonce: "n1" });
  assert.equal(machine.synced, false);
  const refused = machine.refused({ type_url: second, version_info: "v1", nonce: "n2" }, "why");
  assert.deepEqual(refused, {
    ...{ type_url: second, version_info: "", response_nonce: "n2" },
    error_detail: { code: 3, message: "why" },
  });
  assert.equal(machine.synced, true);
  assert.equal(machine.kindOf({ type_url: kindTypeUrl(KIND_WIRE_TYPES[2]!) }), undefined, "nobody asked for it");
  assert.deepEqual(machine.opened().map(({ version_info }) => version_info), ["v1", ""], "a stream after the first");
});
