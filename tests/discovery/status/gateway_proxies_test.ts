/** How many of a Gateway's connected proxies have an object in force. */
import assert from "node:assert/strict";
import {
  type ConnectedProxy,
  GatewayProxies,
  type ServingView,
} from "../../../lib/discovery/status/gateway_proxies.ts";
import { PushLedger } from "../../../lib/xds/ledger.ts";
import type { PushProgress } from "../../../lib/xds/progress.ts";
import { AttachWorld } from "../../gateway_api/attach_world.ts";

const WORLD = new AttachWorld(
  ["a", "b"].map((name) =>
    `apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: ${name}}\n` +
    "spec: {gatewayClassName: mesh, listeners: [{name: http, port: 80, protocol: HTTP}]}\n---\n"
  ).join(""),
);
const A: ServingView = WORLD.view("a");
const B: ServingView = WORLD.view("b");
const LABEL = "gateway.networking.k8s.io/gateway-name";

/** Proxies that come, go, acknowledge and refuse. */
class Proxies {
  readonly ledger = new PushLedger();
  readonly connected = new Set<ConnectedProxy>();
  /** Number of looks at the list of all proxies. */
  looks = 0;
  readonly counted = new GatewayProxies(this.ledger, () => {
    this.looks++;
    return this.connected;
  });

  connect(
    gateway: string,
    acked: number,
    lacked: Readonly<Record<string, string>> = {},
    namespace = "infra",
  ): PushProgress {
    const refusals = {
      refuses: Object.keys(lacked).length > 0,
      lacks: (key: string) => lacked[key],
      lacked: () => Object.entries(lacked),
    };
    const progress = this.ledger.join(gateway, () => false, refusals);
    progress.acked = acked;
    this.connected.add({ namespace, labels: { [LABEL]: gateway, app: "x" }, progress });
    return progress;
  }

  /** `live/total`, with the words of refusals. */
  reach(view: ServingView, changedIn: number, isWaiting = false): string {
    const { live, total, rejected, reason } = this.counted.reach(view, { keys: ["K", "D"], changedIn, isWaiting });
    return `${live}/${total}${rejected > 0 ? `, ${rejected}: ${reason}` : ""}`;
  }
}

Deno.test("the workloads of a Gateway count, in its namespace, when they have acknowledged the last change", () => {
  const proxies = new Proxies();
  assert.equal(proxies.reach(A, 0), "0/0");
  for (const acked of [3, 5, 7]) proxies.connect("a", acked);
  proxies.connect("a", 9, {}, "elsewhere");
  proxies.connect("b", 9);
  assert.deepEqual([0, 4, 5, 6, 8].map((push) => proxies.reach(A, push)), ["3/3", "2/3", "2/3", "1/3", "0/3"]);
  assert.equal(proxies.reach(B, 8), "1/1");
  assert.equal(proxies.reach(A, 0, true), "0/3", "the change waits for its push");
});

Deno.test("a refusal counts against the object and what is derived from it, and against nothing else", () => {
  const proxies = new Proxies();
  proxies.connect("a", 5);
  proxies.connect("a", 5, { D: "no port" });
  proxies.connect("a", 5, { K: "bad name", D: "no port" });
  proxies.connect("a", 5, { other: "odd" });
  proxies.connect("a", 5, { K: "" });
  assert.equal(proxies.reach(A, 5), "2/5, 2: bad name");
  assert.deepEqual([...proxies.counted.refused()].sort(), ["D", "K", "other"]);
});

Deno.test("all proxies are looked at when one has come or gone, and not for each look at an object", () => {
  const proxies = new Proxies();
  const first = proxies.connect("a", 1);
  for (let push = 0; push < 100; push++) proxies.reach(A, push);
  assert.equal(proxies.looks, 1);
  proxies.ledger.latest = 200;
  proxies.ledger.settled(first);
  assert.equal(proxies.reach(A, 150), "1/1");
  assert.equal(proxies.looks, 1);
  proxies.connected.clear();
  proxies.ledger.leave(first);
  assert.equal(proxies.reach(A, 0), "0/0");
  assert.equal(proxies.looks, 2);
});
