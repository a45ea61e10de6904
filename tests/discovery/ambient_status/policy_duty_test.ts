/** The leader writes into AuthorizationPolicies what node tunnels do with them. */
import assert from "node:assert/strict";
import { FactStore } from "../../../lib/config/facts/store.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { policyCondition } from "../../../lib/discovery/ambient_status/policy_condition.ts";
import { ambientStatusDuties } from "../../../lib/discovery/ambient_status/start.ts";
import type { AuthorizationPolicy } from "../../../lib/mesh/authorization_policy.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { MESH } from "../../mesh/tunnel/objects.ts";
import { until } from "../../patience.ts";
import { ObjectsApi } from "../status/objects_api.ts";

const resource = {
  ...{ group: "security.mesh.io", version: "v1", plural: "authorizationpolicies", kind: "AuthorizationPolicy" },
  namespaced: true,
};
const pathOf = (name: string) => `/apis/security.mesh.io/v1/namespaces/shop/authorizationpolicies/${name}`;
const target = { targetRefs: [{ group: "", kind: "Service", name: "cart" }] };
const paths = { to: [{ operation: { paths: ["/admin"], methods: ["GET"] } }] };

function parsed(name: string, spec: object, metadata: object = {}, uid = "uid"): AuthorizationPolicy {
  const tree = {
    ...{ apiVersion: "security.mesh.io/v1", kind: "AuthorizationPolicy" },
    ...{ metadata: { name, namespace: "shop", ...metadata }, spec },
  };
  const { object, findings } = parseObject(tree, { from: "api", source: "Orch", uid }, { defaultNamespace: "shop" });
  assert.ok(object, JSON.stringify(findings));
  return object as AuthorizationPolicy;
}

/** Policies of an API, and the duty over them. */
class Policies {
  readonly api = new ObjectsApi();
  readonly store = new ConfigStore();
  readonly #source = this.store.addSource("Orch", 0);

  /** A user writes a policy. The status stays. */
  write(name: string, spec: object, generation = 1, status: unknown = this.api.get(pathOf(name))?.status): void {
    const tree = this.api.put(pathOf(name), {
      ...{ apiVersion: "security.mesh.io/v1", kind: "AuthorizationPolicy", metadata: { generation }, spec },
      ...status === undefined ? {} : { status },
    });
    this.#source.apply({ upserted: [parsed(name, spec, { generation }, tree.metadata.uid)], removed: [] });
  }

  conditions(name: string): readonly Record<string, unknown>[] {
    return (this.api.get(pathOf(name))?.status?.["conditions"] ?? []) as readonly Record<string, unknown>[];
  }

  duties(variables: Partial<ReturnType<typeof settings>> = {}) {
    const placeOf = ({ meta: { namespace, name } }: ConfigObject) => ({ resource, namespace, name });
    const mesh = () => MESH as unknown as ReturnType<Parameters<typeof ambientStatusDuties>[0]["mesh"]>;
    return ambientStatusDuties(
      {
        client: this.api.client,
        orch: { kinds: true },
        configuration: { store: this.store, facts: new FactStore(), placeOf },
        mesh,
      },
      { ...settings(), ...variables },
      { clock: systemClock, log: silentLog(), metrics: createMetrics("pilot-discovery") },
    );
  }

  /** Runs the duty about node tunnels for as long as `run` takes. `waypoint_policy_test.ts` has the other duty. */
  async led(run: () => Promise<void>, variables: Parameters<Policies["duties"]>[0] = {}): Promise<void> {
    const leadership = new AbortController();
    const duties = this.duties(variables).filter(({ about }) => about === "what node tunnels do with policies");
    assert.equal(duties.length, 1);
    const running = duties.map((duty) => duty.run(leadership.signal));
    try {
      await run();
    } finally {
      leadership.abort();
      await Promise.all(running);
    }
  }
}

function settings() {
  return {
    ...defaultSettings("pilot-discovery"),
    ...{ PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_STATUS: true, PILOT_STATUS_QPS: 10_000 },
  };
}

Deno.test("without ambient mode, without AMBIENT_ENABLE_STATUS and without an orchestrator nothing is written", () => {
  const policies = new Policies();
  assert.equal(policies.duties().length, 2);
  assert.deepEqual(policies.duties({ PILOT_ENABLE_AMBIENT: false }), []);
  assert.deepEqual(policies.duties({ AMBIENT_ENABLE_STATUS: false }), []);
});

Deno.test("each policy without targets gets its condition beside the conditions of others, in one write", async () => {
  const policies = new Policies();
  const theirs = { type: "Reconciled", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
  policies.write("exact", { rules: [{}] }, 3, { conditions: [theirs] });
  policies.write("partly", { rules: [paths] });
  policies.write("asked", { action: "CUSTOM", provider: { name: "x" }, rules: [{}] });
  policies.write("targeted", target);
  await policies.led(async () => {
    await until(
      "three conditions",
      () => ["exact", "partly", "asked"].every((name) => policies.conditions(name).length > 0),
    );
    policies.write("late", { action: "DENY", rules: [paths] });
    await until("the late one", () => policies.conditions("late").length > 0);
  });
  const [first, own] = policies.conditions("exact");
  assert.deepEqual(first, theirs);
  const { lastTransitionTime, ...rest } = own!;
  assert.match(String(lastTransitionTime), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  assert.deepEqual(rest, {
    ...{ type: "ZtunnelAccepted", status: "True", reason: "Accepted", observedGeneration: 3 },
    message: "Node tunnels enforce the policy as written.",
  });
  const short = (name: string) => policies.conditions(name).map(({ status, reason }) => `${status} ${reason}`);
  assert.deepEqual(["partly", "asked", "targeted", "late"].map(short), [
    ["True UnsupportedValue"],
    ["False UnsupportedValue"],
    [],
    ["True UnsupportedValue"],
  ]);
  assert.equal(policies.api.writes.length, 4, policies.api.writes.join("\n"));
});

Deno.test("a right condition is not written again, and a condition that no longer applies is removed", async () => {
  const policies = new Policies();
  policies.write("a", { rules: [{}] });
  policies.write("b", { rules: [{}] });
  await policies.led(() => until("both", () => ["a", "b"].every((name) => policies.conditions(name).length > 0)));
  assert.equal(policies.api.writes.length, 2);
  policies.write("b", target, 2);
  await policies.led(async () => {
    await until("the removal", () => policies.conditions("b").length === 0);
    policies.write("a", { rules: [{}, {}] }, 2);
    await until("the new generation", () => policies.conditions("a")[0]?.["observedGeneration"] === 2);
  });
  assert.equal(policies.api.writes.length, 4, policies.api.writes.join("\n"));
});

Deno.test("messages say what tunnels do, which conditions they lack, and who enforces the rest", () => {
  const message = (spec: object, metadata: object = {}) => policyCondition(parsed("p", spec, metadata), MESH)?.message;
  const rest = "Sidecars and gateways enforce the whole policy. " +
    "A waypoint enforces the whole policy, if targetRefs name it or its services.";
  assert.equal(
    message({ rules: [{}, paths] }),
    `Node tunnels accept less than written, because they leave out rules[1] (methods, paths). ${rest}`,
  );
  assert.equal(
    message({ action: "DENY", rules: [paths] }),
    `Node tunnels refuse more than written, because they compare only a part of rules[0] (methods, paths). ${rest}`,
  );
  assert.equal(
    message({}, { annotations: { "mesh.io/dry-run": "true" } }),
    "Node tunnels try no policies: a dry run has no effect there.",
  );
  assert.match(message({ action: "AUDIT", rules: [{}] })!, /^Node tunnels do not know the action AUDIT: /);
  assert.equal(message(target), undefined);
});

Deno.test("with ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES messages say what waypoints do with connections", async () => {
  const message = (spec: object) => policyCondition(parsed("p", spec), MESH, true)?.message;
  const who = "Waypoints that the policy chooses enforce it for connections, on the identity of the client itself";
  assert.equal(message({ rules: [{}] }), `Node tunnels enforce the policy as written. ${who}.`);
  const address = { when: [{ key: "destination.ip", values: ["10.0.0.1"] }] };
  assert.equal(
    message({ rules: [address] }),
    `Node tunnels enforce the policy as written. ${who}, and leave out rules[0] (values of destination.ip).`,
  );
  assert.match(
    message({ action: "DENY", rules: [paths] })!,
    /^Node tunnels refuse more .* and compare only a part of rules\[0\] \(methods, paths\)\.$/,
  );
  assert.doesNotMatch(message({ action: "AUDIT", rules: [{}] })!, /Waypoints that/);
  assert.equal(message(target), undefined);
  const policies = new Policies();
  policies.write("exact", { rules: [{}] });
  const written = () => `${policies.conditions("exact")[0]?.["message"]}`;
  await policies.led(() => until("it", () => written().endsWith(`${who}.`)), {
    ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES: true,
  });
});

Deno.test("a message has a bound, however many rules and long names a policy has", () => {
  const when = Array.from(
    { length: 100 },
    (_, at) => ({ key: `request.headers[${"x".repeat(1000)}${at}]`, values: ["a"] }),
  );
  const condition = policyCondition(parsed("p", { rules: Array.from({ length: 100 }, () => ({ when })) }), MESH);
  assert.match(condition!.message, /and more\); rules\[4\] .*, and 95 more rules\. /);
  assert.ok(condition!.message.length < 4000, `${condition!.message.length}`);
});
