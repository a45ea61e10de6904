import assert from "node:assert/strict";
import { Metadata } from "../../../lib/translate/proxy/metadata.ts";

type Read = (metadata: Metadata) => unknown;

const long = "x".repeat(1025);
const TAKEN: readonly (readonly [string, unknown, Read, unknown])[] = [
  ["a text", "a", (m) => m.text("K"), "a"],
  ["a number as text", 5, (m) => m.text("K"), "5"],
  ["no text", undefined, (m) => m.text("K"), ""],
  ["an empty text, which counts as none", "", (m) => m.flag("K", true), true],
  ["a switch as text", "TRUE", (m) => m.flag("K"), true],
  ["a switch as number", 0, (m) => m.flag("K", true), false],
  ["a count as text", "65535", (m) => m.count("K", 65535), 65535],
  ["a duration", "1m30s", (m) => m.duration("K"), 90_000],
  ["a list as text", " a, b,,c ", (m) => m.list("K"), ["a", "b", "c"]],
  ["a list", ["a", " b"], (m) => m.list("K"), ["a", "b"]],
  ["labels in Istio's spelling", { "security.istio.io/tlsMode": "istio" }, (m) => m.labels("K"), {
    "security.mesh.io/tlsMode": "mesh",
  }],
  [
    "settings",
    { gatewayTopology: { numTrustedProxies: 2 }, concurrency: 5 },
    (m) => m.settings("K", "gatewayTopology"),
    {
      gatewayTopology: { numTrustedProxies: 2, forwardClientCertDetails: "UNDEFINED" },
    },
  ],
  [
    "settings as text, in the other spelling",
    '{"proxyHeaders":{"envoy_debug_headers":{"disabled":true}}}',
    (m) => m.settings("K", "proxyHeaders"),
    {
      proxyHeaders: { forwardedClientCert: "UNDEFINED", proxyDebugHeaders: { disabled: true } },
    },
  ],
  ["no settings", undefined, (m) => m.settings("K", "proxyHeaders"), {}],
];

for (const [name, value, read, expected] of TAKEN) {
  Deno.test({
    name: `node metadata: ${name}`,
    permissions: "none",
    fn() {
      const metadata = new Metadata({ K: value });
      assert.deepEqual([read(metadata), metadata.problems], [expected, []]);
    },
  });
}

const REFUSED: readonly (readonly [unknown, Read, string])[] = [
  [{}, (m) => m.text("K"), "metadata K={}, expected a string"],
  [long, (m) => m.text("K"), `metadata K="${"x".repeat(99)}... (1027 characters), expected at most 1024 characters`],
  ["a\nb", (m) => m.text("K"), 'metadata K="a\\nb", expected no control characters'],
  ["yes", (m) => m.flag("K"), 'metadata K="yes", expected true or false'],
  [-1, (m) => m.count("K", 9), "metadata K=-1, expected a whole number from 0 to 9"],
  ["1.5", (m) => m.count("K", 9), 'metadata K="1.5", expected a whole number from 0 to 9'],
  [5, (m) => m.duration("K"), "metadata K=5, expected a duration such as 30s"],
  [["a", 1, 2], (m) => m.list("K"), 'metadata K=["a",1,2], expected a comma separated list'],
  [[], (m) => m.labels("K"), "metadata K=[], expected a map of strings"],
  [{ a: 1 }, (m) => m.labels("K"), 'metadata K={"a":1}, expected a string at "a"'],
  ["{", (m) => m.settings("K", "proxyHeaders"), 'metadata K="{", expected a JSON object'],
  [
    { gatewayTopology: { numTrustedProxies: "many" } },
    (m) => m.settings("K", "gatewayTopology"),
    'metadata K: gatewayTopology.numTrustedProxies: "many", expected an integer, 0 or more',
  ],
  [
    { proxyHeaders: { server: { value: "x".repeat(20_000) } } },
    (m) => m.settings("K", "proxyHeaders"),
    `metadata K={"proxyHeaders":{"server":{"value":"${"x".repeat(60)}`,
  ],
];

for (const [value, read, problem] of REFUSED) {
  Deno.test({
    name: `node metadata: refused ${problem.slice(0, 60)}`,
    permissions: "none",
    fn() {
      const metadata = new Metadata({ K: value });
      read(metadata);
      assert.equal(metadata.problems.length, 1);
      assert.ok(metadata.problems[0]?.startsWith(problem), metadata.problems.join());
    },
  });
}

Deno.test({
  name: "node metadata: all that is wrong is named, and names of other objects' prototypes are absent",
  permissions: "none",
  fn() {
    const metadata = new Metadata({ A: {}, B: { x: 1, y: [] } });
    assert.equal(metadata.text("toString"), "");
    metadata.text("A");
    metadata.labels("B");
    assert.deepEqual(metadata.problems, [
      "metadata A={}, expected a string",
      'metadata B={"x":1,"y":[]}, expected a string at "x"',
      'metadata B={"x":1,"y":[]}, expected a string at "y"',
    ]);
  },
});
