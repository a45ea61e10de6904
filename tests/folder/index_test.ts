import assert from "node:assert/strict";
import fc from "fast-check";
import { findingFile, findingObject, formatFinding } from "../../lib/finding/finding.ts";
import { FolderIndex } from "../../lib/folder/index.ts";
import { ConfigStore } from "../../lib/config/store.ts";
import type { FolderObject } from "../../lib/folder/file.ts";
import { unpaced } from "../../lib/kernel/time/paced.ts";
import { inFile } from "../config/origins.ts";
import { runs } from "../properties.ts";

const OPTIONS = { defaultNamespace: "default", source: "" };
const bytes = (text: string) => new TextEncoder().encode(text);

function entry(name: string, port = 80, more = ""): string {
  return `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: {name: ${name}, namespace: ns}
spec:
  hosts: [${name}.example.com]
  ports: [{number: ${port}, name: http, protocol: HTTP}]
${more}`;
}

function service(name: string, port: number | string = 80): string {
  return `apiVersion: v1
kind: Service
metadata: {name: ${name}, namespace: ns}
spec: {ports: [{port: ${port}}]}
`;
}

/** A folder with its store, wired like in the program. */
class Fixture {
  readonly index = new FolderIndex(OPTIONS);
  readonly store = new ConfigStore();
  readonly source = this.store.addSource("", 0);

  write(path: string, ...documents: readonly string[]) {
    return this.writeText(path, documents.join("---\n"));
  }

  writeText(path: string, text: string) {
    const changes = this.index.apply([{ path, bytes: bytes(text) }]);
    return { ...changes, set: this.source.apply(changes) };
  }

  remove(path: string) {
    const changes = this.index.apply([{ path, bytes: undefined }]);
    return { ...changes, set: this.source.apply(changes) };
  }

  /** `name:port` of all live service entries. */
  live(): string[] {
    return this.store.list("ServiceEntry").map((one) => `${one.meta.name}:${one.spec.ports?.[0]?.number}`);
  }

  findings(): string[] {
    return this.index.findings().map(formatFinding);
  }
}

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("objects of a file live, with where they are written", () => {
  const folder = new Fixture();
  const { set } = folder.write("a.yaml", "# nothing\n", entry("one"), "\n\n# two\n" + entry("two"));
  assert.deepEqual(set.added.map((object) => [object.key, object.origin]), [
    ["ServiceEntry/ns/one", inFile("a.yaml", 3)],
    ["ServiceEntry/ns/two", inFile("a.yaml", 13)],
  ]);
});

test("only the changed object of a file is an update; the others are the same objects", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one"), entry("two"), entry("three"));
  const before = folder.store.get("ServiceEntry", "ns", "three");
  const { set, upserted } = folder.write("a.yaml", entry("one"), entry("two", 81), entry("three"));
  assert.deepEqual(set.updated.map(({ old, new: now }) => [old.key, old.hash === now.hash]), [[
    "ServiceEntry/ns/two",
    false,
  ]]);
  assert.equal(upserted.length, 1);
  assert.equal(folder.store.get("ServiceEntry", "ns", "three"), before);
});

test("objects that only moved are refreshed, not updated, and have their new line", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one"), entry("two"));
  const { set } = folder.write("a.yaml", entry("zero"), entry("one"), entry("two"));
  assert.deepEqual(set.added.map(({ meta }) => meta.name), ["zero"]);
  assert.deepEqual(set.updated, []);
  assert.deepEqual(
    set.refreshed.map(({ new: now }) => [now.meta.name, now.origin.from === "file" && now.origin.line]),
    [["one", 8], ["two", 15]],
  );
});

test("a batch that comes in parts is one change: what went from one file to another was never away", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one"), entry("two"));
  folder.write("b.yaml", entry("three"));
  const reading = folder.index.begin();
  unpaced(reading.take([{ path: "a.yaml", bytes: bytes(entry("two")) }]));
  unpaced(reading.take([{ path: "b.yaml", bytes: bytes(`${entry("three", 81)}---\n${entry("one")}`) }]));
  const changes = unpaced(reading.end());
  assert.deepEqual(changes.removed, []);
  assert.deepEqual(changes.upserted.map(({ meta }) => meta.name).sort(), ["one", "three", "two"]);
  const { added, updated } = folder.source.apply(changes);
  assert.deepEqual(added, []);
  assert.deepEqual(updated.map(({ new: now }) => now.meta.name), ["three"]);
});

test("an edit of labels that translation does not read changes nothing for it", () => {
  const folder = new Fixture();
  const rule = (label: string) =>
    `apiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata:\n  name: a\n  labels: {owner: ${label}}\nspec: {host: a}\n`;
  folder.writeText("a.yaml", rule("x"));
  let calls = 0;
  folder.store.subscribe(({ added, updated, removed }) => calls += added.length + updated.length + removed.length);
  const { set } = folder.writeText("a.yaml", rule("y"));
  assert.equal(set.refreshed.length, 1);
  assert.equal(calls, 0);
  assert.equal(folder.store.get("DestinationRule", "default", "a")?.meta.labels["owner"], "y");
});

test("a refused object keeps its last good version, harms no other, and is named with all findings", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one"), entry("two"));
  const { set, appeared } = folder.write("a.yaml", entry("one", 81), entry("two", 70000, "  resolution: NOPE\n"));
  assert.deepEqual(folder.live(), ["one:81", "two:80"]);
  assert.equal(set.removed.length, 0);
  assert.deepEqual(appeared.map(formatFinding), [
    'a.yaml:14 ServiceEntry ns/two: error: spec.resolution: "NOPE", expected one of NONE, STATIC, DNS, DNS_ROUND_ROBIN, DYNAMIC_DNS',
    "a.yaml:13 ServiceEntry ns/two: error: spec.ports[0].number: 70000, expected a port number, 1..65535",
  ]);
  assert.deepEqual([...folder.index.file("a.yaml")?.stale ?? []], ["ServiceEntry/ns/two"]);
  const { resolved } = folder.write("a.yaml", entry("one", 81), entry("two", 82));
  assert.equal(resolved.length, 2);
  assert.deepEqual(folder.live(), ["one:81", "two:82"]);
  assert.deepEqual(folder.findings(), []);
});

test("a document that does not parse keeps the object that its head names", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one"), entry("two"), entry("three"));
  const { appeared } = folder.write("a.yaml", entry("three"), entry("two", 80, "  x: [\n"), entry("one"));
  assert.deepEqual(folder.live(), ["one:80", "three:80", "two:80"]);
  const [problem] = appeared;
  assert.ok(problem !== undefined);
  assert.deepEqual([findingObject(problem).kind, findingObject(problem).name], ["ServiceEntry", "two"]);
  assert.equal(findingFile(problem), "a.yaml");
  assert.ok(problem.place.line > 8, "the line of the mistake itself");
});

test("a document without a readable name keeps the object of its place, and no other", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one"), entry("two"), entry("three"), entry("four"));
  folder.write("a.yaml", entry("one"), "]]]\n", entry("four"));
  assert.deepEqual(folder.live(), ["four:80", "one:80", "three:80", "two:80"]);
  folder.write("a.yaml", entry("one"), "]]]]\n");
  assert.deepEqual(folder.live(), ["four:80", "one:80", "three:80", "two:80"]);
  folder.write("a.yaml", "]]]]\n", entry("five"));
  assert.deepEqual(folder.live(), ["five:80", "four:80", "three:80", "two:80"]);
  folder.write("a.yaml", entry("five"));
  assert.deepEqual(folder.live(), ["five:80"]);
});

test("a misspelt kind keeps the object of its place", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one"), entry("two"));
  const { appeared } = folder.write("a.yaml", entry("one"), entry("two").replace("ServiceEntry", "ServiceEnty"));
  assert.deepEqual(folder.live(), ["one:80", "two:80"]);
  assert.equal(appeared[0]?.place.field, "kind");
});

test("a refused new object is not live, and the answer gives the reason", () => {
  const folder = new Fixture();
  const { set } = folder.write("a.yaml", entry("one", 70000));
  assert.deepEqual(set.added, []);
  assert.equal(folder.findings().length, 1);
});

test("a removed file takes its objects with it; an unreadable one keeps them", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one"));
  folder.source.apply(folder.index.apply([{ path: "a.yaml", bytes: "a file that can be read" }]));
  assert.deepEqual(folder.live(), ["one:80"]);
  folder.source.apply(folder.index.apply([{ path: "a.yaml", bytes: new Uint8Array([0xff, 0xfe]) }]));
  assert.deepEqual(folder.live(), ["one:80"]);
  assert.match(folder.findings()[0] ?? "", /UTF-8/);
  const { set } = folder.remove("a.yaml");
  assert.deepEqual(set.removed.map(({ key }) => key), ["ServiceEntry/ns/one"]);
  assert.deepEqual(folder.findings(), []);
});

test("of two files with one object the first by path wins, in any order of events; then the other takes over", () => {
  const folder = new Fixture();
  folder.write("b.yaml", entry("one", 82));
  const { appeared } = folder.write("a.yaml", entry("one", 81));
  assert.deepEqual(folder.live(), ["one:81"]);
  assert.deepEqual(appeared.map(formatFinding), [
    "b.yaml:1 ServiceEntry ns/one: error: ServiceEntry ns/one is there twice; expected each object once (it is in a.yaml:1 too, which is used)",
  ]);
  folder.write("c.yaml", entry("one", 83));
  assert.deepEqual(folder.live(), ["one:81"]);
  folder.remove("a.yaml");
  assert.deepEqual(folder.live(), ["one:82"]);
  assert.equal(folder.findings().length, 1);
  folder.remove("c.yaml");
  assert.deepEqual(folder.findings(), []);
});

test("variants of an object in other folders are one warning that names all of them; beside each other they are errors", () => {
  const folder = new Fixture();
  folder.write("base/a.yaml", entry("one", 81));
  folder.write("overlays/dev/a.yaml", entry("one", 82));
  folder.write("overlays/prod/a.yaml", entry("one", 83));
  folder.write("base/b.yaml", entry("one", 84));
  assert.deepEqual(folder.live(), ["one:81"]);
  assert.deepEqual(folder.findings(), [
    "base/b.yaml:1 ServiceEntry ns/one: error: ServiceEntry ns/one is there twice; expected each object once (it is in base/a.yaml:1 too, which is used)",
    "overlays/dev/a.yaml:1 ServiceEntry ns/one: warning: ServiceEntry ns/one is in several folders; expected each object in one of the folders that are read (base/a.yaml:1 is used, not overlays/dev/a.yaml:1, overlays/prod/a.yaml:1)",
  ]);
  folder.remove("base/b.yaml");
  folder.remove("overlays/dev/a.yaml");
  assert.match(folder.findings().join(), /^overlays\/prod\/a\.yaml:1 .* is used, not overlays\/prod\/a\.yaml:1\)/);
  folder.remove("overlays/prod/a.yaml");
  assert.deepEqual(folder.findings(), []);
});

test("of two documents of a file with one object the first wins", () => {
  const folder = new Fixture();
  folder.write("a.yaml", entry("one", 81), entry("one", 82));
  assert.deepEqual(folder.live(), ["one:81"]);
  assert.equal(folder.findings().length, 1);
});

test("lists, JSON and foreign objects", () => {
  const folder = new Fixture();
  const object = (name: string) => ({
    apiVersion: "networking.istio.io/v1alpha3",
    kind: "ServiceEntry",
    metadata: { name },
    spec: { hosts: [`${name}.com`], ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
  });
  folder.writeText("a.json", JSON.stringify([object("a"), object("b")]));
  folder.writeText(
    "b.yaml",
    `apiVersion: v1\nkind: List\nitems:\n- ${JSON.stringify(object("c"))}\n- {apiVersion: v1, kind: Service}\n`,
  );
  folder.writeText("c.json", JSON.stringify({ apiVersion: "v1", kind: "ServiceEntryList", items: [object("d")] }));
  folder.writeText("d.yaml", "apiVersion: v1\nkind: Secret\nmetadata: {name: x}\n---\njust: values\n");
  assert.deepEqual(folder.live(), ["a:80", "b:80", "c:80", "d:80"]);
  assert.deepEqual(folder.findings().map((found) => found.split(", ")[0]), [
    "b.yaml:5 items[1] Service default/: error: metadata.name is missing",
    "b.yaml:5 items[1] Service default/: error: spec is missing",
  ]);
});

test("hostile documents beside good ones", () => {
  const folder = new Fixture();
  const hostile = [
    "a: &x [*x]\n",
    "[".repeat(5000) + "\n",
    `apiVersion: networking.mesh.io/v1\nkind: ServiceEntry\nmetadata: {name: __proto__}\nspec: {__proto__: {hosts: [a]}}\n`,
    `apiVersion: networking.mesh.io/v1\nkind: constructor\nmetadata: {name: toString}\n`,
    `apiVersion: networking.mesh.io/v1\nkind: ServiceEntry\nmetadata: {name: constructor, labels: {constructor: a, toString: b}}\nspec: {hosts: [a.b]}\n`,
    `apiVersion: networking.mesh.io/v1\nkind: VirtualService\nmetadata: {name: re}\nspec: {hosts: [a], http: [{match: [{uri: {regex: "((a{100}){100}){100}"}}], route: [{destination: {host: a}}]}]}\n`,
    `apiVersion: networking.mesh.io/v1\nkind: ServiceEntry\nmetadata: 5\nspec: []\n`,
    "null\n",
    "5\n",
    "[null, 5, [[]], {}]\n",
  ];
  folder.write("a.yaml", entry("one"), ...hostile, entry("two"));
  assert.deepEqual(folder.live(), ["constructor:undefined", "one:80", "two:80"]);
  assert.equal(folder.findings().length, 5, "what is no object at all is nobody's business");
});

/** Everything observable of an index, for comparison. */
function picture(index: FolderIndex, live: ReadonlyMap<string, FolderObject>) {
  return {
    live: [...live].sort(([a], [b]) => (a < b ? -1 : 1)),
    passedOver: [...index.passedOver()].sort(([a], [b]) => (a < b ? -1 : 1)),
    findings: index.findings().map(formatFinding),
  };
}

const RUNS = runs(200);

const validDocument = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ name: fc.constantFrom("a", "b", "c", "d", "e"), port: fc.constantFrom(80, 81) }),
  },
  { weight: 1, arbitrary: fc.constant("# only a comment\n") },
  { weight: 1, arbitrary: fc.constant("\n\n") },
  { weight: 1, arbitrary: fc.constant("apiVersion: v1\nkind: Secret\n") },
  { weight: 2, arbitrary: fc.record({ service: fc.constantFrom("a", "b"), port: fc.constantFrom(80, 81) }) },
  { weight: 1, arbitrary: fc.constantFrom("apiVersion: x.io/v1\nkind: Other\n", "image: {{ .Values.image }}\n") },
  { weight: 1, arbitrary: fc.constant("apiVersion: v1\nkind: List\nitems: []\n") },
).map((one) =>
  typeof one === "string" ? one : "service" in one ? service(one.service, one.port) : entry(one.name, one.port)
);

const brokenDocument = fc.constantFrom(
  "]]\n",
  entry("a", 70000),
  entry("b", 80, "  x: 1\n"),
  entry("c", 80, "  [\n"),
  "kind: x\n",
);

const edits = (document: fc.Arbitrary<string>) =>
  fc.array(
    fc.record({
      path: fc.constantFrom("a.yaml", "b.yaml", "sub/c.yaml"),
      documents: fc.option(fc.array(document, { maxLength: 6 }), { nil: undefined, freq: 8 }),
    }),
    { minLength: 1, maxLength: 12 },
  );

test("after any edits, an incremental re-read equals a fresh read", () => {
  fc.assert(
    fc.property(edits(validDocument), (steps) => {
      const index = new FolderIndex(OPTIONS);
      const live = new Map<string, FolderObject>();
      const disk = new Map<string, Uint8Array>();
      for (const { path, documents } of steps) {
        const content = documents === undefined ? undefined : bytes(documents.join("---\n"));
        if (content === undefined) disk.delete(path);
        else disk.set(path, content);
        const changes = index.apply([{ path, bytes: content }]);
        for (const { upserted, removed } of [changes, changes.facts]) {
          for (const object of upserted) live.set(object.key, object);
          for (const key of removed) assert.ok(live.delete(key), "only what lives can be removed");
        }
      }
      const fresh = new FolderIndex(OPTIONS);
      const all = fresh.apply([...disk].map(([path, bytes]) => ({ path, bytes })));
      const freshLive = new Map([...all.upserted, ...all.facts.upserted].map((object) => [object.key, object]));
      assert.deepEqual(picture(index, live), picture(fresh, freshLive));
    }),
    { numRuns: RUNS },
  );
});

test("with any breakage, valid objects live as written and nothing lives that was never valid", () => {
  fc.assert(
    fc.property(
      edits(fc.oneof({ weight: 3, arbitrary: validDocument }, { weight: 1, arbitrary: brokenDocument })),
      (steps) => {
        const index = new FolderIndex(OPTIONS);
        const store = new ConfigStore();
        const source = store.addSource("", 0);
        const replayed = new Map<string, string>();
        const everValid = new Set<string>();
        store.subscribe(({ added, updated, removed }) => {
          for (const object of removed) assert.ok(replayed.delete(object.key));
          for (const object of added) replayed.set(object.key, object.hash);
          for (const { old, new: now } of updated) {
            assert.equal(replayed.get(old.key), old.hash);
            replayed.set(now.key, now.hash);
          }
        });
        for (const { path, documents } of steps) {
          const content = documents === undefined ? undefined : bytes(documents.join("---\n"));
          const fresh = new FolderIndex(OPTIONS);
          const valid = content === undefined ? [] : fresh.apply([{ path, bytes: content }]).upserted;
          // Document by document: a second document with the same object is as valid, and lives when the first goes.
          for (const document of documents ?? []) {
            const { upserted } = new FolderIndex(OPTIONS).apply([{ path, bytes: bytes(document) }]);
            for (const object of upserted) everValid.add(`${object.key} ${object.hash}`);
          }
          source.apply(index.apply([{ path, bytes: content }]));
          for (const object of valid) {
            assert.equal(index.file(path)?.objects.get(object.key)?.hash, object.hash, "what is written now wins");
          }
        }
        const live = store.list("ServiceEntry");
        for (const object of live) assert.ok(everValid.has(`${object.key} ${object.hash}`));
        assert.deepEqual(new Map(live.map((object) => [object.key, object.hash])), replayed);
      },
    ),
    { numRuns: RUNS },
  );
});

Deno.test("an edit of a file with very many refused and equal documents costs no pass over all of them for each", () => {
  const one = new Fixture();
  const count = 20_000;
  const refused = (more: string) => Array.from({ length: count }, () => `kind: VirtualService${more}\n`);
  one.write("a.yaml", entry("first"), ...refused(""), entry("last"));
  one.write("a.yaml", entry("first"), ...refused(" # edited"), entry("last"));
  one.write("a.yaml", entry("first", 81), ...refused(" # edited"), "kind: broken", entry("last"));
  assert.deepEqual(one.live(), ["first:81", "last:80"]);
});

Deno.test("each problem has the line of its field: in lists, in JSON, and when only the text before it was edited", () => {
  const entry = (name: string, extra: string) =>
    `  - apiVersion: networking.mesh.io/v1\n    kind: ServiceEntry\n    metadata: { name: ${name} }\n    spec:\n` +
    `      hosts: [${name}.example.com]\n      resolution: NONE\n${extra}      ports:\n` +
    `      - { number: 80, name: http, protocol: HTTP }\n`;
  const list = `kind: List\nitems:\n${entry("a", "")}${entry("b", "      nonsense: 1\n")}`;
  const bytes = (text: string) => new TextEncoder().encode(text);
  const index = new FolderIndex({ defaultNamespace: "ns", source: "" });
  index.apply([{ path: "a.yaml", bytes: bytes(list) }]);
  const lines = () => index.findings().map((found) => [findingObject(found).name, found.place.field, found.place.line]);
  assert.deepEqual(lines(), [["b", "spec.nonsense", 17]]);
  index.apply([{ path: "a.yaml", bytes: bytes(`# one\n# two\n${list}`) }]);
  assert.deepEqual(lines(), [["b", "spec.nonsense", 19]]);
  const object = {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: "c", namespace: "ns" },
    spec: { hosts: ["c.example.com"], ports: [{ number: 80, name: "http", protocol: "HTTP", extra: 1 }] },
  };
  index.apply([
    { path: "a.yaml", bytes: undefined },
    { path: "c.json", bytes: bytes(JSON.stringify(object, null, "\t")) },
  ]);
  const json = JSON.stringify(object, null, "\t").split("\n");
  assert.deepEqual(lines(), [["c", "spec.ports[0].extra", json.findIndex((one) => one.includes("extra")) + 1]]);
});
