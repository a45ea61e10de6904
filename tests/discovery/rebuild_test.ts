/** Another mesh configuration: all is made anew in steps, while configuration and proxies go on changing. */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { ProxyState } from "../../lib/translate/machine/per_proxy/proxy_state.ts";
import { contents, Fixture, type TestNode } from "./fixture.ts";
import { name, namespace, type Tree, tree } from "./random_trees.ts";
import { runs } from "../properties.ts";

/** Runs of the property. */
const RUNS = runs(100);

/** An event loop that turns once after each step of a push, on the test's command. */
class Turns {
  #now = 0;
  #waiting: (() => void) | undefined;
  taken = 0;
  readonly pace = {
    now: () => this.#now += 20,
    turn: () => new Promise<void>((resolve) => this.#waiting = resolve),
  };

  /** Runs a step. @returns false: no push is in the middle */
  async next(): Promise<boolean> {
    const resume = this.#waiting;
    if (resume === undefined) return false;
    this.#waiting = undefined;
    this.taken++;
    resume();
    // The push goes on within the promises of this turn.
    await new Promise((resolve) => setTimeout(resolve, 0));
    return true;
  }

  async all(): Promise<void> {
    while (await this.next());
  }
}

/** A pipeline that pushes each change at once. */
function world(turns: Turns, port = 15333): Fixture {
  return new Fixture({ mesh: { proxyHttpPort: port }, settings: { PILOT_DEBOUNCE_AFTER: 0 }, pace: turns.pace });
}

function moveTo(port: number, { pipeline }: Fixture): void {
  pipeline.meshChanged({ ...pipeline.mesh, proxyHttpPort: port }, { networks: {} });
}

type Step =
  | { readonly do: "put"; readonly tree: Tree }
  | { readonly do: "remove"; readonly key: string }
  | { readonly do: "mesh"; readonly port: number }
  | { readonly do: "join"; readonly node: TestNode }
  | { readonly do: "leave"; readonly which: number }
  | { readonly do: "turns"; readonly count: number };

const kinds = ["ServiceEntry", "WorkloadEntry", "VirtualService", "DestinationRule", "Sidecar", "Gateway"];
const node: fc.Arbitrary<TestNode> = fc.record({
  namespace: fc.constantFrom("a", "b"),
  address: fc.integer({ min: 1, max: 4 }).map((i) => `172.16.0.${i}`),
  labels: fc.constantFrom({ app: "p" }, { app: "q" }, { app: "gw" }),
  type: fc.constantFrom("sidecar" as const, "router" as const),
});
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: tree.map((tree) => ({ do: "put" as const, tree })) },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...kinds), namespace, name)
      .map((parts) => ({ do: "remove" as const, key: parts.join("/") })),
  },
  { weight: 2, arbitrary: fc.constantFrom(15333, 15334, 15335).map((port) => ({ do: "mesh" as const, port })) },
  { weight: 2, arbitrary: node.map((node) => ({ do: "join" as const, node })) },
  { weight: 1, arbitrary: fc.nat(9).map((which) => ({ do: "leave" as const, which })) },
  { weight: 6, arbitrary: fc.integer({ min: 1, max: 8 }).map((count) => ({ do: "turns" as const, count })) },
);

interface Joined {
  readonly node: TestNode;
  readonly state: ProxyState;
}

async function play(steps: readonly Step[], turns: Turns): Promise<{ fixture: Fixture; joined: readonly Joined[] }> {
  const fixture = world(turns);
  const joined: Joined[] = [];
  for (const one of steps) {
    if (one.do === "put") fixture.offer(one.tree);
    else if (one.do === "remove") fixture.remove(one.key);
    else if (one.do === "mesh") moveTo(one.port, fixture);
    else if (one.do === "join") joined.push({ node: one.node, state: fixture.join(one.node) });
    else if (one.do === "turns") { for (let i = 0; i < one.count; i++) await turns.next(); }
    else for (const { state } of joined.splice(one.which, 1)) fixture.pipeline.translator.leave(state);
  }
  await turns.all();
  return { fixture, joined };
}

Deno.test("proxies have the resources of a fresh start, whatever changed while the mesh was made anew", async () => {
  let turned = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 50, size: "max" }), async (steps) => {
      const turns = new Turns();
      const { fixture, joined } = await play(steps, turns);
      turned += turns.taken;
      assert.deepEqual(fixture.failures, []);
      assert.equal(fixture.pipeline.translator.counts.proxies, joined.length);
      const fresh = new Fixture({ mesh: { proxyHttpPort: fixture.pipeline.mesh.proxyHttpPort } });
      fresh.pipeline.configChanged([], [...fixture.objects.values()]);
      fresh.pipeline.flush();
      for (const { node, state } of joined) assert.deepEqual(contents(state), contents(fresh.join(node)));
    }),
    { numRuns: RUNS },
  );
  assert.ok(turned > RUNS, "changes came between the steps");
});

const SERVICES = 600;
const PROXIES = 20;

function service(i: number): object {
  return {
    apiVersion: "networking.mesh.io/v1",
    kind: "ServiceEntry",
    metadata: { name: `s${i}`, namespace: "a" },
    spec: {
      hosts: [`s${i}.example.com`],
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    },
  };
}

Deno.test("all proxies move at once and keep their resources until then, and the event loop turns after each host and proxy", async () => {
  const turns = new Turns();
  const fixture = world(turns);
  fixture.put(...Array.from({ length: SERVICES }, (_, i) => service(i)));
  const states = Array.from(
    { length: PROXIES },
    (_, i) => fixture.join({ namespace: "a", address: `10.1.0.${i + 1}` }),
  );
  const before = states.map(contents);
  const { pushes } = fixture.pipeline;
  moveTo(15444, fixture);
  let steps = 0;
  while (fixture.pipeline.pushes === pushes && await turns.next()) {
    steps++;
    if (fixture.pipeline.pushes === pushes) assert.deepEqual(states.map(contents), before);
  }
  assert.ok(steps >= SERVICES + PROXIES, `${steps} steps`);
  assert.equal(fixture.pipeline.pushes, pushes + 1);
  for (const [i, state] of states.entries()) assert.notDeepEqual(contents(state), before[i]);
});

Deno.test("a pipeline that is stopped in the middle of a push leaves it there, without an error", async () => {
  const turns = new Turns();
  const fixture = world(turns);
  fixture.put(...Array.from({ length: SERVICES }, (_, i) => service(i)));
  const { pushes } = fixture.pipeline;
  moveTo(15444, fixture);
  assert.ok(await turns.next());
  fixture.pipeline.stop();
  await turns.all();
  assert.equal(fixture.pipeline.pushes, pushes);
  assert.deepEqual(fixture.failures, []);
});
