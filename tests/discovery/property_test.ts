import assert from "node:assert/strict";
import fc from "fast-check";
import { passedHosts } from "../../lib/config/kinds/gateway/hosts.ts";
import { isKind } from "../../lib/config/types.ts";
import { covers } from "../../lib/mesh/host_match.ts";
import { contents, Fixture, texts } from "./fixture.ts";
import { manySteps, play, SETTINGS, type Step, step } from "./random_steps.ts";
import { FarCluster, transportSettings } from "./random_transport.ts";
import { runs } from "../properties.ts";

/** Runs of each property. */
const RUNS = runs(100);

/**
 * A check of one world, followed by a turn of the event loop. Until the turn a world stays in memory, by its weak
 * references, and thousands do not fit.
 */
function inTurn<T extends unknown[]>(check: (...values: T) => void): (...values: T) => Promise<void> {
  return async (...values) => {
    check(...values);
    await new Promise((resolve) => setTimeout(resolve, 0));
  };
}

/** Compares every proxy after some steps with a new proxy in the resulting world. */
function compareWithFresh(steps: readonly Step[], settings: typeof SETTINGS): void {
  const { fixture, joined, networks, farStates } = play(steps, true, settings);
  const fresh = new Fixture({ cache: true, settings, mesh: fixture.pipeline.mesh, networks });
  const cluster = farStates.size > 0 ? new FarCluster(fresh) : undefined;
  for (const state of farStates.values()) cluster?.set(state);
  for (const [place, keys] of fixture.tokenKeys) fresh.tokenKeys.set(place, keys);
  fresh.setNamespaces(fixture.namespaces);
  fresh.setWaypointAddresses(fixture.waypointAddresses);
  fresh.pipeline.configChanged([], [...fixture.objects.values()]);
  fresh.pipeline.flush();
  for (const { node, state } of joined) assert.deepEqual(contents(state), contents(fresh.join(node)));
}

Deno.test("changes one by one leave every proxy with the resources of a fresh start", async () => {
  await fc.assert(fc.asyncProperty(manySteps, inTurn((steps) => compareWithFresh(steps, SETTINGS))), { numRuns: RUNS });
});

Deno.test("caches change nothing where gateways get only their needed clusters, including clusters of token issuers", async () => {
  const settings = { ...SETTINGS, PILOT_FILTER_GATEWAY_CLUSTER_CONFIG: true };
  await fc.assert(fc.asyncProperty(manySteps, inTurn((steps) => compareWithFresh(steps, settings))), {
    numRuns: Math.ceil(RUNS / 4),
  });
});

Deno.test("caches change nothing where proxies use other kinds of connections: HBONE, and protocols of databases", async () => {
  await fc.assert(
    fc.asyncProperty(
      manySteps,
      transportSettings,
      inTurn((steps, settings) => {
        compareWithFresh(steps, { ...SETTINGS, ...settings });
      }),
    ),
    { numRuns: RUNS },
  );
});

Deno.test("every route configuration that a listener names is there", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { minLength: 5, maxLength: 30, size: "max" }),
      inTurn((steps) => {
        const { joined } = play(steps, true);
        for (const { state } of joined) {
          const all = texts(state);
          const listeners = Object.entries(all).filter(([name]) => name.startsWith("listener/"));
          for (const [, text] of listeners) {
            for (const [, name] of text.matchAll(/"route_config_name":"([^"]+)"/g)) {
              assert.ok(`route/${name}` in all, `${name}`);
            }
          }
        }
      }),
    ),
    { numRuns: Math.ceil(RUNS / 10) },
  );
});

Deno.test("every proxy gets the same with caches as without", async () => {
  await fc.assert(
    fc.asyncProperty(
      manySteps,
      transportSettings,
      inTurn((steps, transport) => {
        const settings = { ...SETTINGS, ...transport };
        const cached = play(steps, true, settings).joined.map(({ state }) => contents(state));
        const plain = play(steps, false, settings).joined.map(({ state }) => contents(state));
        assert.deepEqual(cached, plain);
      }),
    ),
    { numRuns: RUNS },
  );
});

Deno.test("a proxy never sees a host that exportTo or its Sidecar hides", async () => {
  await fc.assert(
    fc.asyncProperty(
      manySteps,
      inTurn((steps) => {
        // Services of another cluster are for all.
        const { fixture, joined } = play(steps.filter((one) => one.do !== "far"), true);
        const visible = (namespace: string) =>
          new Set([...fixture.objects.values()].flatMap((object) => {
            if (object.kind !== "ServiceEntry") return [];
            const { exportTo = ["*"], hosts } = object.spec;
            const own = object.meta.namespace === namespace;
            return exportTo.includes("*") || exportTo.includes(namespace) || (exportTo.includes(".") && own)
              ? hosts
              : [];
          }));
        for (const { node, state } of joined) {
          const seen = visible(node.namespace);
          for (const name of Object.keys(contents(state))) {
            const host = /^cluster\/outbound\|\d+\|[^|]*\|(.+)$/.exec(name)?.[1];
            if (host) assert.ok(seen.has(host), `${node.namespace} sees ${name}`);
          }
        }
      }),
    ),
    { numRuns: RUNS },
  );
});

Deno.test("a gateway passes connections on by name to hosts of its servers alone, and to mutual TLS in its own network", async () => {
  await fc.assert(
    fc.asyncProperty(
      manySteps,
      inTurn((steps) => {
        const { fixture, joined } = play(steps, true);
        const passed = [...fixture.objects.values()].flatMap((object) =>
          isKind(object, "Gateway") ? passedHosts(object) : []
        );
        for (const { node, state } of joined) {
          for (const [name, text] of Object.entries(texts(state))) {
            const host = /^(?:cluster|assignment)\/outbound_\.\d+_\.[^.]*_\.(.+)$/.exec(name)?.[1];
            if (host === undefined) continue;
            assert.equal(node.type, "router");
            assert.ok(passed.some((one) => covers(one.host, host)), name);
            assert.ok(!/transport_socket|1\.2\.3\./.test(text), text);
          }
        }
      }),
    ),
    { numRuns: RUNS },
  );
});
