import assert from "node:assert/strict";
import type { StatusJson } from "../../lib/gateway_api/status/conditions.ts";
import { gatewayStatus, programmedVerdict } from "../../lib/gateway_api/status/gateways.ts";
import { KEPT_MS, LIVE, PENDING_MS, WAIT } from "../../lib/gateway_api/status/live.ts";
import { listenerSetStatus } from "../../lib/gateway_api/status/listener_sets.ts";
import { routeStatus } from "../../lib/gateway_api/status/routes.ts";
import type { ProgressSum } from "../../lib/status/progress.ts";
import { AttachWorld } from "./attach_world.ts";
import { proxiesOf, servedBy } from "./status_world.ts";

const API = "apiVersion: gateway.networking.k8s.io/v1\n";
const NOW = "2026-02-02T00:00:00Z";

/** For how long a whole status waits for proxies. */
const MOMENT = 1000;

function world(generation: number): AttachWorld {
  return new AttachWorld(`${API}kind: Gateway
metadata: {name: gw, generation: ${generation}}
spec: {gatewayClassName: mesh, listeners: [{name: a, port: 80, protocol: HTTP}]}
---
${API}kind: HTTPRoute
metadata: {name: r, generation: ${generation}}
spec: {parentRefs: [{name: gw}, {name: gw, port: 99}], rules: [{}]}
`);
}

interface Moment {
  readonly generation?: number;
  readonly waited?: number;
  readonly fresh?: boolean;
}

/** The status of the Gateway for proxies after a wait. */
function gateway(
  present: StatusJson,
  proxies: ProgressSum,
  { generation = 1, waited = 0, fresh = false }: Moment = {},
) {
  const view = world(generation).view("gw");
  const report = { view, runtime: { ...servedBy(view), proxies }, attachedRoutes: () => 0 };
  return gatewayStatus(report, present, NOW, () => ({ waited, moment: MOMENT, fresh }));
}

/** What a written status says about proxies. */
function said(next: ReturnType<typeof gateway>): string {
  if (next === WAIT || next === undefined) return `${next}`;
  const conditions = next["conditions"] as {
    type: string;
    reason: string;
    message: string;
    observedGeneration: number;
  }[];
  const words = ["Programmed", LIVE].map((type) => conditions.find((one) => one.type === type)!);
  return words.map(({ reason, observedGeneration }) => `${reason} ${observedGeneration}`).join(", ");
}

const live = proxiesOf(2, 2);
const first = gateway({}, live) as StatusJson;

Deno.test("proxies get a while to take a new version, then the status says that they have not", () => {
  assert.equal(said(first), "Programmed 1, Live 1");
  const pending = proxiesOf(0, 2);
  const second = { generation: 2 };
  assert.equal(said(gateway(first, pending, second)), WAIT);
  assert.equal(said(gateway(first, pending, { ...second, waited: MOMENT - 1 })), WAIT);
  const late = gateway(first, pending, { ...second, waited: PENDING_MS });
  assert.equal(said(late), "Pending 2, Pending 2");
  assert.match(JSON.stringify(late), /0 of 2 proxies have this version of the listeners/);
  assert.equal(said(gateway(first, proxiesOf(1, 2), { ...second, waited: PENDING_MS })), "Programmed 2, Pending 2");
  assert.equal(said(gateway(late as StatusJson, live, second)), "Programmed 2, Live 2");
});

Deno.test("after a moment the verdicts that need no proxy are written, and the conditions about proxies stay with their generation", () => {
  const pending = proxiesOf(0, 2);
  for (const waited of [MOMENT, PENDING_MS - 1]) {
    const early = gateway(first, pending, { generation: 2, waited }) as StatusJson;
    assert.equal(said(early), "Programmed 1, Live 1");
    const text = JSON.stringify(early);
    assert.match(text, /"type":"Accepted","status":"True"[^}]*"observedGeneration":2/);
    assert.equal(gateway(early, pending, { generation: 2, waited: PENDING_MS - 1 }), undefined, "one write");
    assert.equal(said(gateway(early, live, { generation: 2, waited })), "Programmed 2, Live 2");
    assert.equal(said(gateway(early, pending, { generation: 2, waited: PENDING_MS })), "Pending 2, Pending 2");
  }
  const types = ({ conditions }: StatusJson) => (conditions as { readonly type: string }[]).map(({ type }) => type);
  const created = gateway({}, pending, { waited: MOMENT }) as StatusJson;
  assert.deepEqual(types(created), ["Accepted", "ResolvedRefs"], "nothing is said about proxies");
  assert.ok(!JSON.stringify(created).includes("Programmed"), "also of the listeners");
});

Deno.test("the Service of a managed Gateway gets a while for a new port; a Service that is lost is said at once", () => {
  const status = (generation: number, waited: number) => {
    const view = world(generation).view("gw");
    const runtime = { ...servedBy(view, { ports: [] }), proxies: live };
    return gatewayStatus(
      { view, runtime, attachedRoutes: () => 0 },
      first,
      NOW,
      () => ({ waited, moment: MOMENT, fresh: false }),
    );
  };
  assert.equal(status(2, 0), WAIT);
  assert.equal(said(status(2, MOMENT)), "Programmed 1, Live 2");
  assert.equal(said(status(2, PENDING_MS)), "AddressNotUsable 2, Live 2");
  assert.equal(said(status(1, 0)), "AddressNotUsable 1, Live 1");
});

Deno.test("a Gateway that never had a proxy says so at once, and its first proxy gets a moment", () => {
  const none = gateway({}, proxiesOf(0, 0)) as StatusJson;
  assert.equal(said(none), "Pending 1, NoProxy 1");
  assert.equal(said(gateway(none, proxiesOf(0, 1), { waited: MOMENT - 1 })), WAIT);
  assert.equal(said(gateway(none, proxiesOf(0, 1), { waited: MOMENT })), "Pending 1, Pending 1");
  assert.equal(said(gateway(none, proxiesOf(1, 1))), "Programmed 1, Live 1");
});

Deno.test("proxies that are away or late for a while change no status: a restart of servers writes nothing", () => {
  for (const proxies of [proxiesOf(0, 0), proxiesOf(0, 1), proxiesOf(1, 2)]) {
    assert.equal(gateway(first, proxies), undefined);
    assert.equal(gateway(first, proxies, { waited: KEPT_MS - 1 }), undefined);
  }
  assert.equal(said(gateway(first, proxiesOf(0, 0), { waited: KEPT_MS })), "Pending 1, NoProxy 1");
  assert.equal(said(gateway(first, proxiesOf(1, 2), { waited: KEPT_MS })), "Programmed 1, Pending 1");
});

Deno.test("a ListenerSet keeps its status with its Gateway's", () => {
  const built = new AttachWorld(`${API}kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: mesh, listeners: [{name: a, port: 80, protocol: HTTP}], allowedListeners: {namespaces: {from: Same}}}
---
${API}kind: ListenerSet
metadata: {name: s, generation: 1}
spec: {parentRef: {name: gw}, listeners: [{name: b, port: 80, protocol: HTTP, hostname: b.com}]}
`);
  const parent = built.view("gw");
  const status = (present: StatusJson, proxies: ProgressSum, waited = 0) => {
    const gateway = programmedVerdict(parent, { ...servedBy(parent), proxies });
    const report = { view: parent.sets[0]!, parent, gateway, proxies, attachedRoutes: () => 0 };
    return listenerSetStatus(report, present, NOW, () => ({ waited, moment: MOMENT, fresh: false }));
  };
  const before = status({}, live) as StatusJson;
  assert.equal(said(before), "Programmed 1, Live 1");
  assert.equal(status(before, proxiesOf(0, 0)), undefined);
  assert.equal(said(status(before, proxiesOf(0, 0), KEPT_MS)), "ParentNotProgrammed 1, NoProxy 1");
  assert.equal(said(status({}, proxiesOf(0, 2))), WAIT);
  assert.ok(!JSON.stringify(status({}, proxiesOf(0, 2), MOMENT)).includes("Programmed"));
  assert.equal(said(status({}, proxiesOf(0, 0))), "ParentNotProgrammed 1, NoProxy 1");
});

Deno.test("without a connected proxy a new version is accepted at once, and what proxies had acknowledged stays a while", () => {
  const none = proxiesOf(0, 0);
  const edited = gateway(first, none, { generation: 2 }) as StatusJson;
  assert.equal(said(edited), "Programmed 1, Live 1");
  assert.match(JSON.stringify(edited), /"type":"Accepted","status":"True"[^}]*"observedGeneration":2/);
  assert.equal(said(gateway(edited, none, { generation: 2, waited: PENDING_MS })), "Pending 2, NoProxy 2");
});

Deno.test("what proxies lack or refuse is not taken back while all of them are away for less than a minute", () => {
  for (const proxies of [proxiesOf(0, 2), proxiesOf(0, 2, 2)]) {
    const before = gateway({}, proxies, { waited: PENDING_MS }) as StatusJson;
    const none = proxiesOf(0, 0);
    assert.equal(gateway(before, none), undefined);
    assert.equal(gateway(before, none, { waited: KEPT_MS - 1 }), undefined);
    assert.equal(said(gateway(before, none, { waited: KEPT_MS })), "Pending 1, NoProxy 1");
    assert.equal(said(gateway(before, live)), "Programmed 1, Live 1");
  }
});

Deno.test("other numbers of proxies are written only now and then, and with every other change", () => {
  assert.equal(gateway(first, proxiesOf(5, 5)), undefined);
  assert.match(JSON.stringify(gateway(first, proxiesOf(5, 5), { fresh: true })), /5 of 5 proxies/);
  const refused = gateway(first, proxiesOf(1, 3, 2)) as StatusJson;
  assert.match(JSON.stringify(refused), /1 of 3 proxies have this version in force; 2 refuse it: no port/);
  assert.equal(gateway(refused, proxiesOf(1, 2, 1)), undefined);
  assert.equal(said(gateway(refused, live)), "Programmed 1, Live 1");
});

Deno.test("a Gateway without a serving listener has nothing that proxies could have in force", () => {
  const built = new AttachWorld(
    `${API}kind: Gateway\nmetadata: {name: gw, generation: 2}\nspec: {gatewayClassName: mesh, listeners: [{name: a, port: 1, protocol: ODD}]}\n`,
  );
  const view = built.view("gw");
  const report = { view, runtime: servedBy(view), attachedRoutes: () => 0 };
  const next = gatewayStatus(report, first, NOW, () => ({ waited: 0, moment: MOMENT, fresh: false }));
  assert.ok(!JSON.stringify(next).includes(LIVE), "the condition is removed");
});

Deno.test("a route says at each parent that accepts it how many proxies have it", () => {
  const built = world(1);
  const route = built.route("HTTPRoute", "r");
  const refs = built.resolve(route).resolvedRefs;
  const status = (proxies: ProgressSum, waited = 0) =>
    routeStatus(
      {
        ...{ route, attachments: built.attachments(route), refused: [], isOurs: () => true, proxies: () => proxies },
        resolvedRefs: { gateway: refs, mesh: refs },
      },
      {},
      NOW,
      () => ({ waited, moment: MOMENT, fresh: false }),
    );
  assert.equal(status(proxiesOf(0, 2)), WAIT);
  const early = JSON.stringify(status(proxiesOf(0, 2), MOMENT));
  assert.match(early, /"Accepted"/);
  assert.ok(!early.includes(LIVE), early);
  const parents = (status(live) as StatusJson)["parents"] as { conditions: { type: string; message: string }[] }[];
  assert.deepEqual(parents.map(({ conditions }) => conditions.find(({ type }) => type === LIVE)?.message), [
    "2 of 2 proxies have this version in force",
    undefined,
  ]);
  assert.match(JSON.stringify(status(proxiesOf(1, 2), PENDING_MS)), /"Pending","message":"1 of 2 proxies/);
});
