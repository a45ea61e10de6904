import assert from "node:assert/strict";
import type { StatusJson } from "../../lib/gateway_api/status/conditions.ts";
import { type RefusedReport, refusedStatus } from "../../lib/gateway_api/status/refused.ts";

const NOW = "2026-02-02T00:00:00Z";
const OURS = "mesh.io/gateway-controller";

const REPORT: RefusedReport = {
  ...{ kind: "ApiGateway", namespace: "infra", generation: 4, problems: ["spec.x: odd"], isStale: false },
  spec: { gatewayClassName: "mesh", controllerName: OURS, parentRef: { name: "gw" } },
  isOurClass: ({ name, controller }) => name === "mesh" || controller === OURS,
  controllerAt: ({ name }) => name === "gw" ? OURS : undefined,
  isOurs: (controller) => controller === OURS,
};

/** Conditions in words. */
function words(conditions: unknown): string[] {
  const list = conditions as { type: string; status: string; reason: string; observedGeneration?: number }[];
  return list.map(({ type, status, reason, observedGeneration = 0 }) =>
    `${type} ${status} ${reason} ${observedGeneration}`
  );
}

const old = (type: string) => ({
  type,
  status: "True",
  reason: type,
  message: "",
  observedGeneration: 3,
  lastTransitionTime: NOW,
});

Deno.test("a refused object is not accepted, and says nothing about references and proxies any more", () => {
  const present = {
    conditions: ["Accepted", "Programmed", "ResolvedRefs", "mesh.io/Live", "Odd"].map(old),
    addresses: [1],
  };
  const both = ["Accepted False Invalid 4", "Programmed False Invalid 4", "Odd True Odd 3"];
  for (const kind of ["ApiGateway", "ListenerSet"] as const) {
    const next = refusedStatus({ ...REPORT, kind }, present, NOW)!;
    assert.deepEqual(words(next["conditions"]), both);
    assert.deepEqual(next["addresses"], [1], "an address that clients may know stays");
    assert.equal(refusedStatus({ ...REPORT, kind }, next, NOW), undefined, "a second write changes nothing");
  }
  const ofClass = refusedStatus({ ...REPORT, kind: "GatewayClass" }, {}, NOW)!;
  assert.deepEqual(words(ofClass["conditions"]), ["Accepted False Invalid 4"]);
  const stale = refusedStatus({ ...REPORT, isStale: true }, {}, NOW);
  assert.match(JSON.stringify(stale), /spec\.x: odd; the earlier version is in force/);
});

Deno.test("objects of other implementations are left alone", () => {
  const spec = { gatewayClassName: "other", controllerName: "example.com/other", parentRef: { name: "other" } };
  for (const kind of ["ApiGateway", "GatewayClass", "ListenerSet"] as const) {
    assert.equal(refusedStatus({ ...REPORT, kind, spec }, {}, NOW), undefined);
  }
  assert.equal(
    refusedStatus({ ...REPORT, kind: "HTTPRoute", spec: { parentRefs: [{ name: "other" }] } }, {}, NOW),
    undefined,
  );
  assert.equal(refusedStatus({ ...REPORT, kind: "ReferenceGrant" }, {}, NOW), undefined);
});

Deno.test("a refused route or policy is not accepted at our parents, and entries of others stay", () => {
  const foreign = { parentRef: { name: "gw" }, controllerName: "example.com/other", conditions: [old("Accepted")] };
  const spec = { parentRefs: [{ name: "gw", sectionName: "a" }, { name: "other" }, 7] };
  const next = refusedStatus({ ...REPORT, kind: "GRPCRoute", spec }, { parents: [foreign] }, NOW)!;
  const [first, second, ...rest] = next["parents"] as StatusJson[];
  assert.deepEqual(first, foreign);
  assert.deepEqual(second!["parentRef"], { name: "gw", sectionName: "a" });
  assert.deepEqual(words(second!["conditions"]), ["Accepted False UnsupportedValue 4"]);
  assert.deepEqual(rest, []);
  const ancestor = {
    ancestorRef: { name: "gw" },
    controllerName: OURS,
    conditions: [old("Accepted"), old("ResolvedRefs")],
  };
  const policy = refusedStatus({ ...REPORT, kind: "BackendTLSPolicy" }, { ancestors: [ancestor] }, NOW)!;
  assert.deepEqual(words((policy["ancestors"] as StatusJson[])[0]!["conditions"]), ["Accepted False Invalid 4"]);
});
