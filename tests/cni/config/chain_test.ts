import assert from "node:assert/strict";
import fc from "fast-check";
import { chain, ChainError, isChained, unchain } from "../../../lib/cni/config/chain.ts";
import { pluginEntry } from "../../../lib/cni/config/entry.ts";
import { choosePrimary, type NetworkConfig, readConfig } from "../../../lib/cni/config/libcni.ts";
import { type NetworkJson } from "../../../lib/cni/config/network.ts";

const entry = pluginEntry({
  runDir: "/var/run/mesh-cni",
  logLevel: "info",
  ambientEnabled: false,
  excludeNamespaces: ["kube-system"],
  podNamespace: "mesh-system",
  agentPods: "mesh-cni-node-",
  template: "",
});

function valid(name: string, text: string): NetworkConfig {
  const read = readConfig({ name, text });
  if ("problem" in read) assert.fail(`${name}: ${read.problem}`);
  return read;
}

/** Lists in the styles of people and programs. */
const lists: Record<string, string> = {
  "indented by two": `{
  "name": "cbr0",
  "cniVersion": "0.3.1",
  "plugins": [
    {
      "type": "flannel",
      "delegate": { "hairpinMode": true, "isDefaultGateway": true }
    },
    { "type": "portmap", "capabilities": { "portMappings": true } }
  ]
}
`,
  "one line, no line break at the end": `{"cniVersion":"1.0.0","name":"n","plugins":[{"type":"bridge"}]}`,
  "tabs, CRLF, keys after plugins":
    `{\r\n\t"plugins": [\r\n\t\t{"type": "calico"}\r\n\t],\r\n\t"name": "k8s",\r\n\t"cniVersion": "0.4.0",\r\n\t"disableCheck": true\r\n}`,
  "unknown keys, big and odd numbers":
    `{"x": 12345678901234567890, "y": 1.0, "z": 1e300, "name": "n", "cniVersion": "1.1.0",
 "plugins" : [ {"type":"a","deep":{"type":"mesh-cni","plugins":[{}]}} , {"type":"b","s":"]},\\"[{"} ] , "plugins2":[]}`,
  "a key twice": `{"plugins":[{"type":"old"}],"name":"n","cniVersion":"0.3.1","plugins":[{"type":"new"}]}`,
};

for (const [what, text] of Object.entries(lists)) {
  Deno.test({
    name: `a list (${what}) gets our entry last and keeps every other byte`,
    permissions: "none",
    fn() {
      const before = valid("10-a.conflist", text);
      const chained = chain(before, entry);
      const after = valid(chained.name, chained.text);
      assert.equal(chained.name, "10-a.conflist");
      assert.deepEqual(after.plugins.slice(0, -1), before.plugins);
      assert.deepEqual(after.plugins.at(-1), entry);
      assert(isChained(after, entry));
      assert.deepEqual(unchain(after), { name: "10-a.conflist", text });
      assert.deepEqual(chain(after, entry), chained, "a second time changes nothing");
    },
  });
}

const singles: Record<string, string> = {
  "with line break": `{\n  "cniVersion": "0.4.0",\n  "name": "mynet",\n  "type": "bridge"\n}\n`,
  "without": `{"name":"mynet","type":"bridge","cniVersion":"1.0.0"}`,
  "with text that looks like ours":
    `{"name":"mynet","type":"bridge","cniVersion":"1.0.0","a":"\\n,[","b":[1,\n2\n,3]}\n\n`,
};

for (const [what, text] of Object.entries(singles)) {
  Deno.test({
    name: `a single configuration (${what}) becomes a list of its own name and comes back byte for byte`,
    permissions: "none",
    fn() {
      const before = valid("10-a.conf", text);
      const chained = chain(before, entry);
      assert.equal(chained.name, "10-a.conflist");
      const after = valid(chained.name, chained.text);
      assert.deepEqual([after.name, after.version], ["mynet", before.version]);
      assert.deepEqual(after.plugins[0], JSON.parse(text));
      assert(isChained(after, entry));
      assert.deepEqual(unchain(after), { name: "10-a.conf", text });
    },
  });
}

Deno.test({
  name: "chaining and then unchaining gives back any list",
  permissions: "none",
  fn() {
    // Members read by libcni must have libcni's types, in any case of letters. These members have other names.
    const members = fc.dictionary(fc.string().map((name) => `x-${name}`), fc.jsonValue());
    const plugin = members.map((some) => ({ ...some, type: "p" }));
    const list = fc.record({
      plugins: fc.array(plugin, { minLength: 1, maxLength: 4 }),
      more: members,
      indent: fc.constantFrom(undefined, 2, "\t"),
    });
    fc.assert(fc.property(list, ({ plugins, more, indent }) => {
      const text = JSON.stringify({ ...more, name: "n", cniVersion: "1.0.0", plugins }, null, indent);
      const before = valid("a.conflist", text);
      const after = valid("a.conflist", chain(before, entry).text);
      assert.deepEqual(after.plugins.at(-1), entry);
      assert.deepEqual(unchain(after), { name: "a.conflist", text });
      const single = JSON.stringify({ ...more, name: "n", cniVersion: "1.0.0", ...plugins[0] }, null, indent);
      const wrapped = chain(valid("a.conf", single), entry);
      assert.deepEqual(unchain(valid(wrapped.name, wrapped.text)), { name: "a.conf", text: single });
    }));
  },
});

Deno.test({
  name: "another entry of ours is replaced, wherever others moved it, and only ours goes when it is taken out",
  permissions: "none",
  fn() {
    const old: NetworkJson = { type: "mesh-cni", name: "mesh-cni", plugin_log_level: "debug" };
    const moved = JSON.stringify({ name: "n", cniVersion: "0.3.1", plugins: [old, { type: "a" }, old, { type: "b" }] });
    const chained = valid("a.conflist", chain(valid("a.conflist", moved), entry).text);
    assert.deepEqual(chained.plugins.map((p) => p["type"]), ["a", "b", "mesh-cni"]);
    const before = valid("a.conflist", moved);
    assert.deepEqual(JSON.parse(unchain(before)?.text ?? "").plugins, [{ type: "a" }, { type: "b" }]);
  },
});

Deno.test({
  name: "a list that passes no results on is refused and named; an old single configuration is raised",
  permissions: "none",
  fn() {
    const text = (version: string) => JSON.stringify({ name: "n", cniVersion: version, plugins: [{ type: "a" }] });
    for (const version of ["0.2.0", "0.1.0", "", "2.0.0"]) {
      assert.throws(
        () => chain(valid("a.conflist", text(version)), entry),
        (e: Error) =>
          e instanceof ChainError &&
          e.message.startsWith(`a.conflist: cniVersion: got "${version}", expected one of 0.3.0`),
      );
    }
    const raised = chain(valid("a.conf", `{"name":"n","type":"a","cniVersion":"0.2.0"}`), entry);
    assert.equal(valid(raised.name, raised.text).version, "0.3.1");
  },
});

Deno.test({
  name: "the runtime's choice is the first valid file by name, and the others say why not",
  permissions: "none",
  fn() {
    const choice = choosePrimary([
      { name: "20-b.conflist", text: lists["indented by two"] },
      { name: "05-list.conf", text: lists["indented by two"] },
      { name: "04-empty.conflist", text: `{"name":"n","cniVersion":"1.0.0","plugins":[]}` },
      { name: "03-half.conflist", text: `{"name":"n","plu` },
      { name: "02-gone.conf", text: undefined, problem: "it just went" },
      { name: "00-readme.txt", text: "no" },
      { name: "10-a.conf", text: `{"type":"bridge"}` },
    ]);
    assert.equal(choice.primary?.file, "10-a.conf");
    assert.deepEqual(
      choice.passedOver.map((
        { file, problem },
      ) => [file, problem.startsWith("it is not JSON") ? "it is not JSON" : problem]),
      [
        ["02-gone.conf", "it just went"],
        ["03-half.conflist", "it is not JSON"],
        ["04-empty.conflist", "plugins: got an array, expected at least one plugin"],
        [
          "05-list.conf",
          "type: got none, expected the name of a plugin; a list must be in a file that ends in .conflist",
        ],
      ],
    );
  },
});

Deno.test({
  name: "of several versions that a configuration names, the newest that we speak counts",
  permissions: "none",
  fn() {
    const read = (more: string) => valid("a.conflist", `{${more},"name":"n","plugins":[{"type":"a"}]}`).version;
    assert.equal(read(`"cniVersions":["0.4.0","1.1.0","1.0.0"]`), "1.1.0");
    assert.equal(read(`"cniVersion":"0.3.1","cniVersions":["1.0.0","9.0.0"]`), "1.0.0");
    assert.equal(read(`"cniVersion":"0.2.0","cniVersions":["9.0.0"]`), "0.2.0");
    const chained = chain(valid("a.conflist", `{"cniVersions":["1.0.0"],"name":"n","plugins":[{"type":"a"}]}`), entry);
    assert(isChained(valid(chained.name, chained.text), entry));
  },
});
