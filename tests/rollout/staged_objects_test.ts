import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObject } from "../../lib/config/object.ts";
import type { AnyConfigObject } from "../../lib/config/types.ts";
import { chooseProxies } from "../../lib/rollout/choice.ts";
import type { StageFacts } from "../../lib/rollout/machine.ts";
import { readRecords, writtenRecords } from "../../lib/rollout/record.ts";
import { rolloutFindings } from "../../lib/rollout/findings.ts";
import { whyNotStaged } from "../../lib/rollout/stageable.ts";
import { contentHash } from "../../lib/rollout/staged.ts";
import { StagedObjects } from "../../lib/rollout/staged_objects.ts";
import { inFile } from "../config/origins.ts";
import { runs } from "../properties.ts";

const PLAN = { "mesh.io/rollout": "10%:0s,100%:0s" };

function object(kind: string, spec: object, annotations: Readonly<Record<string, string>> = PLAN, name = "one") {
  const group = { Telemetry: "telemetry", AuthorizationPolicy: "security", PeerAuthentication: "security" };
  const inGroup = { ...group, RequestAuthentication: "security", WasmPlugin: "extensions" } as Record<string, string>;
  const apiVersion = `${inGroup[kind] ?? "networking"}.mesh.io/${
    kind === "ProxyFilter" ? "v1alpha3" : kind === "WasmPlugin" ? "v1alpha1" : "v1"
  }`;
  const tree = { apiVersion, kind, metadata: { name, namespace: "x", annotations }, spec };
  const parsed = parseObject(tree, inFile("test"), { defaultNamespace: "x" });
  assert.ok(parsed.object, JSON.stringify(parsed.findings));
  return parsed.object as AnyConfigObject;
}

const route = (timeout: string, annotations = PLAN as Readonly<Record<string, string>>, name = "one") =>
  object(
    "VirtualService",
    { hosts: ["a.com"], http: [{ timeout, route: [{ destination: { host: "a.com" } }] }] },
    annotations,
    name,
  );

function world(): StagedObjects {
  const staged = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
  staged.seal();
  return staged;
}

const LIVE: StageFacts = { total: 10, chosen: 1, live: 1, failing: 0, refused: 0, words: [], errors: "" };
const PROXIES = new Set(Array.from({ length: 10 }, (_, at) => `p${at}`));

Deno.test("what protects is never staged, whatever its annotations say", () => {
  const guards = [
    object("AuthorizationPolicy", {}),
    object("PeerAuthentication", { mtls: { mode: "STRICT" } }),
    object("RequestAuthentication", { jwtRules: [] }),
    object("WasmPlugin", { url: "https://a.com/x.wasm", phase: "AUTHZ" }),
    object("ProxyFilter", {
      configPatches: [{
        applyTo: "HTTP_FILTER",
        patch: {
          operation: "INSERT_FIRST",
          value: {
            name: "rate",
            typed_config: {
              "@type": "type.googleapis.com/envoy.extensions.filters.http.local_ratelimit.v3.LocalRateLimit",
              stat_prefix: "x",
            },
          },
        },
      }],
    }),
  ];
  for (const guard of guards) {
    const staged = world();
    assert.ok(whyNotStaged(guard), guard.key);
    assert.deepEqual(staged.settledChange({ removed: [], added: [guard] }).added, [guard], guard.key);
    assert.deepEqual(staged.rollouts(), [], guard.key);
  }
});

/** Requires that an edit goes everywhere at once, or is staged. */
function goesAtOnce(what: string, before: AnyConfigObject | undefined, after: AnyConfigObject, isAtOnce: boolean) {
  const staged = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
  staged.settledChange({ removed: [], added: before ? [before] : [] });
  staged.seal();
  const { added } = staged.settledChange({ removed: before ? [before] : [], added: [after] });
  assert.deepEqual([added.includes(after), staged.rollouts().length], isAtOnce ? [true, 0] : [false, 1], what);
  const found = rolloutFindings(staged).filter(({ name }) => name === "rollout-at-once");
  assert.deepEqual(found.map(({ message }) => message), isAtOnce ? ["the edit changes what protects"] : [], what);
}

Deno.test("an edit of what refuses requests goes everywhere at once, and any other edit of a VirtualService is staged", () => {
  const to = (timeout: string) => ({ timeout, route: [{ destination: { host: "a.com" } }] });
  const at = (prefix: string) => ({ match: [{ uri: { prefix } }] });
  const refuses = (prefix: string, status = 403) => ({ ...at(prefix), directResponse: { status } });
  const routes = (http: object[], others: object = {}) =>
    object("VirtualService", { hosts: ["a.com"], http, ...others });
  const guarded = routes([refuses("/admin"), to("1s")]);
  const cases: Parameters<typeof goesAtOnce>[] = [
    ["a refusal is added", routes([to("1s")]), guarded, true],
    ["a refusal is removed", guarded, routes([to("1s")]), true],
    ["a new object refuses", undefined, guarded, true],
    ["the refusal has another match", guarded, routes([refuses("/a"), to("1s")]), true],
    ["a route comes before the refusal", guarded, routes([{ ...at("/x"), ...to("1s") }, refuses("/admin")]), true],
    [
      "the object that refuses has another host",
      guarded,
      routes([refuses("/admin"), to("1s")], { hosts: ["b.com"] }),
      true,
    ],
    ["an abort is added", routes([to("1s")]), routes([{ ...to("1s"), fault: { abort: { httpStatus: 500 } } }]), true],
    [
      "a header is taken away",
      routes([to("1s")]),
      routes([{ ...to("1s"), headers: { request: { remove: ["x"] } } }]),
      true,
    ],
    ["a route behind the refusal changes", guarded, routes([refuses("/admin"), to("2s")]), false],
    ["an answer that refuses nothing", routes([to("1s")]), routes([refuses("/health", 200), to("1s")]), false],
    ["no refusal", routes([to("1s")]), routes([to("2s")]), false],
  ];
  for (const one of cases) goesAtOnce(...one);
});

Deno.test("an edit of TLS settings goes everywhere at once, and any other edit of a DestinationRule is staged", () => {
  const plain = { connectionPool: { tcp: { maxConnections: 9 } } };
  const rule = (trafficPolicy: object, others: object = {}) =>
    object("DestinationRule", { host: "a.com", trafficPolicy, ...others });
  const simple = { tls: { mode: "SIMPLE", sni: "a.com" } };
  const port = { portLevelSettings: [{ port: { number: 80 }, loadBalancer: { simple: "RANDOM" } }] };
  const subset = (trafficPolicy: object) => ({ subsets: [{ name: "v1", labels: { version: "v1" }, trafficPolicy }] });
  const calm = { loadBalancer: { simple: "RANDOM" } };
  const cases: [string, AnyConfigObject | undefined, AnyConfigObject, boolean][] = [
    ["TLS is switched on", rule({ tls: { mode: "DISABLE" } }), rule(simple), true],
    ["TLS is added", rule(plain), rule({ ...calm, ...simple }), true],
    ["TLS is removed", rule(simple), rule(plain), true],
    ["a new object has TLS", undefined, rule(simple), true],
    ["the object with TLS has another host", rule(simple), rule(simple, { host: "b.com" }), true],
    ["the object with TLS has another audience", rule(simple), rule(simple, { exportTo: ["."] }), true],
    ["a port has no TLS any more", rule(simple), rule({ ...simple, ...port }), true],
    ["a subset has TLS", rule(plain, subset(plain)), rule(plain, subset(simple)), true],
    ["the same TLS and another balancer", rule(simple), rule({ ...simple, ...calm }), false],
    ["the same TLS and a new subset", rule(simple), rule(simple, subset(calm)), false],
    ["no TLS", rule(plain), rule(calm), false],
  ];
  for (const one of cases) goesAtOnce(...one);
  // An edit of TLS settings in the middle of a rollout ends the rollout.
  const staged = world();
  staged.settledChange({ removed: [], added: [object("DestinationRule", { host: "a.com" }, {})] });
  staged.settledChange({ removed: [], added: [rule(calm)] });
  assert.equal(staged.rollouts().length, 1);
  const protecting = rule({ ...calm, ...simple });
  assert.deepEqual(staged.settledChange({ removed: [], added: [protecting] }).added, [protecting]);
  assert.deepEqual([staged.rollouts(), staged.candidatesOf("p0")], [[], undefined]);
});

Deno.test("an object under another name goes everywhere at once, as the object of the old name does", () => {
  const telemetry = (name: string) =>
    object("Telemetry", { accessLogging: [{ providers: [{ name: "envoy" }] }] }, PLAN, name);
  const rule = (name: string, host = "a.com") =>
    object("DestinationRule", { host, trafficPolicy: { loadBalancer: { simple: "RANDOM" } } }, PLAN, name);
  const cases: [string, AnyConfigObject, AnyConfigObject, boolean][] = [
    ["routes of the same host", route("1s"), route("2s", PLAN, "two"), true],
    ["a rule of the same host", rule("one"), rule("two"), true],
    ["the same content", telemetry("one"), telemetry("two"), true],
    ["a rule of the same short host", rule("one", "cart"), rule("two", "cart.x.svc.cluster.local"), true],
    ["a rule of another host", rule("one"), rule("two", "b.com"), false],
    ["another kind", rule("one"), route("1s", PLAN, "two"), false],
  ];
  for (const [what, before, after, isAtOnce] of cases) {
    const staged = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
    staged.settledChange({ removed: [], added: [before] });
    staged.seal();
    const change = staged.settledChange({ removed: [before], added: [after] });
    assert.deepEqual(change, { removed: [before], added: isAtOnce ? [after] : [] }, what);
    assert.equal(staged.rollouts().length, isAtOnce ? 0 : 1, what);
  }
  // The old name had a candidate: what all proxies had is gone.
  const staged = world();
  const [settled, candidate, renamed] = [route("1s", {}), route("2s"), route("2s", PLAN, "two")];
  staged.settledChange({ removed: [], added: [settled] });
  staged.settledChange({ removed: [settled], added: [candidate] });
  const change = staged.settledChange({ removed: [candidate], added: [renamed] });
  assert.deepEqual(change, { removed: [settled], added: [renamed] });
  assert.deepEqual([staged.rollouts(), staged.candidatesOf("p0")], [[], undefined]);
});

Deno.test("a new version waits, reaches chosen proxies, and is settled after its last stage", () => {
  const staged = world();
  const before = route("1s", {});
  const after = route("2s");
  assert.deepEqual(staged.settledChange({ removed: [], added: [before] }).added, [before]);
  assert.deepEqual(staged.settledChange({ removed: [before], added: [after] }), { removed: [], added: [] });
  assert.equal([...PROXIES].some((proxy) => staged.candidatesOf(proxy)), false, "nobody is chosen yet");
  staged.choose(after.key, PROXIES);
  const having = [...PROXIES].filter((proxy) => staged.candidatesOf(proxy));
  assert.equal(having.length, 1);
  assert.deepEqual(staged.fork(staged.candidatesOf(having[0]!)!), { keys: new Set([after.key]), objects: [after] });
  assert.deepEqual([1, 2].map(() => staged.step(after.key, LIVE)), ["changed", "changed"]);
  staged.choose(after.key, PROXIES);
  assert.equal([...PROXIES].filter((proxy) => staged.candidatesOf(proxy)).length, 10);
  assert.deepEqual([1, 2].map(() => staged.step(after.key, LIVE)), ["changed", "settled"]);
  assert.deepEqual(staged.settledChange({ removed: [], added: [] }), { removed: [before], added: [after] });
  assert.deepEqual([staged.rollouts(), staged.candidatesOf("p0")], [[], undefined]);
});

Deno.test("an object that was taken back is nowhere, and its next version begins from the last settled version", () => {
  const staged = world();
  const [good, bad, better] = [route("1s", {}), route("2s"), route("3s")];
  staged.settledChange({ removed: [], added: [good] });
  staged.settledChange({ removed: [good], added: [bad] });
  staged.choose(bad.key, PROXIES);
  assert.equal(staged.step(bad.key, { ...LIVE, refused: 1, words: ["no"] }), "changed");
  staged.choose(bad.key, PROXIES);
  assert.equal([...PROXIES].some((proxy) => staged.candidatesOf(proxy)), false);
  assert.deepEqual(staged.settledChange({ removed: [], added: [] }), { removed: [], added: [] });
  assert.deepEqual(staged.settledChange({ removed: [bad], added: [better] }), { removed: [], added: [] });
  const [rollout] = staged.rollouts();
  assert.deepEqual([rollout?.settled, rollout?.object, rollout?.stage, rollout?.phase], [good, better, 0, "spreading"]);
});

Deno.test("an edit in the middle begins at the first stage, from the last settled version", () => {
  const staged = world();
  const [good, next, later] = [route("1s", {}), route("2s"), route("3s")];
  staged.settledChange({ removed: [], added: [good] });
  staged.settledChange({ removed: [good], added: [next] });
  staged.step(next.key, LIVE);
  staged.step(next.key, LIVE);
  assert.equal(staged.rollouts()[0]?.stage, 1);
  staged.settledChange({ removed: [next], added: [later] });
  const [rollout] = staged.rollouts();
  assert.deepEqual([rollout?.settled, rollout?.object, rollout?.stage], [good, later, 0]);
});

Deno.test("a removed object is gone everywhere at once, and the version of old ends a rollout", () => {
  const staged = world();
  const [good, next] = [route("1s"), route("2s")];
  staged.settledObjects([good]);
  for (let at = 0; at < 4; at++) staged.step(good.key, LIVE);
  assert.deepEqual(staged.settledChange({ removed: [], added: [] }).added, [good]);
  staged.settledChange({ removed: [good], added: [next] });
  assert.equal(staged.rollouts().length, 1);
  assert.deepEqual(staged.settledChange({ removed: [next], added: [good] }), { removed: [], added: [] });
  assert.equal(staged.rollouts().length, 0);
  staged.settledChange({ removed: [good], added: [next] });
  staged.choose(next.key, PROXIES);
  assert.deepEqual(staged.settledChange({ removed: [next], added: [] }), { removed: [good], added: [] });
  assert.equal([...PROXIES].some((proxy) => staged.candidatesOf(proxy)), false);
});

Deno.test("an object without its plan goes everywhere at once", () => {
  const staged = world();
  const [good, next, whole] = [route("1s", {}), route("2s"), route("2s", {})];
  staged.settledChange({ removed: [], added: [good] });
  staged.settledChange({ removed: [good], added: [next] });
  assert.deepEqual(staged.settledChange({ removed: [next], added: [whole] }), { removed: [good], added: [whole] });
});

Deno.test("proxies of a stage keep the candidate when others leave, until the plan has a smaller share", () => {
  const good = route("1s", {});
  const half = route("2s", { "mesh.io/rollout": "50%,100%" });
  const fifth = route("2s", { "mesh.io/rollout": "20%,100%" });
  const staged = world();
  staged.settledChange({ removed: [], added: [good] });
  staged.settledChange({ removed: [good], added: [half] });
  const having = () => new Set([...PROXIES].filter((proxy) => staged.candidatesOf(proxy) !== undefined));
  staged.choose(good.key, PROXIES);
  const chosen = having();
  assert.equal(chosen.size, 5);
  staged.choose(good.key, chosen);
  assert.deepEqual(having(), chosen);
  staged.settledChange({ removed: [half], added: [fifth] });
  staged.choose(good.key, chosen);
  assert.equal(having().size, 1);
});

Deno.test("a restart in the middle goes on at the stage with the proxies of the stage", () => {
  const [good, next] = [route("1s", {}), route("2s")];
  const staged = world();
  staged.settledChange({ removed: [], added: [good] });
  staged.settledChange({ removed: [good], added: [next] });
  staged.choose(next.key, PROXIES);
  const chosen = chooseProxies(next.key, PROXIES, 10).proxies;
  const text = writtenRecords(staged.records());
  const later = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
  later.restore(readRecords(text, inFile("kept")));
  const settled = later.settledObjects([next]);
  assert.deepEqual(settled.map(contentHash), [contentHash(good)], "others have the last good version");
  later.seal();
  const [rollout] = later.rollouts();
  assert.deepEqual([rollout?.stage, rollout?.phase, rollout?.object, rollout?.returns], [0, "spreading", next, true]);
  const having = [...PROXIES].filter((proxy) => later.candidatesOf(proxy));
  assert.deepEqual(new Set(having), chosen);
});

Deno.test("an edit while no server runs is staged from the kept version", () => {
  const [good, next] = [route("1s"), route("2s")];
  const staged = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
  staged.settledObjects([good]);
  staged.seal();
  const later = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
  later.restore(readRecords(writtenRecords(staged.records()), inFile("kept")));
  assert.deepEqual(later.settledObjects([next]).map(contentHash), [contentHash(good)]);
  later.seal();
  assert.equal(later.rollouts()[0]?.object, next);
});

Deno.test("kept state of another form is refused", () => {
  for (const text of ["", "{}", '{"version":2,"records":[]}', '{"version":1,"records":[{"key":"Secret/a/b"}]}']) {
    assert.throws(() => readRecords(text, inFile("kept")), text);
  }
});

type Move = { readonly do: "put"; readonly of: number; readonly planned: boolean } | {
  readonly do: "remove" | "restart";
} | {
  readonly do: "step";
  readonly facts: StageFacts;
} | { readonly do: "choose"; readonly connected: readonly boolean[] };

const move: fc.Arbitrary<Move> = fc.oneof(
  fc.record({ do: fc.constant("put" as const), of: fc.integer({ min: 1, max: 3 }), planned: fc.boolean() }),
  fc.constant({ do: "remove" as const }),
  fc.constant({ do: "restart" as const }),
  { weight: 4, arbitrary: fc.constant({ do: "step" as const, facts: LIVE }) },
  fc.constant({ do: "step" as const, facts: { ...LIVE, refused: 1, words: ["no"] } }),
  {
    weight: 4,
    arbitrary: fc.array(fc.boolean(), { minLength: 10, maxLength: 10 }).map((connected) => ({
      do: "choose" as const,
      connected,
    })),
  },
);

Deno.test("after any events: never more proxies than the stage says, none after a stop, and the mesh has the settled version", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
      let staged = world();
      let present: AnyConfigObject | undefined;
      let inMesh: AnyConfigObject | undefined;
      const apply = (
        { removed, added }: { removed: readonly AnyConfigObject[]; added: readonly AnyConfigObject[] },
      ) => {
        for (const gone of removed) assert.equal(gone, inMesh);
        if (removed.length > 0) inMesh = undefined;
        for (const come of added) inMesh = come;
      };
      for (const one of moves) {
        if (one.do === "put") {
          const next = route(`${one.of}s`, one.planned ? PLAN : {});
          if (next.hash === present?.hash) continue;
          apply(staged.settledChange({ removed: present ? [present] : [], added: [next] }));
          present = next;
        } else if (one.do === "remove" && present !== undefined) {
          apply(staged.settledChange({ removed: [present], added: [] }));
          present = undefined;
          assert.equal(inMesh, undefined);
        } else if (one.do === "step" && present !== undefined) {
          staged.step(present.key, one.facts);
          apply(staged.settledChange({ removed: [], added: [] }));
        } else if (one.do === "choose" && present !== undefined) {
          staged.choose(present.key, new Set([...PROXIES].filter((_, at) => one.connected[at])));
        } else if (one.do === "restart") {
          const text = writtenRecords(staged.records());
          staged = new StagedObjects({ now: () => 0, soakMs: 0, domain: "cluster.local" });
          staged.restore(readRecords(text, inFile("kept")));
          [inMesh] = staged.settledObjects(present ? [present] : []);
          staged.seal();
        }
        const [rollout] = staged.rollouts();
        const having = [...PROXIES].filter((proxy) => staged.candidatesOf(proxy) !== undefined);
        if (rollout === undefined) {
          assert.deepEqual([having, inMesh && contentHash(inMesh)], [[], present && contentHash(present)]);
        } else {
          const share = rollout.phase === "taken-back" ? 0 : rollout.plan.stages[rollout.stage]!.percent;
          assert.ok(
            having.length <= (share === 0 ? 0 : Math.max(1, 10 * share / 100)),
            `${having.length} at ${share}%`,
          );
          assert.equal(inMesh && contentHash(inMesh), rollout.settled && contentHash(rollout.settled));
        }
      }
    }),
    { numRuns: runs(500) },
  );
});
