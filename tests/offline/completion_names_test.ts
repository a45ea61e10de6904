/** Completion of names: of the folder or the server that the command line names. */
import assert from "node:assert/strict";
import { pilotDiscovery } from "../cmd/offline.ts";
import { TestProxy } from "../debug/proxy.ts";
import { withServer } from "../discovery/running.ts";
import { example } from "./mesh_of.ts";

const FILES = { ...Object.fromEntries(Object.entries(example("shop")).map(([name, text]) => [`mesh/${name}`, text])) };

/** Candidates for the last word. */
async function candidates(...words: string[]): Promise<string[]> {
  const { code, out, err } = await pilotDiscovery(["__completeNoDesc", ...words], { files: FILES });
  assert.deepEqual([code, err], [0, ""]);
  return out.trim().split("\n");
}

Deno.test("names of a folder complete flags and arguments of the commands on files", async () => {
  const cases: [string[], string[]][] = [
    [["explain", "mesh", "--from", ""], ["shop/cart", "shop/reviews-v1", "shop/reviews-v2", ":space"]],
    [["explain", "mesh", "--from=shop/r"], ["--from=shop/reviews-v1", "--from=shop/reviews-v2", ":space"]],
    [["translate", "mesh", "--node", "shop/c"], ["shop/cart", ":space"]],
    [["describe", "pod", "--files", "mesh", "c"], ["cart.shop", ":space"]],
    [["describe", "service", "--files=mesh", ""], ["reviews.shop", ":space"]],
    [["describe", "pod", "--files", "mesh", "-n", ""], ["shop", ":space"]],
    [["explain", "absent", "--from", ""], [":space"]],
  ];
  await Promise.all(cases.map(async ([words, expected]) => assert.deepEqual(await candidates(...words), expected)));
});

Deno.test("names of a server complete proxies, services, objects and pages; without a server nothing is offered", async () => {
  await withServer(example("shop"), async ({ ports }) => {
    using _cart = await TestProxy.attach(ports.grpc, {
      id: "sidecar~10.0.0.5~cart.shop~shop.svc.cluster.local",
      metadata: {},
    });
    const server = `--server=127.0.0.1:${ports.http}`;
    const cases: [string[], string[]][] = [
      [["proxy-config", "clusters", server, ""], ["cart.shop", ":space"]],
      [["explain", server, "--from", "s"], ["shop/cart", ":space"]],
      [["describe", "service", server, "rev"], ["reviews.shop", ":space"]],
      [["rollout", server, "pause", "Vir"], ["VirtualService/shop/reviews", ":space"]],
      [["wait", server, "Vir"], ["VirtualService/shop/reviews", ":space"]],
      [["proxy-status", server, "-n", ""], ["shop", ":space"]],
      [["bug-report", server, "--include", "a,"], ["a,shop", ":space"]],
      [["request", "GET", "/debug/live?"], ["/debug/live?object=", ":nospace"]],
    ];
    await Promise.all(cases.map(async ([words, expected]) => assert.deepEqual(await candidates(...words), expected)));
  });
  assert.deepEqual(await candidates("wait", "--server=127.0.0.1:1", ""), [":space"]);
});
