/**
 * Random Gateways, ListenerSets, routes and grants: where requests go is what a small model of the specification says
 * (./reference_model.ts), through derivation, translation and the simulated proxy.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { OfflineMesh } from "../../lib/offline/offline_mesh.ts";
import { wrap } from "../../lib/pb/wellknown.ts";
import { encodedTables } from "../../lib/offline/proxy_resources.ts";
import { resourcesIn } from "../../lib/simulate/decoded.ts";
import { simulate } from "../../lib/simulate/simulate.ts";
import type { ProxyResources, SimulatedRequest } from "../../lib/simulate/types.ts";
import type { envoy } from "../../proto/gen/types.ts";
import { envoyPath } from "../envoy/path.ts";
import { validate } from "../envoy/verdict.ts";
import { meshOf, readsOf } from "../offline/mesh_of.ts";
import { routeListener } from "../translate/route/route_listener.ts";
import { document } from "./folder_world.ts";
import { aimed, request, world, worldTrees } from "./random_gateway_worlds.ts";
import { type Answer, answerOf, type World, type WorldRequest } from "./reference_model.ts";
import { runs, seedOr } from "../properties.ts";

const RUNS = runs(300);

function textOf(one: World): string {
  return worldTrees(one).map(document).join("");
}

/** The mesh of a world. Every object is taken. */
function meshOfWorld(one: World): OfflineMesh {
  const mesh = meshOf({ "mesh.yaml": textOf(one) });
  assert.deepEqual(mesh.index.findings().filter(({ severity }) => severity === "error"), []);
  return mesh;
}

/** What the proxy of the Gateway has. */
function resourcesOf(mesh: OfflineMesh): ProxyResources {
  const LABELS = { "gateway.networking.k8s.io/gateway-name": "edge" };
  const metadata = { NAMESPACE: "shop", LABELS, PROXY_CONFIG: {} };
  const resources = resourcesIn(
    encodedTables(mesh.join({ id: "router~10.0.0.9~edge.shop~shop.svc.cluster.local", metadata })),
  );
  assert.deepEqual(mesh.failures, []);
  return resources;
}

/** The request on the wire. A client of another port than the scheme's writes the port. */
function simulated({ port, scheme, serverName, host, method, path, query, headers }: WorldRequest): SimulatedRequest {
  const to = { direction: "direct", destination: { ip: "10.0.0.9", port } } as const;
  if (scheme === "tcp") return { ...to, protocol: "tcp" };
  if (scheme === "tls") return { ...to, protocol: "tls", sni: serverName };
  const text = new URLSearchParams(query).toString();
  const isUsual = port === (scheme === "http" ? 80 : 443);
  const http = {
    ...{ method, headers, path: text === "" ? path : `${path}?${text}` },
    host: isUsual ? host : `${host}:${port}`,
  };
  if (scheme === "http") return { ...to, ...http, protocol: "http" };
  return { ...to, ...http, protocol: "tls", sni: serverName, alpn: ["h2", "http/1.1"] };
}

/** The answer of the proxy. */
function answerBy(resources: ProxyResources, request: WorldRequest): Answer {
  const { outcome, steps } = simulate(resources, simulated(request));
  if (outcome.kind === "closed") return { closed: 1 };
  if (outcome.kind === "unknown") return { [`unknown: ${outcome.why}`]: 1 };
  const clusters = steps.filter((step) => step.step === "cluster");
  if (clusters.length === 0) return { [outcome.kind === "answered" ? outcome.status : "nowhere"]: 1 };
  const shares: Record<string, number> = {};
  for (const { name, share = 1, ends } of clusters) {
    const [, service = "", namespace = ""] = /^outbound\|80\|\|([^.]+)\.([^.]+)\./.exec(name) ?? [];
    const end = ends === undefined ? `${namespace}/${service}` : ends.kind === "closed" ? "closed" : `${ends.status}`;
    shares[end] = (shares[end] ?? 0) + share;
  }
  return shares;
}

/** Shares in percent: sums of fractions may differ in their last digit. */
function percent(answer: Answer): Record<string, number> {
  return Object.fromEntries(Object.entries(answer).map(([end, share]) => [end, Math.round(share * 100)]));
}

Deno.test("a request goes where the model of the specification says", () => {
  const ends = new Map<string, number>();
  fc.assert(
    fc.property(world, fc.array(request, { minLength: 20, maxLength: 40 }), (one, requests) => {
      const resources = resourcesOf(meshOfWorld(one));
      for (const raw of requests) {
        const asked = aimed(raw, one);
        const expected = percent(answerOf(one, asked));
        assert.deepEqual(percent(answerBy(resources, asked)), expected, JSON.stringify(asked));
        for (const end of Object.keys(expected)) ends.set(end, (ends.get(end) ?? 0) + 1);
      }
    }),
    { numRuns: RUNS },
  );
  if (Deno.env.get("REFERENCE_COUNTS")) console.log(ends);
  for (const end of ["404", "421", "500", "503", "closed", "shop/a", "pay/b"]) assert.ok(ends.has(end), end);
});

Deno.test("a request goes where the model says also after the world has become another world", () => {
  fc.assert(
    fc.property(world, world, fc.array(request, { minLength: 20, maxLength: 40 }), (before, one, requests) => {
      const mesh = meshOfWorld(before);
      resourcesOf(mesh);
      mesh.apply(readsOf({ "mesh.yaml": textOf(one) }));
      const resources = resourcesOf(mesh);
      for (const raw of requests) {
        const asked = aimed(raw, one);
        assert.deepEqual(percent(answerBy(resources, asked)), percent(answerOf(one, asked)), JSON.stringify(asked));
      }
    }),
    { numRuns: RUNS / 5 },
  );
});

type Listener = envoy.config.listener.v3.Listener;

const binary = envoyPath();

Deno.test({
  name: "a strict Envoy accepts the listeners and routes of random worlds",
  ignore: binary === undefined,
  fn: async () => {
    const listeners = fc.sample(world, { numRuns: 300, seed: seedOr(33) }).flatMap((one, at): Listener[] => {
      const { listeners, routes } = resourcesOf(meshOfWorld(one));
      return [
        ...[...listeners.values()].map((one) => ({ ...one, name: `${at} ${one.name}` })),
        ...[...routes.values()].map((one) => ({ ...routeListener(one, 0), name: `${at} ${one.name}` })),
      ];
    });
    assert.ok(listeners.length > 600, `${listeners.length}`);
    const apart = listeners.map((one, at): Listener => {
      const port_value = 10_000 + at;
      return { ...one, address: { socket_address: { address: "127.0.0.1", port_value } }, bind_to_port: wrap(false) };
    });
    const { accepted, output, deprecated } = await validate(binary!, { listeners: apart });
    assert.ok(accepted, output);
    assert.deepEqual(deprecated, []);
  },
});
