/** The way of a request over both hops: each step with its field, rules that nearly matched, and how it ends. */
import assert from "node:assert/strict";
import { explainRequest } from "../../lib/offline/explain/explain.ts";
import { onWay, worldOf } from "../../lib/offline/explain/of_mesh.ts";
import { BadQuestion, type ExplainQuestion, readQuestion } from "../../lib/offline/explain/question.ts";
import { FieldPlaces } from "../../lib/offline/field_place.ts";
import { findProxy } from "../../lib/offline/find_proxy.ts";
import { impliedProxies } from "../../lib/offline/workloads.ts";
import { example, meshOf } from "./mesh_of.ts";

const options = { domain: "cluster.local", gatewaysInNamespace: false };

function explain(files: Record<string, string>, from: string, question: ExplainQuestion) {
  const mesh = meshOf(files);
  const proxies = impliedProxies(mesh.objects.values(), options);
  const world = worldOf(mesh, proxies, new FieldPlaces((file) => files[file]));
  return explainRequest(readQuestion(question), onWay(findProxy(from, proxies, options).proxy), world);
}

/** Steps of a hop in short: what, verdict, text, place. */
async function steps(files: Record<string, string>, from: string, question: ExplainQuestion, hop = 0) {
  const { hops } = await explain(files, from, question);
  return hops[hop]!.steps.map(({ what, name, matches, text, place, object }) =>
    [
      what,
      name,
      matches === undefined ? "" : matches ? "yes" : "no",
      text,
      place ? `${place.file}:${place.line}` : object ?? "",
    ]
      .filter((part) => part !== "").join(" | ")
  );
}

const shop = example("shop");
/** Line of the first text in a file. */
const line = (files: Record<string, string>, file: string, text: string) =>
  `${file}:${files[file]!.slice(0, files[file]!.indexOf(text)).split("\n").length}`;

Deno.test("each step has the line of the field that caused it, and rules before the one that matches say why not", async () => {
  assert.deepEqual(await steps(shop, "shop/cart", { to: "http://reviews/api" }), [
    `listener | 0.0.0.0_80 | ${line(shop, "services.yaml", "apiVersion")}`,
    `host | reviews | ${line(shop, "routes.yaml", "hosts:")}`,
    `rule | 1 "beta" | no | header x-beta missing | ${line(shop, "routes.yaml", "- headers:")}`,
    `rule | 2 | yes | prefix / | ${line(shop, "routes.yaml", "- route:")}`,
    `cluster | v1 of reviews:80 | 90 %, 1 of 1 healthy | ${line(shop, "versions.yaml", "- name: v1")}`,
    `cluster | v2 of reviews:80 | 10 %, 1 of 1 healthy | ${line(shop, "versions.yaml", "- name: v2")}`,
  ]);
});

Deno.test("headers decide: another rule, another endpoint, whose own proxy is the second hop", async () => {
  const { hops, end } = await explain(shop, "shop/cart", { to: "http://reviews/api", headers: ["X-Beta: yes"] });
  assert.deepEqual(hops.map(({ proxy, direction }) => `${direction} ${proxy.name}`), [
    "outbound cart",
    "inbound reviews-v2",
  ]);
  assert.deepEqual([end.kind, end.endpoint], ["forwarded", "10.0.0.7:9080"]);
  const wrong = await steps(shop, "shop/cart", { to: "http://reviews/", headers: ["x-beta: no"] });
  assert.ok(wrong.some((step) => step.includes('no | header x-beta is "no", expected "yes"')), wrong.join("\n"));
});

Deno.test("a rule that another workload's labels exclude is not taken for one with the same condition", async () => {
  const files = { ...shop };
  files["routes.yaml"] = files["routes.yaml"]!.replace(
    "    - name: beta",
    `    - match:
        - sourceLabels: { app: other }
          headers: { x-beta: { exact: "yes" } }
      route: [{ destination: { host: reviews.shop.svc.cluster.local, subset: v1 } }]
    - name: beta`,
  );
  const found = await steps(files, "shop/cart", { to: "http://reviews/", headers: ["x-beta: yes"] });
  assert.deepEqual(found.filter((step) => step.startsWith("rule")), [
    `rule | 2 "beta" | yes | prefix /, header x-beta "yes" | ${
      line(files, "routes.yaml", '- headers: { x-beta: { exact: "yes" } }\n      route:\n        - dest')
    }`,
  ]);
});

Deno.test("a request that fails says where: no rule, no subset, no port, no host", async () => {
  const routes = shop["routes.yaml"]!;
  const onlyBeta = { ...shop, "routes.yaml": routes.slice(0, routes.indexOf("    - route:")) };
  const none = await explain(onlyBeta, "shop/cart", { to: "http://reviews/" });
  assert.deepEqual([none.end.kind, none.end.status, none.end.text], [
    "answered",
    404,
    "answered 404: no route matches",
  ]);
  assert.deepEqual(none.hops[0]!.steps.filter(({ what }) => what === "rule").map(({ matches }) => matches), [false]);

  const v9 = { ...shop, "routes.yaml": routes.replace("subset: v2 }\n    -", "subset: v9 }\n    -") };
  const missing = await explain(v9, "shop/cart", { to: "http://reviews/", headers: ["x-beta: yes"] });
  assert.equal(missing.end.status, 503);
  assert.ok(missing.hops[0]!.steps.some(({ what, text }) => what === "cluster" && text === "does not exist"));

  const port = await explain(shop, "shop/cart", { to: "http://reviews:81/" });
  assert.match(port.notes.join("\n"), /reviews\.shop\.svc\.cluster\.local has no port 81; it has 80/);
  const host = await explain(shop, "shop/cart", { to: "https://elsewhere.example/" });
  assert.match(host.notes.join("\n"), /no service has the host elsewhere\.example/);
});

Deno.test("a gateway is dialled by itself", async () => {
  const files = example("first-steps/mesh");
  const { hops, end } = await explain(files, "demo/door", { to: "http://any.example:8088/hello" });
  assert.deepEqual([hops[0]!.direction, end.text], ["direct", "answered 200: the route answers itself"]);
});

Deno.test("short names mean the client's namespace, and host:port speaks the protocol of the service's port", async () => {
  for (
    const to of ["http://reviews/", "http://reviews.shop/", "http://reviews.shop.svc/", "reviews:80", "10.96.0.10:80"]
  ) {
    const { request, end } = await explain(shop, "shop/cart", { to });
    assert.deepEqual([to, request.scheme, request.service, end.kind], [
      to,
      "http",
      "ServiceEntry/shop/reviews",
      "forwarded",
    ]);
  }
});

Deno.test("a question that is none says all that is wrong with it", () => {
  assert.throws(
    () => readQuestion({ to: "ftp://x", method: "G T", headers: ["no colon"] }),
    (error) =>
      error instanceof BadQuestion && /header "no colon"/.test(error.message) && /method "G T"/.test(error.message) &&
      /destination "ftp:\/\/x", expected a URL/.test(error.message),
  );
  for (const to of ["", "reviews", "http://", "x:0", "x:70000", "http://a b/", "x:80/path"]) {
    assert.throws(() => readQuestion({ to }), BadQuestion, to);
  }
  assert.deepEqual(readQuestion({ to: "http://[::1]:8080/a?b" }), {
    ...{ scheme: "http", host: "::1", port: 8080, path: "/a?b", authority: "[::1]:8080", method: "GET", headers: {} },
  });
});
