/** Managed Gateways in a stand-in for the orchestrator's API, and the server that deploys them. */
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import type { Log } from "../../../lib/kernel/log/log.ts";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { PATIENCE } from "../../patience.ts";
import { MemoryApi } from "./memory_api.ts";
import type { ApiObject } from "./stored_objects.ts";
import { withOrch } from "./with_orch.ts";

export const GROUP = "gateway.networking.k8s.io";
export const GATEWAYS = `/apis/${GROUP}/v1/gateways`;
export const PATHS = {
  account: "/api/v1/serviceaccounts",
  deployment: "/apis/apps/v1/deployments",
  service: "/api/v1/services",
  autoscaler: "/apis/autoscaling/v2/horizontalpodautoscalers",
  budget: "/apis/policy/v1/poddisruptionbudgets",
} as const;
export const MAPS = "/api/v1/configmaps";

export const LISTENER = { name: "http", port: 80, protocol: "HTTP" };

/** A Gateway `shop/door` of the class `mesh`. */
export const gateway = (spec: object = {}, metadata: object = {}): ApiObject => ({
  metadata: { name: "door", namespace: "shop", ...metadata },
  spec: { gatewayClassName: "mesh", listeners: [LISTENER], ...spec },
});

export const map = (name: string, data: object, namespace = "shop", labels = {}): ApiObject => ({
  metadata: { name, namespace, labels, creationTimestamp: "2026-01-01T00:00:00Z" },
  data,
});

/** An API with the definition of Gateways. */
export function newApi(): MemoryApi {
  const api = new MemoryApi();
  api.define("gateways", GROUP, "Gateway", ["v1"]);
  api.define("gatewayclasses", GROUP, "GatewayClass", ["v1"]);
  api.put("/api/v1/namespaces", { metadata: { name: "shop" } });
  return api;
}

/** The writes of deployed objects, as `METHOD path`. */
export const writes = (api: MemoryApi) =>
  api.writes.filter((one) => Object.values(PATHS).some((path) => one.includes(path.split("/").at(-1)!)))
    .map((one) => one.split("?")[0]!);

/** Waits for a condition of the API. */
export async function becomes(api: MemoryApi, what: string, holds: () => boolean): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}; writes: ${writes(api).join("\n")}`)), PATIENCE);
  });
  await Promise.race([api.becomes(holds), late]).finally(() => clearTimeout(timer));
}

/** Runs a server over the API. A second server finds the same API. */
export async function serving(
  api: MemoryApi,
  run: (server: DiscoveryServer) => Promise<void>,
  given: { readonly log?: Log; readonly settings?: Partial<SettingsOf<"pilot-discovery">> } = {},
): Promise<void> {
  const settings = { ENABLE_LEADER_ELECTION: false, ...given.settings };
  await withOrch(api, run, { ...given, settings });
}

/** Whether account, Deployment and Service of a Gateway of the namespace `shop` exist. */
export const isDeployed = (api: MemoryApi, name = "door-mesh") =>
  [PATHS.account, PATHS.deployment, PATHS.service].every((path) => api.get(path, name, "shop") !== undefined);
