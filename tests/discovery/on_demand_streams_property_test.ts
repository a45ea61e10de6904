/**
 * In random worlds, over whole streams: in any order of requests, edits, removals and reconnects, a sidecar that asks ends
 * with the routes, clusters and endpoints that a sidecar with everything has for the called hosts.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { clustersNamedBy } from "../../lib/translate/encode/named_clusters.ts";
import { encodeResource } from "../../lib/resource/encoded.ts";
import { resourcesFrom } from "../../lib/simulate/decoded.ts";
import { chooseVirtualHost } from "../../lib/simulate/virtual_host.ts";
import { CLUSTER, ENDPOINTS, LISTENER, ROUTE, VIRTUAL_HOST } from "../../lib/xds/protocol/types.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { AskingClient } from "./asking_client.ts";
import { Fixture, service } from "./fixture.ts";
import { manySteps, play } from "./random_steps.ts";
import { runs } from "../properties.ts";

const RUNS = runs(10);

type Chosen = envoy.config.route.v3.VirtualHost | undefined;

/** What happens at the clients after a push. */
type Act =
  /** A request: the number chooses among the hosts of the present world. */
  | { readonly do: "call"; readonly host: number }
  /** A response arrives at the sidecar that asks; others stay on their way. */
  | { readonly do: "take" }
  | { readonly do: "settle" }
  | { readonly do: "reconnect" };

const act: fc.Arbitrary<Act> = fc.oneof(
  { weight: 6, arbitrary: fc.nat(1000).map((host) => ({ do: "call" as const, host })) },
  { weight: 3, arbitrary: fc.constant({ do: "take" as const }) },
  { weight: 2, arbitrary: fc.constant({ do: "settle" as const }) },
  { weight: 1, arbitrary: fc.constant({ do: "reconnect" as const }) },
);

/** Two sidecars of one workload: with everything, and one that asks. */
class Pair {
  readonly whole: AskingClient;
  readonly asking: AskingClient;

  constructor(fixture: Fixture, namespace: string, address: string) {
    const node = (name: string, metadata: Readonly<Record<string, string>>) => ({
      id: `sidecar~${address}~${name}.${namespace}~${namespace}.svc.cluster.local`,
      metadata: {
        fields: {
          LABELS: { structValue: { fields: { app: { stringValue: "p" } } } },
          ...Object.fromEntries(Object.entries(metadata).map(([key, stringValue]) => [key, { stringValue }])),
        },
      },
    });
    this.whole = new AskingClient(fixture, node("whole", {}));
    this.asking = new AskingClient(fixture, node("asking", { ON_DEMAND: "true" }));
    assert.ok(this.asking.asks && !this.whole.asks);
  }

  /** The hosts of requests in the present world, with their route configurations. */
  calls(): [route: string, host: string][] {
    const resources = resourcesFrom(this.whole.messages());
    return [...resources.virtualHosts].flatMap(([name, { domains = [] }]) => {
      const route = this.asking.namesOf(ROUTE).values().find((one) => name.startsWith(`${one}/`));
      if (route === undefined) return [];
      const hosts = domains.map((domain) => domain.replace(/^\*|\*$/, "some"));
      return [...hosts, "nobody.invalid"].map((host): [string, string] => [route, host]);
    });
  }

  act(what: Act): void {
    if (what.do === "take") this.asking.takeOne();
    else if (what.do === "settle") this.asking.settle();
    else if (what.do === "reconnect") this.asking.reconnect();
    else {
      const calls = this.calls();
      const call = calls[what.host % Math.max(1, calls.length)];
      if (call !== undefined) this.asking.call(...call);
    }
  }

  /** Both sidecars have the same for each called host. @returns the number of compared hosts */
  compare(): number {
    this.whole.settle();
    this.asking.settle();
    const [all, some] = [resourcesFrom(this.whole.messages()), resourcesFrom(this.asking.messages())];
    let compared = 0;
    for (const [route, configuration] of all.routes) {
      const shell = some.routes.get(route);
      assert.ok(shell, `route configuration ${route}`);
      for (const question of this.asking.asked) {
        if (!question.startsWith(`${route}/`)) continue;
        const host = question.slice(route.length + 1);
        const expected: Chosen = chooseVirtualHost(all, configuration, host)?.virtualHost;
        const found: Chosen = chooseVirtualHost(some, shell, host)?.virtualHost;
        assert.equal(treatment(found), treatment(expected), question);
        this.#compareClusters(found);
        compared++;
      }
    }
    return compared;
  }

  #compareClusters(virtualHost: Chosen): void {
    const texts = JSON.stringify(virtualHost ?? {}).matchAll(/"(outbound\|[^"]*)"/g);
    for (const [, name = ""] of texts) {
      assert.equal(this.asking.version(CLUSTER, name), this.whole.version(CLUSTER, name), name);
      assert.equal(this.asking.version(ENDPOINTS, name), this.whole.version(ENDPOINTS, name), `endpoints of ${name}`);
    }
  }

  /** The clusters that the virtual hosts of the sidecar that asks name, and that exist. */
  needed(): Set<string> {
    const existing = this.whole.namesOf(CLUSTER);
    const messages = [...this.asking.messages()].filter(({ typeUrl }) => typeUrl === VIRTUAL_HOST);
    const named = messages.flatMap(({ name, value }) => clustersNamedBy(encodeResource(VIRTUAL_HOST, name, value)));
    return new Set(named.filter((name) => existing.has(name)));
  }

  close(): void {
    this.whole.close();
    this.asking.close();
  }
}

/** What a virtual host does. Names and domains differ, and no virtual host is like one without routes. */
function treatment(virtualHost: Chosen): string {
  const { name: _, domains: __, ...rest } = virtualHost ?? {};
  return (rest.routes ?? []).length === 0 ? "refused" : JSON.stringify(rest).replaceAll(UNLIMITED, "");
}

/** The limit that a request without a route has is lifted by each route. */
const UNLIMITED = ',"max_stream_duration":{"max_stream_duration":{}}';

Deno.test("over streams, in any order of requests, edits, removals and reconnects, both modes end with the same for called hosts", async () => {
  let compared = 0;
  await fc.assert(
    fc.asyncProperty(manySteps, fc.array(fc.array(act, { maxLength: 8 }), { maxLength: 12 }), async (steps, acts) => {
      const pairs: Pair[] = [];
      const rest = [...acts];
      const { fixture } = play(steps, true, undefined, (fixture) => {
        if (pairs.length === 0) {
          pairs.push(new Pair(fixture, "a", "172.16.0.41"), new Pair(fixture, "b", "172.16.0.42"));
        }
        for (const pair of pairs) pair.whole.settle();
        for (const what of rest.shift() ?? []) for (const pair of pairs) pair.act(what);
      });
      for (const pair of pairs) {
        compared += pair.compare();
        // What came before does not count: the same again after a reconnect, and nothing needed went meanwhile.
        const needed = pair.needed();
        pair.asking.removed.clear();
        pair.asking.reconnect();
        compared += pair.compare();
        assert.deepEqual([...pair.asking.removed].filter((name) => needed.has(name)), []);
        assert.deepEqual(pair.asking.namesOf(LISTENER), pair.whole.namesOf(LISTENER));
        pair.close();
      }
      assert.deepEqual(fixture.failures, []);
      await new Promise((resolve) => setTimeout(resolve, 0));
    }),
    { numRuns: RUNS },
  );
  assert.ok(compared > 2 * RUNS, `${compared} hosts were compared`);
});

Deno.test("a service that goes while the sidecar is away goes from the sidecar, also if its workload names the port", () => {
  for (const host of ["s1.example.com", "s1.example.com:80"]) {
    const fixture = new Fixture();
    fixture.put(service(1), service(2));
    fixture.pipeline.flush();
    const metadata = { fields: { ON_DEMAND: { stringValue: "true" } } };
    const client = new AskingClient(fixture, { id: "sidecar~10.9.0.1~c.y~y.svc.cluster.local", metadata });
    client.call("80", host);
    client.settle();
    assert.deepEqual([...client.namesOf(VIRTUAL_HOST)].sort(), [
      "80/s1.example.com:80",
      "80/unknown:not-asked-yet.invalid",
    ]);
    fixture.remove("ServiceEntry/x/s1");
    fixture.pipeline.flush();
    client.reconnect();
    client.settle();
    const now = [...client.namesOf(VIRTUAL_HOST)].sort();
    assert.deepEqual(now, ["80/unknown:not-asked-yet.invalid", "80/unknown:s1.example.com"]);
    client.close();
  }
});
