/** Services and service entries that ask for waypoints, and policies for them, in an API and in the stores of a server. */
import assert from "node:assert/strict";
import { readFact } from "../../../lib/config/facts/read.ts";
import { FactStore } from "../../../lib/config/facts/store.ts";
import type { Fact } from "../../../lib/config/facts/types.ts";
import { parseObject } from "../../../lib/config/object.ts";
import { ConfigStore } from "../../../lib/config/store.ts";
import type { ConfigObject } from "../../../lib/config/types.ts";
import { ambientStatusDuties } from "../../../lib/discovery/ambient_status/start.ts";
import { silentLog } from "../../../lib/kernel/log/log.ts";
import { createMetrics } from "../../../lib/kernel/metrics/registry.ts";
import { defaultSettings } from "../../../lib/kernel/settings/read.ts";
import { systemClock } from "../../../lib/kernel/time/clock.ts";
import { MESH } from "../../mesh/tunnel/objects.ts";
import { ObjectsApi } from "../status/objects_api.ts";

/** A condition as the API has it. */
export type StoredCondition = Readonly<Record<string, unknown>>;

const WORKLOADS = { group: "networking.mesh.io", version: "v1", plural: "workloadentries", kind: "WorkloadEntry" };
const ENTRIES = { group: "networking.mesh.io", version: "v1", plural: "serviceentries", kind: "ServiceEntry" };
const POLICIES = {
  ...{ group: "security.mesh.io", version: "v1", plural: "authorizationpolicies", kind: "AuthorizationPolicy" },
};
const VERSIONS: Readonly<Record<string, string>> = {
  Gateway: "gateway.networking.k8s.io/v1",
  GatewayClass: "gateway.networking.k8s.io/v1",
  ServiceEntry: "networking.mesh.io/v1",
  WorkloadEntry: "networking.mesh.io/v1",
  AuthorizationPolicy: "security.mesh.io/v1",
  RequestAuthentication: "security.mesh.io/v1",
};

/** Content of an object beside kind and name. */
export interface WrittenObject {
  readonly namespace?: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly spec?: object;
  readonly status?: object;
  readonly generation?: number;
}

/** The label that asks for the waypoint `gate`. */
export const ASKING = { "mesh.io/use-waypoint": "gate" };

/** Content of a Gateway that takes tunnels of its own namespace, with an address unless told otherwise. */
export function gate({ from = "Same", traffic, isReady = true }: {
  readonly from?: string;
  readonly traffic?: string;
  readonly isReady?: boolean;
} = {}): WrittenObject {
  const listener = { name: "mesh", port: 15008, protocol: "HBONE", allowedRoutes: { namespaces: { from } } };
  return {
    labels: traffic === undefined ? {} : { "mesh.io/waypoint-for": traffic },
    spec: { gatewayClassName: "mesh-waypoint", listeners: [listener] },
    status: isReady ? { addresses: [{ type: "IPAddress", value: "10.96.0.9" }] } : {},
  };
}

/** A policy for Service `cart` of its namespace. */
export const FOR_CART: WrittenObject = {
  spec: { targetRefs: [{ group: "", kind: "Service", name: "cart" }], rules: [{}] },
};

/** A server's stores, and the API behind them. Several servers may share an API. */
export class BindingWorld {
  readonly api: ObjectsApi;
  readonly store = new ConfigStore();
  readonly facts = new FactStore();
  readonly #source = this.store.addSource("Orch", 0);
  readonly #factSource = this.facts.addSource("Orch", 0);

  /** Whether AuthorizationPolicies have a place in the API, where their status can be written. */
  readonly #writesPolicies: boolean;

  constructor(api = new ObjectsApi(), { writesPolicies = false } = {}) {
    this.api = api;
    this.#writesPolicies = writesPolicies;
  }

  /** Writes an object into the API, unless another server has, and into the stores. */
  put(kind: string, name: string, content: WrittenObject = {}): void {
    const { namespace = "shop", labels = {}, spec, generation, status } = content;
    const of = kind === "Namespace" || kind === "GatewayClass" ? {} : { namespace };
    const tree = {
      ...{ apiVersion: VERSIONS[kind] ?? "v1", kind },
      metadata: { name, ...of, labels, ...generation === undefined ? {} : { generation } },
      ...spec === undefined ? {} : { spec },
    };
    const path = pathOf(kind, name, namespace);
    const known = this.api.get(path);
    // The status of these objects is ours.
    const isOurs = kind === "Service" || kind === "ServiceEntry" || kind === "WorkloadEntry" ||
      kind === "AuthorizationPolicy";
    const kept = isOurs ? status ?? known?.status : status;
    const { metadata: { uid } } = this.api.put(path, { ...tree, ...kept === undefined ? {} : { status: kept } });
    this.#take(kind, { ...tree, ...status === undefined ? {} : { status } }, uid);
  }

  #take(kind: string, tree: unknown, uid: string): void {
    const origin = { from: "api", source: "Orch", uid } as const;
    if (kind === "Service" || kind === "Namespace") {
      const { fact, findings } = readFact(kind, tree, origin, { digestKey: new Uint8Array(32) });
      assert.ok(fact, JSON.stringify(findings));
      this.#factSource.apply({ upserted: [fact as Fact], removed: [] });
      return;
    }
    const { object, findings } = parseObject(tree, origin, { defaultNamespace: "shop" });
    assert.ok(object, JSON.stringify(findings));
    this.#source.apply({ upserted: [object as ConfigObject], removed: [] });
  }

  remove(kind: "Gateway" | "AuthorizationPolicy" | "Service", name: string): void {
    const key = `${kind === "Gateway" ? "ApiGateway" : kind}/shop/${name}`;
    if (kind === "Service") this.#factSource.apply({ upserted: [], removed: [key] });
    else this.#source.apply({ upserted: [], removed: [key] });
  }

  conditions(name: string, kind = "Service", namespace = "shop"): readonly StoredCondition[] {
    const written = this.api.get(pathOf(kind, name, namespace))?.status?.["conditions"];
    return (written ?? []) as readonly StoredCondition[];
  }

  /** Status, reason and message of the only condition; empty: there is none. */
  said(name: string, kind = "Service", namespace = "shop"): string {
    return this.conditions(name, kind, namespace).map((one) => `${one["status"]} ${one["reason"]}: ${one["message"]}`)
      .join("\n");
  }

  duties(
    variables: { readonly MESH_WAYPOINT_FAIL_OPEN?: boolean; readonly ENABLE_INGRESS_WAYPOINT_ROUTING?: boolean } = {},
  ) {
    const resources = new Map([
      ["ServiceEntry", ENTRIES],
      ["WorkloadEntry", WORKLOADS],
      ...this.#writesPolicies ? [["AuthorizationPolicy", POLICIES] as const] : [],
    ]);
    const placeOf = ({ kind, meta: { namespace, name } }: ConfigObject) => {
      const resource = resources.get(kind);
      return resource && { resource: { ...resource, namespaced: true }, namespace, name };
    };
    const mesh = () => MESH as unknown as ReturnType<Parameters<typeof ambientStatusDuties>[0]["mesh"]>;
    return ambientStatusDuties(
      {
        ...{ client: this.api.client, orch: { kinds: true }, mesh },
        configuration: { store: this.store, facts: this.facts, placeOf },
      },
      {
        ...defaultSettings("pilot-discovery"),
        ...{ PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_STATUS: true },
        ...{ PILOT_STATUS_QPS: 10_000, PILOT_STATUS_MAX_WORKERS: 1 },
        ...variables,
      },
      { clock: systemClock, log: silentLog(), metrics: createMetrics("pilot-discovery") },
    );
  }

  /** Leads for as long as `run` takes. */
  async led(run: () => Promise<void>, variables: Parameters<BindingWorld["duties"]>[0] = {}): Promise<void> {
    const leadership = new AbortController();
    const running = this.duties(variables).map((duty) => duty.run(leadership.signal));
    try {
      await run();
    } finally {
      leadership.abort();
      await Promise.all(running);
    }
  }
}

function pathOf(kind: string, name: string, namespace: string): string {
  if (kind === "WorkloadEntry") return `/apis/networking.mesh.io/v1/namespaces/${namespace}/workloadentries/${name}`;
  if (kind === "AuthorizationPolicy") {
    return `/apis/security.mesh.io/v1/namespaces/${namespace}/authorizationpolicies/${name}`;
  }
  if (kind === "ServiceEntry") return `/apis/networking.mesh.io/v1/namespaces/${namespace}/serviceentries/${name}`;
  return `/api/v1/namespaces/${namespace}/${kind.toLowerCase()}s/${name}`;
}
