/** A running server explains connections of pods without a proxy as files do. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { Explanation } from "../../lib/debug/explanation.ts";
import { serverExplainer } from "../../lib/offline/explain/of_server.ts";
import { page, withServer } from "../discovery/running.ts";
import { FAR, policy, service, SHOP, STRICT, WAYPOINT, WEST } from "./ambient_shop.ts";
import { explained } from "./way.ts";
import { runs } from "../properties.ts";

const settings = { PILOT_ENABLE_AMBIENT: true };
const options = { manifestServices: true, explainer: serverExplainer("cluster.local") };

/** A service of the pods of `cart` with a waypoint. */
const BEHIND = service("behind", "10.96.0.4", "istio.io/use-waypoint: gate").replace("app: behind", "app: cart");

const QUESTIONS = ["shop/web", "web.shop", "10.0.0.1", "shop/outside"].flatMap((from) =>
  [
    ...["http://cart/admin", "tcp://cart:81", "http://outside/", "tcp://192.0.2.9:443", "http://behind/"],
    ...["tcp://10.0.0.2:8080", "tcp://10.0.0.3:8080", "tcp://10.0.0.9:15008"],
  ].map((to) => ({ from, to }))
);

type Answer = Pick<Explanation, "end" | "notes" | "hops">;
const short = ({ end, notes, hops }: Answer) => ({ end, notes, hops });

async function bothWays(text: string): Promise<readonly Answer[]> {
  const said: Answer[] = [];
  await withServer({ "mesh.yaml": text }, async ({ ports }) => {
    for (const { from, to } of QUESTIONS) {
      const { status, body } = await page(ports.http, `/debug/explain?${new URLSearchParams({ from, to })}`);
      assert.equal(status, 200, body);
      const ofFiles = await explained(text, from, { to }, settings, { manifestServices: true });
      assert.deepEqual(
        short(JSON.parse(body)),
        JSON.parse(JSON.stringify(short(ofFiles))),
        `${from} to ${to}\n${text}`,
      );
      said.push(ofFiles);
    }
  }, { options, settings });
  return said;
}

const clients = ["web", "gate", "other"].map((account) => `cluster.local/ns/shop/sa/${account}`);
const rule = fc.oneof(
  fc.constantFrom(...clients).map((principal) => `{ from: [{ source: { principals: [${principal}] } }] }`),
  fc.constantFrom("8080", "81").map((port) => `{ to: [{ operation: { ports: ["${port}"] } }] }`),
  fc.constant("{ to: [{ operation: { paths: [/admin] } }] }"),
);
const anyPolicy = fc.record({
  action: fc.constantFrom("ALLOW", "DENY"),
  selector: fc.constantFrom("selector: { matchLabels: { app: cart } }, ", ""),
  rules: fc.array(rule, { minLength: 1, maxLength: 2 }),
});
const anyWorld = fc.record({
  policies: fc.array(anyPolicy, { maxLength: 2 }),
  isStrict: fc.boolean(),
  hasWaypoint: fc.boolean(),
  isNeeded: fc.boolean(),
});

Deno.test("connections from pods end at a server as over files, under random policies and waypoints", async () => {
  const kinds = new Set<string>();
  await fc.assert(
    fc.asyncProperty(anyWorld, async ({ policies, isStrict, hasWaypoint, isNeeded }) => {
      const texts = [
        ...SHOP,
        BEHIND,
        ...policies.map(({ action, selector, rules }, at) =>
          policy(`p${at}`, `{ ${selector}action: ${action}, rules: [${rules.join(", ")}] }`)
        ),
        ...isStrict ? [STRICT] : [],
        ...hasWaypoint ? [WAYPOINT] : [],
        ...isNeeded
          ? [
            policy("needed", '{ targetRefs: [{ group: "", kind: Service, name: behind }], action: DENY, rules: [{}] }'),
          ]
          : [],
      ];
      for (const { end } of await bothWays(texts.join("---"))) kinds.add(end.text.replace(/[(:].*/, ""));
    }),
    { numRuns: runs(8), seed: 20265 },
  );
  assert.ok([...kinds].some((one) => one.startsWith("forwarded")) && kinds.has("connection closed"), [...kinds].join());
});

Deno.test("a server reaches another network by its gateway, which has an address or a name, as files say", async () => {
  const networks = { ...settings, AMBIENT_ENABLE_MULTI_NETWORK: true };
  const to = "tcp://db.example:80";
  for (
    const [gateway, expected] of [
      [WEST(), /^forwarded 192\.0\.2\.9:15008 in a tunnel within a tunnel, to db\.example:80/],
      [WEST("{ type: Hostname, value: lb.example }"), /^forwarded lb\.example:15008 in a tunnel within a tunnel/],
      ["", /^connection closed: .*no gateway into the network/],
    ] as const
  ) {
    const text = [...SHOP, FAR, ...gateway === "" ? [] : [gateway]].join("---");
    await withServer({ "mesh.yaml": text }, async ({ ports }) => {
      const { body } = await page(ports.http, `/debug/explain?${new URLSearchParams({ from: "shop/web", to })}`);
      const { end } = JSON.parse(body) as Answer;
      assert.match(end.text, expected);
      const ofFiles = await explained(text, "shop/web", { to }, networks, { manifestServices: true });
      assert.deepEqual(end, JSON.parse(JSON.stringify(ofFiles.end)));
    }, { options, settings: networks });
  }
});

Deno.test("a name of no pod is refused with the nearest name", () =>
  withServer({ "mesh.yaml": SHOP.join("---") }, async ({ ports }) => {
    const { status, body } = await page(ports.http, "/debug/explain?from=shop/carts&to=http://web/");
    assert.deepEqual([status, body], [400, "no workload shop/carts; did you mean shop/cart?\n"]);
  }, { options, settings }));
