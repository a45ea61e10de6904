/**
 * The duty that writes into AuthorizationPolicies what node tunnels do with them. Only the leading server writes. Each
 * policy is looked at once in a term, and after each change.
 *
 * Permissions: the permissions of the client. Rights of the account: `get` of the policies and `patch` of their status.
 *
 * @module
 */
import type { StoreListener } from "../../config/store.ts";
import type { ConfigObject } from "../../config/types.ts";
import type { AuthorizationPolicy } from "../../mesh/authorization_policy.ts";
import type { TunnelMesh } from "../../mesh/tunnel/authorization.ts";
import type { ApiClient } from "../../orch/client/client.ts";
import type { Duty } from "../../orch/leader/duty.ts";
import type { ObjectPlace } from "../../orch/resources/objects.ts";
import { changeStatus } from "../../status/write.ts";
import { conditionChange } from "../../status/conditions.ts";
import { StatusWriter, type StatusWriterOptions } from "../../status/writer.ts";
import { policyCondition, ZTUNNEL_ACCEPTED } from "./policy_condition.ts";

/** Inputs of the duty. */
export interface PolicyDutyParts {
  readonly client: ApiClient;
  readonly store: {
    list(kind: "AuthorizationPolicy"): readonly AuthorizationPolicy[];
    subscribe(listener: StoreListener<ConfigObject>): () => void;
  };
  readonly mesh: () => TunnelMesh;
  readonly placeOf: (object: ConfigObject) => ObjectPlace | undefined;
  readonly writing: StatusWriterOptions;
  /** `ENABLE_LAYERED_WAYPOINT_AUTHORIZATION_POLICIES` */
  readonly layered: boolean;
}

/** See the file. */
export function policyDuty(parts: PolicyDutyParts): Duty {
  return {
    lock: "mesh-status-leader",
    about: "what node tunnels do with policies",
    run: async (signal) => {
      const { store, writing } = parts;
      const writer = new StatusWriter(writing, signal);
      const end = store.subscribe(({ added, updated, removed }) => {
        for (const { key, kind } of removed) if (kind === "AuthorizationPolicy") writer.drop(key);
        for (const object of [...added, ...updated.map((one) => one.new)]) {
          if (isPolicy(object)) queueCondition(object, parts, writer);
        }
      });
      for (const policy of store.list("AuthorizationPolicy")) queueCondition(policy, parts, writer);
      const over = Promise.withResolvers<void>();
      signal.addEventListener("abort", () => over.resolve(), { once: true });
      if (!signal.aborted) await over.promise;
      end();
      await writer.stop();
    },
  };
}

function isPolicy(object: ConfigObject): object is AuthorizationPolicy {
  return object.kind === "AuthorizationPolicy";
}

function queueCondition(
  policy: AuthorizationPolicy,
  { client, mesh, placeOf, layered }: PolicyDutyParts,
  writer: StatusWriter,
) {
  const place = placeOf(policy);
  if (place === undefined || policy.origin.from !== "api") return;
  const { uid } = policy.origin;
  writer.put(policy.key, async (signal) => {
    const wanted = policyCondition(policy, mesh(), layered);
    const now = new Date(client.clock.now()).toISOString().replace(/\.\d+/, "");
    const change = (
      { status, generation }: { readonly status: Readonly<Record<string, unknown>>; readonly generation: number },
    ) =>
      // A later version of the policy is waiting behind this one.
      generation === (policy.meta.generation ?? 0)
        ? conditionChange(status, ZTUNNEL_ACCEPTED, wanted, generation, now)
        : undefined;
    await changeStatus(client, place, uid, change, signal);
  });
}
