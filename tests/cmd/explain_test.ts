/** The command `explain` as a process: text, JSON, exit codes. */
import assert from "node:assert/strict";
import { pilotDiscovery } from "./offline.ts";

const SHOP = new URL("../../examples/shop", import.meta.url).pathname;

Deno.test("0: served, 1: it fails on its way, 2: it cannot be found out", async () => {
  const ends = await Promise.all([
    pilotDiscovery(["explain", SHOP, "--from", "shop/cart", "--to", "http://reviews/"]),
    pilotDiscovery(["explain", SHOP, "--from", "shop/cart", "--to", "http://reviews/", "-o", "json"]),
    pilotDiscovery(["explain", SHOP, "--from", "shop/cart", "--to", "reviews"]),
    pilotDiscovery(["explain", SHOP, "--from", "shop/crat", "--to", "http://reviews/"]),
  ]);
  assert.deepEqual(ends.map(({ code }) => code), [0, 0, 2, 2]);
  const [text, json, noPort, noClient] = ends;
  assert.match(text!.out, /^sidecar shop\/cart\n {2}listener 0\.0\.0\.0_80 +ServiceEntry shop\/reviews\n/);
  assert.match(
    text!.out,
    /\n {2}=> 90 % forwarded 10\.0\.0\.6:9080 \(1 of 1 healthy\)\nsidecar shop\/reviews-v2\n {2}=> 10 % forwarded 10\.0\.0\.7:9080 \(1 of 1 healthy\)\n$/,
  );
  assert.equal(JSON.parse(json!.out).end.endpoint, "10.0.0.6:9080");
  assert.match(noPort!.err, /^Error: flags --to, --method, --header: got destination "reviews", expected a URL/);
  assert.match(noClient!.err, /^Error: flag --from: no workload shop\/crat; did you mean shop\/cart\?\n$/);
});

Deno.test("--all has the steps of every share; 1 where a share fails", async () => {
  const asked = ["--from", "shop/cart", "--to", "http://reviews/"];
  const texts = ["services", "versions", "routes"].map((name) => Deno.readTextFileSync(`${SHOP}/${name}.yaml`));
  const [all, broken] = await Promise.all([
    pilotDiscovery(["explain", SHOP, ...asked, "--all"]),
    pilotDiscovery(["explain", "-", ...asked], {
      stdin: texts.join("\n---\n").replace("subset: v1 }", "subset: v9 }"),
    }),
  ]);
  assert.deepEqual([all.code, broken.code], [0, 1]);
  assert.match(
    all.out,
    /\nsidecar shop\/reviews-v2\n {2}listener virtualInbound .*\n {2}chain .*\n {2}=> 10 % forwarded /,
  );
  assert.match(broken.out, /\ncluster v9 of reviews:80\n {2}=> 90 % answered 503: the cluster does not exist\n/);
});

Deno.test("1 for a request that no rule takes", async () => {
  const files = {
    "mesh/a.yaml": Deno.readTextFileSync(`${SHOP}/services.yaml`),
    "mesh/b.yaml": Deno.readTextFileSync(`${SHOP}/routes.yaml`).replace(
      "    - route:",
      "    - match: [{ uri: { exact: /only } }]\n      route:",
    ),
  };
  const { code, out } = await pilotDiscovery(["explain", "mesh", "--from", "shop/cart", "--to", "http://reviews/x"], {
    files,
  });
  assert.equal(code, 1);
  assert.match(
    out,
    /rule 2 +no: path \/x is not path \/only +mesh\/b\.yaml:13\n {2}=> answered 404: no route matches\n/,
  );
});
