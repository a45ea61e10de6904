/** Explanations name the policies on trial that would refuse the request. */
import assert from "node:assert/strict";
import { explained } from "./way.ts";

const object = (group: string, kind: string, metadata: object, spec: object) =>
  `---\n${
    JSON.stringify({ apiVersion: `${group}.mesh.io/v1`, kind, metadata: { namespace: "shop", ...metadata }, spec })
  }\n`;
const MESH = object("networking", "WorkloadEntry", { name: "cart" }, {
  ...{ address: "10.2.0.2", labels: { app: "cart" }, serviceAccount: "cart" },
}) +
  object("networking", "ServiceEntry", { name: "cart" }, {
    hosts: ["cart.test"],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    workloadSelector: { labels: { app: "cart" } },
  }) +
  object("networking", "ServiceEntry", { name: "app" }, {
    hosts: ["app.test"],
    addresses: ["10.1.1.1"],
    location: "MESH_INTERNAL",
    resolution: "STATIC",
    ports: [
      { number: 80, name: "http", protocol: "HTTP", targetPort: 8080 },
      { number: 90, name: "tcp", protocol: "TCP", targetPort: 9090 },
    ],
    endpoints: [{ address: "10.2.0.1", labels: { app: "server", "security.istio.io/tlsMode": "istio" } }],
  }) +
  object("security", "PeerAuthentication", { name: "all" }, { mtls: { mode: "STRICT" } });

interface Policies {
  /** The policies `t0`, `t1` and so on. */
  readonly onTrial?: readonly object[];
  /** The policies `p0`, `p1` and so on. */
  readonly inForce?: readonly object[];
}

/** The kind of the end, and the notes about policies on trial. */
async function trial({ onTrial = [], inForce = [] }: Policies, to: string): Promise<[string, ...string[]]> {
  const annotations = { "mesh.io/dry-run": "true" };
  const policies = [
    ...onTrial.map((spec, i) => object("security", "AuthorizationPolicy", { name: `t${i}`, annotations }, spec)),
    ...inForce.map((spec, i) => object("security", "AuthorizationPolicy", { name: `p${i}` }, spec)),
  ];
  const { end, notes } = await explained(MESH + policies.join(""), "shop/cart", { to });
  return [end.kind, ...notes.filter((note) => note.includes("trial"))];
}

const from = (account: string) => ({ from: [{ source: { principals: [`cluster.local/ns/shop/sa/${account}`] } }] });
const NOT_X = { action: "DENY", rules: [{ to: [{ operation: { paths: ["/x"] } }] }] };
const [CART, OTHER] = [{ rules: [from("cart")] }, { rules: [from("other")] }];
const [HTTP, TCP] = ["http://app.test/x", "tcp://app.test:90"];
const DENIED = "on trial: would refuse: denied by AuthorizationPolicy shop/t0 rules[0]";
const NOT_ADMITTED = "on trial: would refuse: not admitted by any rule of AuthorizationPolicy shop/t0";

Deno.test("a policy on trial refuses nothing, and a note says what the policy would refuse", async () => {
  assert.deepEqual(await trial({ onTrial: [NOT_X] }, HTTP), ["forwarded", DENIED]);
  assert.deepEqual(await trial({ onTrial: [NOT_X], inForce: [CART] }, HTTP), ["forwarded", DENIED]);
  assert.deepEqual(await trial({ onTrial: [OTHER] }, HTTP), ["forwarded", NOT_ADMITTED]);
  assert.deepEqual(await trial({ onTrial: [OTHER] }, TCP), ["forwarded", NOT_ADMITTED]);
  assert.deepEqual(await trial({ onTrial: [NOT_X, OTHER] }, HTTP), [
    "forwarded",
    DENIED,
    NOT_ADMITTED.replace("t0", "t1"),
  ]);
});

Deno.test("no note tells of a policy on trial that would let the request pass", async () => {
  assert.deepEqual(await trial({ onTrial: [NOT_X] }, "http://app.test/y"), ["forwarded"]);
  assert.deepEqual(await trial({ onTrial: [CART] }, HTTP), ["forwarded"]);
  assert.deepEqual(await trial({ inForce: [NOT_X] }, "http://app.test/y"), ["forwarded"]);
  assert.deepEqual(await trial({ onTrial: [OTHER], inForce: [CART] }, HTTP), ["forwarded"], "one ALLOW is enough");
});

Deno.test("no note tells of policies on trial if policies in force refuse the request", async () => {
  assert.deepEqual(await trial({ onTrial: [NOT_X], inForce: [NOT_X] }, HTTP), ["answered"]);
  assert.deepEqual(await trial({ onTrial: [OTHER], inForce: [OTHER] }, HTTP), ["answered"]);
});
