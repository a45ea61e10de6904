/** The command `diff` as a process: exit codes and forms. */
import assert from "node:assert/strict";
import { pilotDiscovery } from "./offline.ts";

const SHOP = new URL("../../examples/shop", import.meta.url).pathname;
const all = ["services", "versions", "routes"].map((name) => Deno.readTextFileSync(`${SHOP}/${name}.yaml`)).join(
  "\n---\n",
);

Deno.test("0: nothing differs, 1: something does, 2: it cannot be found out", async () => {
  const ends = await Promise.all([
    pilotDiscovery(["diff", SHOP, "-"], { stdin: all }),
    pilotDiscovery(["diff", SHOP, "-"], {
      stdin: all.replace("weight: 90", "weight: 50").replace("weight: 10", "weight: 50"),
    }),
    pilotDiscovery(["diff", SHOP, "-", "-o", "json"], { stdin: all.replace("weight: 90", "weight: 50") }),
    pilotDiscovery(["diff", SHOP, "nowhere"]),
    pilotDiscovery(["diff", "-", "-"]),
    pilotDiscovery(["diff", SHOP, SHOP, "--node", "shop/crat"]),
    pilotDiscovery(["diff", SHOP]),
  ]);
  assert.deepEqual(ends.map(({ code }) => code), [0, 1, 1, 2, 2, 2, 2]);
  assert.equal(ends[0]!.out, "none of 3 proxies changes: all receive 0 bytes\n");
  assert.match(
    ends[1]!.out,
    /^3 of 3 proxies change; 0 receive 0 bytes\nshop\/cart, shop\/reviews-v1, shop\/reviews-v2: 1 resource, \d\.\d kB\n {2}virtual host reviews\.shop\.svc\.cluster\.local:80 {2}VirtualService shop\/reviews\n- {5}v1 90, v2 10\n\+ {5}v1 50, v2 50\n {2}connections kept: listeners and clusters unchanged\n$/,
  );
  const json = JSON.parse(ends[2]!.out);
  assert.deepEqual([json.same, json.proxies.changed, json.groups[0].resources[0].type], [false, 3, "vhds"]);
  assert.match(ends[3]!.err, /^Error: nowhere: no such file or folder\n$/);
  assert.match(ends[5]!.err, /^Error: flag --node: no workload shop\/crat; did you mean shop\/cart\?\n$/);
});
