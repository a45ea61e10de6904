/** What a running server writes into AuthorizationPolicies of an orchestrator about node tunnels. */
import assert from "node:assert/strict";
import type { SettingsOf } from "../../../lib/kernel/settings/catalogue.ts";
import { MemoryApi } from "./memory_api.ts";
import { withOrch } from "./with_orch.ts";

const POLICIES = "/apis/security.mesh.io/v1/authorizationpolicies";

function newApi(): MemoryApi {
  const api = new MemoryApi();
  api.define("authorizationpolicies", "security.mesh.io", "AuthorizationPolicy", ["v1"]);
  api.define("serviceentries", "networking.mesh.io", "ServiceEntry", ["v1"]);
  api.put(POLICIES, {
    metadata: { name: "admin", namespace: "shop", generation: 1 },
    spec: { action: "DENY", rules: [{ to: [{ operation: { paths: ["/admin"] } }] }] },
  });
  return api;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
}

function conditions(api: MemoryApi): readonly Condition[] {
  const { status } = (api.get(POLICIES, "admin", "shop") ?? {}) as { status?: { conditions?: readonly Condition[] } };
  return status?.conditions ?? [];
}

const AMBIENT: Partial<SettingsOf<"pilot-discovery">> = { PILOT_ENABLE_AMBIENT: true, AMBIENT_ENABLE_STATUS: true };

Deno.test("in ambient mode the server says in a policy what node tunnels do with it", async () => {
  const api = newApi();
  await withOrch(api, () => api.becomes(() => conditions(api).length > 0), { settings: AMBIENT });
  assert.deepEqual(conditions(api).map(({ type, status, reason }) => [type, status, reason]), [
    ["ZtunnelAccepted", "True", "UnsupportedValue"],
  ]);
});
