import assert from "node:assert/strict";
import { type RouteReport, routeStatus } from "../../lib/gateway_api/status/routes.ts";
import type { StatusJson } from "../../lib/gateway_api/status/conditions.ts";
import type { ListenerView } from "../../lib/gateway_api/attach/types.ts";
import { countRoutes } from "../../lib/gateway_api/status/listeners.ts";
import { AttachWorld } from "./attach_world.ts";

const API = "apiVersion: gateway.networking.k8s.io/v1\n";
const WORLD = `${API}kind: Gateway
metadata: {name: gw}
spec: {gatewayClassName: mesh, listeners: [{name: a, port: 80, protocol: HTTP}, {name: b, port: 81, protocol: HTTP}]}
---
apiVersion: v1
kind: Service
metadata: {name: web}
spec: {ports: [{port: 80}]}
---
`;
const OLD = "2026-01-01T00:00:00Z";
const NOW = "2026-02-02T00:00:00Z";

/** A route with parents and rules. */
function route(parents: string, generation = 3, rules = "[{backendRefs: [{name: web, port: 80}]}]"): string {
  return `${API}kind: HTTPRoute\nmetadata: {name: r, generation: ${generation}}\n` +
    `spec: {parentRefs: [${parents}], rules: ${rules}}\n---\n`;
}

/** The status of route `r`. */
function status(world: AttachWorld, present: StatusJson, more: Partial<RouteReport> = {}) {
  const one = world.route("HTTPRoute", "r");
  return routeStatus(
    {
      route: one,
      attachments: world.attachments(one),
      resolvedRefs: { gateway: world.resolve(one).resolvedRefs, mesh: world.resolve(one, "mesh").resolvedRefs },
      refused: [],
      isOurs: (controller) => Object.hasOwn(world.options.controllers, controller),
      ...more,
    },
    present,
    NOW,
  ) as StatusJson | undefined;
}

function condition(type: string, status: string, reason: string, message: string, lastTransitionTime = NOW) {
  return { type, status, reason, message, lastTransitionTime, observedGeneration: 3 };
}

const ACCEPTED = condition("Accepted", "True", "Accepted", "a listener takes the route");
const RESOLVED = condition("ResolvedRefs", "True", "ResolvedRefs", "all references can be used");
const GATEWAY_REF = { group: "gateway.networking.k8s.io", kind: "Gateway", name: "gw" };
const OURS = { controllerName: "mesh.io/gateway-controller" };
const FOREIGN = {
  parentRef: { name: "gw", sectionName: "a" },
  controllerName: "example.com/other",
  conditions: [{ type: "Accepted", status: "False", odd: 1 }],
};

Deno.test("a route gets an entry for each parent, as exact JSON", () => {
  const world = new AttachWorld(WORLD + route("{name: gw, sectionName: a}, {name: gw, port: 99}"));
  assert.deepEqual(status(world, {}), {
    parents: [
      { parentRef: { ...GATEWAY_REF, sectionName: "a" }, ...OURS, conditions: [ACCEPTED, RESOLVED] },
      {
        parentRef: { ...GATEWAY_REF, port: 99 },
        ...OURS,
        conditions: [
          condition(
            ...["Accepted", "False", "NoMatchingParent"] as const,
            "parentRefs[1].port: 99, expected the port of a listener of Gateway infra/gw (80, 81)",
          ),
          RESOLVED,
        ],
      },
    ],
  });
});

Deno.test("an equal status is not written again, and a time moves with its status alone", () => {
  const world = new AttachWorld(WORLD + route("{name: gw}"));
  const first = status(world, {})!;
  assert.equal(status(world, first), undefined);
  const [entry] = first["parents"] as [StatusJson];
  const old = [
    { ...ACCEPTED, lastTransitionTime: OLD, message: "another text", observedGeneration: 2 },
    { ...RESOLVED, status: "False", lastTransitionTime: OLD },
  ];
  const text = "2 listeners take the route";
  assert.deepEqual(status(world, { parents: [{ ...entry, conditions: old }] }), {
    parents: [{
      ...entry,
      conditions: [{ ...ACCEPTED, message: text, lastTransitionTime: OLD }, { ...RESOLVED, lastTransitionTime: NOW }],
    }],
  });
});

Deno.test("entries of other controllers stay untouched and in place, ours keep their places", () => {
  const world = new AttachWorld(WORLD + route("{name: gw, sectionName: a}, {name: gw, sectionName: b}"));
  const stale = { parentRef: { name: "gw", sectionName: "gone" }, ...OURS, conditions: [] };
  const present = {
    other: 1,
    parents: [stale, { parentRef: { name: "gw", sectionName: "b" }, ...OURS, conditions: [] }, FOREIGN],
  };
  const next = status(world, present)!;
  const parents = next["parents"] as { parentRef: { sectionName: string }; controllerName: string }[];
  assert.deepEqual(parents.map(({ parentRef, controllerName }) => `${parentRef.sectionName} ${controllerName}`), [
    ...["b mesh.io/gateway-controller", "a example.com/other", "a mesh.io/gateway-controller"],
  ]);
  assert.deepEqual(parents[1], FOREIGN);
  assert.equal(next["other"], 1);
});

Deno.test("the last entry leaves an empty list; without entries nothing is written", () => {
  const world = new AttachWorld(WORLD + route("{name: gone}"));
  const entry = { parentRef: { name: "gw" }, ...OURS, conditions: [] };
  assert.deepEqual(status(world, { parents: [entry] }), { parents: [] });
  assert.equal(status(world, {}), undefined);
  assert.equal(status(world, { parents: [FOREIGN] }), undefined);
});

Deno.test("conditions of other types stay, and a judgement of a later version stays", () => {
  const world = new AttachWorld(WORLD + route("{name: gw}"));
  const odd = { type: "example.com/Odd", status: "True" };
  const entry = { parentRef: GATEWAY_REF, ...OURS };
  const next = status(world, { parents: [{ ...entry, conditions: [odd] }] })!;
  assert.deepEqual((next["parents"] as { conditions: unknown[] }[])[0]!.conditions[0], odd);
  const later = { ...entry, conditions: [{ ...ACCEPTED, observedGeneration: 4, status: "False" }] };
  assert.equal(status(world, { parents: [later] }), undefined);
});

/** The conditions of the only parent. */
function conditions(next: StatusJson | undefined): string[] {
  const [entry] = next!["parents"] as [{ conditions: { type: string; status: string; reason: string }[] }];
  return entry.conditions.map(({ type, status, reason }) => `${type} ${status} ${reason}`);
}

Deno.test("a refused rule is said beside the served rules", () => {
  const two = new AttachWorld(WORLD + route("{name: gw}", 3, "[{}, {}]"));
  const refused = (reason: string, ...rules: number[]) =>
    rules.map((rule) => ({ rule, reason, message: `rules[${rule}] is odd` }));
  const some = status(two, {}, { refused: refused("UnsupportedValue", 1) })!;
  assert.deepEqual(conditions(some), [
    ...["Accepted True Accepted", "ResolvedRefs True ResolvedRefs", "PartiallyInvalid True UnsupportedValue"],
  ]);
  assert.match(JSON.stringify(some), /"Dropped Rule 1: rules\[1\] is odd"/);
  assert.deepEqual(conditions(status(two, some)), ["Accepted True Accepted", "ResolvedRefs True ResolvedRefs"]);
  const all = status(two, some, { refused: refused("IncompatibleFilters", 0, 1) });
  assert.deepEqual(conditions(all), ["Accepted False IncompatibleFilters", "ResolvedRefs True ResolvedRefs"]);
  const filters = status(two, {}, { refused: refused("InvalidFilter", 0) });
  assert.deepEqual(conditions(filters), ["Accepted True Accepted", "ResolvedRefs False InvalidFilter"]);
});

Deno.test("references count as the parent wants them", () => {
  const far =
    "apiVersion: v1\nkind: Service\nmetadata: {name: far, namespace: shop}\nspec: {ports: [{port: 80}]}\n---\n";
  const world = new AttachWorld(
    WORLD + far +
      route(
        '{name: gw}, {group: "", kind: Service, name: web}',
        3,
        "[{backendRefs: [{name: far, namespace: shop, port: 80}]}]",
      ),
  );
  const parents = status(world, {})!["parents"] as { conditions: { type: string; reason: string }[] }[];
  const refs = parents.map((one) => one.conditions.find(({ type }) => type === "ResolvedRefs")?.reason);
  assert.deepEqual(refs, ["RefNotPermitted", "ResolvedRefs"]);
});

Deno.test("a route counts once at each of its listeners, however many parentRefs attach the route", () => {
  const world = new AttachWorld(WORLD + route("{name: gw}, {name: gw, sectionName: a}"));
  const [a, b] = world.view("gw").listeners as [ListenerView, ListenerView];
  const at = world.attachments(world.route("HTTPRoute", "r"));
  assert.deepEqual([countRoutes([{ at }])(a), countRoutes([{ at }])(b)], [1, 1]);
  const both = countRoutes([{ at }, { at: at.slice(1) }]);
  assert.deepEqual([both(a), both(b)], [2, 1]);
  assert.equal(countRoutes([])(a), 0);
});
