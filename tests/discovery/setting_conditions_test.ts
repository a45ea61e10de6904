/**
 * Conditions with two settings: their combinations hold as in Istio at commit 46aaf05beec. Each row is tried with all
 * four combinations.
 */
import assert from "node:assert/strict";
import { cleansEntries } from "../../lib/discovery/registration/start.ts";
import { orchOptions, readsRemoteEntries } from "../../lib/discovery/settings/settings.ts";
import { defaultSettings, readSettings } from "../../lib/kernel/settings/read.ts";
import type { SettingsOf } from "../../lib/kernel/settings/catalogue.ts";
import { Fixture, type TestNode, texts } from "./fixture.ts";

type Settings = Partial<SettingsOf<"pilot-discovery">>;

/** How two settings make one condition. */
type Rule = "either" | "both";

interface Row {
  readonly about: string;
  readonly rule: Rule;
  /** Names of two settings; a name with `proxy ` before it is a field of the proxy's metadata. */
  readonly of: readonly [string, string];
  readonly holds: (settings: Settings, proxy: Readonly<Record<string, string>>) => boolean;
}

const WORLD = [
  {
    ...{ kind: "ServiceEntry", metadata: { name: "a", namespace: "x" } },
    spec: {
      ...{ hosts: ["a.example.com"], addresses: ["10.9.0.1", "fd00::1"], resolution: "STATIC" },
      ports: [{ number: 80, name: "http", protocol: "HTTP" }],
      endpoints: [{ address: "10.0.0.2", labels: { "service.istio.io/canonical-name": "a" } }],
    },
  },
  {
    ...{ kind: "ServiceEntry", metadata: { name: "b", namespace: "x" } },
    spec: {
      ...{ hosts: ["b.example.com"], resolution: "STATIC", endpoints: [{ address: "10.0.0.3" }] },
      ports: [{ number: 5432, name: "tcp", protocol: "TCP" }],
    },
  },
];

/** Whether a resource of the proxy has a text. */
function has(at: RegExp, pattern: RegExp, settings: Settings, metadata: Readonly<Record<string, string>>): boolean {
  const networks = { networks: { n: { endpoints: [{ fromCidr: "10.0.0.0/8" }], gateways: [] } } };
  const fixture = new Fixture({ settings, networks });
  for (const object of WORLD) fixture.put({ apiVersion: "networking.mesh.io/v1", ...object });
  fixture.pipeline.flush();
  const fields = Object.fromEntries(Object.entries(metadata).map(([key, stringValue]) => [key, { stringValue }]));
  const node: TestNode = { namespace: "x", address: "10.0.0.1", metadata: fields };
  return Object.entries(texts(fixture.join(node))).some(([name, text]) =>
    at.test(name) && (pattern.test(text) || pattern.test(name))
  );
}

const dual = { INSTANCE_IPS: "10.0.0.1,fd00::9" };

const ROWS: readonly Row[] = [
  {
    about: "virtual hosts of a service have its addresses of both families",
    rule: "either",
    of: ["MESH_DUAL_STACK", "PILOT_ENABLE_AMBIENT"],
    holds: (settings) => has(/^(?:route|virtualHost)\//, /fd00::1/, settings, dual),
  },
  {
    about: "a proxy that captures DNS uses addresses that the mesh gave to a service",
    rule: "either",
    of: ["PILOT_ENABLE_IP_AUTOALLOCATE", "proxy DNS_AUTO_ALLOCATE"],
    holds: (settings, proxy) =>
      has(/^listener\//, /^listener\/240\.240\./, settings, { DNS_CAPTURE: "true", ...proxy }),
  },
  {
    about: "exports of services are imported under a host of their own",
    rule: "both",
    of: ["ENABLE_MCS_SERVICE_DISCOVERY", "ENABLE_MCS_HOST"],
    holds: (settings) => orchOptions(defaultSettings("pilot-discovery", settings)).shared?.host === true,
  },
  {
    about: "entries of departed workloads are removed",
    rule: "either",
    of: ["PILOT_ENABLE_WORKLOAD_ENTRY_AUTOREGISTRATION", "PILOT_ENABLE_WORKLOAD_ENTRY_HEALTHCHECKS"],
    holds: (settings) => cleansEntries(defaultSettings("pilot-discovery", settings)),
  },
  {
    about: "entries of workloads in other clusters are read",
    rule: "both",
    of: ["PILOT_ENABLE_CROSS_CLUSTER_WORKLOAD_ENTRY", "PILOT_ENABLE_ORCH_SELECT_WORKLOAD_ENTRIES"],
    holds: (settings) => readsRemoteEntries(defaultSettings("pilot-discovery", settings)),
  },
  {
    about: "an endpoint names its workload for telemetry",
    rule: "both",
    of: ["PILOT_ENABLE_TELEMETRY_LABEL", "PILOT_ENDPOINT_TELEMETRY_LABEL"],
    holds: (settings) => has(/./, /"workload":/, settings, {}),
  },
  {
    about: "a listener takes HTTP/1.0",
    rule: "either",
    of: ["PILOT_HTTP10", "proxy HTTP10"],
    holds: (settings, proxy) => {
      const flag = proxy["HTTP10"] === "true" ? { HTTP10: "1" } : {};
      return has(/^listener\//, /"accept_http_10":true/, settings, flag);
    },
  },
  {
    about: "addresses of the mesh's networks are internal ones of an outbound listener",
    rule: "either",
    of: ["ENABLE_HCM_INTERNAL_NETWORKS", "PILOT_SIDECAR_USE_REMOTE_ADDRESS"],
    holds: (settings) => has(/^listener\/(?!virtualInbound)/, /internal_address_config/, settings, {}),
  },
  {
    about: "the host of a cluster means that cluster's endpoints",
    rule: "both",
    of: ["ENABLE_MCS_HOST", "ENABLE_MCS_CLUSTER_LOCAL"],
    holds: (settings) => {
      const on = { ENABLE_MCS_SERVICE_DISCOVERY: true, ...settings };
      return orchOptions(defaultSettings("pilot-discovery", on)).shared?.clusterLocal === true;
    },
  },
];

for (const { about, rule, of: [one, other], holds } of ROWS) {
  Deno.test(`${about}: where ${rule} of ${one} and ${other} holds`, () => {
    for (const first of [false, true]) {
      for (const second of [false, true]) {
        const settings: Record<string, boolean> = {};
        const proxy: Record<string, string> = {};
        for (const [name, value] of [[one, first], [other, second]] as const) {
          if (name.startsWith("proxy ")) proxy[name.slice(6)] = String(value);
          else settings[name] = value;
        }
        const expected = rule === "either" ? first || second : first && second;
        assert.equal(holds(settings as Settings, proxy), expected, `${one}=${first} ${other}=${second}`);
      }
    }
  });
}

/** Defaults changed by PILOT_ENABLE_AMBIENT, and the settings of ambient that stay off. */
const OF_AMBIENT = {
  PILOT_ENABLE_AMBIENT_WAYPOINTS: true,
  PILOT_ENABLE_SENDING_HBONE: true,
  PILOT_ENABLE_SIDECAR_LISTENING_HBONE: true,
  AMBIENT_ENABLE_STATUS: true,
  ENABLE_INGRESS_WAYPOINT_ROUTING: true,
  PILOT_PREFER_SENDING_HBONE: false,
  PILOT_AUTO_ALLOW_WAYPOINT_POLICY: false,
  AMBIENT_ENABLE_MULTI_NETWORK: false,
} as const;

Deno.test("PILOT_ENABLE_AMBIENT turns on five of its settings, and not the other three", () => {
  const on = readSettings("pilot-discovery", { PILOT_ENABLE_AMBIENT: "true" });
  const off = readSettings("pilot-discovery", {});
  for (const [name, expected] of Object.entries(OF_AMBIENT)) {
    const key = name as keyof typeof OF_AMBIENT;
    assert.deepEqual([on[key], off[key]], [expected, false], name);
  }
});
