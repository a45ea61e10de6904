/**
 * Random edits of Gateways, of the Services that their addresses name, and of policies that name the Gateways: every proxy
 * that stays has the resources of a fresh start.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import type { OfflineMesh } from "../../lib/offline/offline_mesh.ts";
import { contents, texts } from "../discovery/fixture.ts";
import { meshOf, readsOf } from "../offline/mesh_of.ts";
import { api, document } from "./folder_world.ts";
import { runs } from "../properties.ts";

const RUNS = runs(60);

const GATEWAYS = ["edge", "back"] as const;
type GatewayName = (typeof GATEWAYS)[number];

/** A Gateway; its listeners are on ports of its own, because both Gateways may have the same workloads. */
interface DrawnGateway {
  readonly address: string | undefined;
  readonly listeners: number;
}

interface DrawnWorld {
  readonly gateways: { readonly [N in GatewayName]?: DrawnGateway | undefined };
  /** Selectors by name of the Service; undefined: the Service does not exist. */
  readonly services: Readonly<Record<string, Readonly<Record<string, string>> | undefined>>;
  readonly targets: readonly (readonly GatewayName[])[];
}

function gatewayText(name: GatewayName, { address, listeners }: DrawnGateway): string {
  const port = name === "edge" ? 80 : 90;
  return api("Gateway", name, {
    gatewayClassName: "mesh",
    ...(address !== undefined && { addresses: [{ type: "Hostname", value: address }] }),
    listeners: Array.from({ length: listeners }, (_, i) => ({ name: `l${i}`, port: port + i, protocol: "HTTP" })),
  });
}

function serviceText(name: string, labels: Readonly<Record<string, string>>): string {
  return document({
    ...{ apiVersion: "networking.mesh.io/v1", kind: "ServiceEntry", metadata: { name, namespace: "shop" } },
    spec: {
      hosts: [`${name}.shop.svc.cluster.local`],
      resolution: "STATIC",
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      workloadSelector: { labels },
    },
  });
}

const POLICIES: readonly { readonly apiVersion: string; readonly kind: string; readonly spec: object }[] = [
  {
    ...{ apiVersion: "security.mesh.io/v1", kind: "AuthorizationPolicy" },
    spec: { action: "DENY", rules: [{ to: [{ operation: { paths: ["/closed"] } }] }] },
  },
  {
    ...{ apiVersion: "security.mesh.io/v1", kind: "RequestAuthentication" },
    spec: { jwtRules: [{ issuer: "issuer", jwks: '{"keys":[{"kty":"oct","k":"c2VjcmV0LXNlY3JldC1zZWNyZXQtMDE"}]}' }] },
  },
  {
    ...{ apiVersion: "telemetry.mesh.io/v1", kind: "Telemetry" },
    spec: { accessLogging: [{ providers: [{ name: "envoy" }], filter: { expression: "response.code == 418" } }] },
  },
  {
    ...{ apiVersion: "extensions.mesh.io/v1alpha1", kind: "WasmPlugin" },
    spec: { url: "https://example.com/plugin.wasm", phase: "AUTHN" },
  },
  {
    ...{ apiVersion: "networking.mesh.io/v1alpha3", kind: "ProxyFilter" },
    spec: {
      configPatches: [{
        applyTo: "LISTENER",
        match: { context: "ANY" },
        patch: { operation: "MERGE", value: { stat_prefix: "patched" } },
      }],
    },
  },
];

/** A policy of each kind; `targets` by position of the kind. */
function policyTexts(targets: DrawnWorld["targets"]): string {
  return POLICIES.map(({ apiVersion, kind, spec }, at) => {
    const targetRefs = (targets[at] ?? []).map((name) => ({
      ...{ group: "gateway.networking.k8s.io", kind: "Gateway", name },
    }));
    if (targetRefs.length === 0) return "";
    return document({ apiVersion, kind, metadata: { name: "p", namespace: "shop" }, spec: { targetRefs, ...spec } });
  }).join("");
}

function filesOf({ gateways, services, targets }: DrawnWorld): Record<string, string> {
  const of = <T>(all: readonly T[], text: (one: T) => string) => all.map(text).join("");
  return {
    "gateways.yaml": of(GATEWAYS, (name) => gateways[name] === undefined ? "" : gatewayText(name, gateways[name])),
    "services.yaml": of(
      Object.entries(services),
      ([name, labels]) => labels === undefined ? "" : serviceText(name, labels),
    ),
    "policies.yaml": policyTexts(targets),
  };
}

const LABELS = [{ app: "door" }, { app: "door", tier: "2" }, { app: "x" }] as const;

/** Proxies of every set of labels, one of them with the label of a Gateway. */
const NODES = [
  ...LABELS.map((labels, at) => [`router~10.0.1.${at}~p${at}.shop~shop.svc.cluster.local`, labels] as const),
  [
    "router~10.0.2.1~labelled.shop~shop.svc.cluster.local",
    { app: "door", "gateway.networking.k8s.io/gateway-name": "back" },
  ] as const,
  ["router~10.0.2.2~far.pay~pay.svc.cluster.local", { app: "door" }] as const,
];

function joined(mesh: OfflineMesh) {
  return NODES.map(([id, LABELS]) => mesh.join({ id, metadata: { LABELS } }));
}

const gateway: fc.Arbitrary<DrawnGateway | undefined> = fc.record({
  address: fc.constantFrom("doors", "doors", "others", "gone", undefined),
  listeners: fc.integer({ min: 1, max: 3 }),
});
const selector = fc.constantFrom<Readonly<Record<string, string>> | undefined>(
  ...[{ app: "door" }, { app: "door" }, { app: "x" }, { tier: "2", app: "door" }, undefined],
);
const targets = fc.array(fc.constantFrom<readonly GatewayName[]>([], ["edge"], ["edge"], ["back"], ["edge", "back"]), {
  ...{ minLength: POLICIES.length, maxLength: POLICIES.length },
});
const world: fc.Arbitrary<DrawnWorld> = fc.record({
  gateways: fc.record({ edge: gateway, back: fc.option(gateway, { nil: undefined }) }),
  services: fc.record({ doors: selector, others: selector, "edge-mesh": selector }),
  targets,
});
const edit = fc.record({ part: fc.constantFrom("gateways", "services", "targets"), from: world });

Deno.test("after any edits of Gateways, their Services and policies, each proxy has the policies of a fresh start", () => {
  const seen = new Set<string>();
  fc.assert(
    fc.property(world, fc.array(edit, { minLength: 1, maxLength: 5 }), (first, edits) => {
      let now: DrawnWorld = first;
      const kept = meshOf(filesOf(now));
      const states = joined(kept);
      for (const { part, from } of edits) {
        now = { ...now, [part]: from[part as keyof DrawnWorld] };
        kept.apply(readsOf(filesOf(now)));
        const fresh = joined(meshOf(filesOf(now)));
        for (const [at, state] of states.entries()) {
          assert.deepEqual(contents(state), contents(fresh[at]!), NODES[at]![0]);
        }
        const all = Object.values(texts(states[0]!)).join();
        for (const part of ["/closed", "issuer", "418", "plugin", "patched"]) if (all.includes(part)) seen.add(part);
      }
    }),
    { numRuns: RUNS },
  );
  assert.equal(seen.size, 5, "every kind of policy came about at a workload without the label");
});
