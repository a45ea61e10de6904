/**
 * The status of refused objects of the Gateway API. The server's objects say which classes and parents are ours.
 *
 * @module
 */
import { parentKind } from "../../gateway_api/groups/groups.ts";
import type { EntryReference } from "../../gateway_api/status/parents.ts";
import type { StatusJson } from "../../gateway_api/status/conditions.ts";
import { refusedStatus } from "../../gateway_api/status/refused.ts";
import { GATEWAY_API_GROUP, ownKey } from "../../config/spelling/spelling.ts";
import type { Kind } from "../../config/types.ts";
import type { StatusBearer } from "../../status/write.ts";
import type { RefusedKind } from "../sources/kind_feeds.ts";
import { type GatewayApiWorld, isOurController } from "./gateway_api_wanted.ts";

/**
 * The whole status of a refused object; undefined: the present status is right, or this server does not write the status.
 *
 * @param now RFC 3339.
 */
export function wantedRefusal(
  { key, namespace, generation, findings }: RefusedKind,
  { status, spec, labels }: Pick<StatusBearer, "labels" | "spec" | "status">,
  now: string,
  world: GatewayApiWorld,
): StatusJson | undefined {
  const { store, verdicts, options, owner } = world;
  const [kind = "", , name = ""] = key.split("/");
  const isStale = store.get(kind as Kind, namespace, name) !== undefined;
  const ownLabels = Object.entries(labels).map(([label, value]) => [ownKey(label), `${value}`]);
  const about = { meta: { namespace, labels: Object.fromEntries(ownLabels) as Readonly<Record<string, string>> } };
  const controllerAt = (ref: Partial<EntryReference>): string | undefined => {
    const { group = GATEWAY_API_GROUP, kind: of = "Gateway", namespace: at = namespace } = ref;
    const parent = parentKind({ group, kind: of });
    if (parent === undefined || !owner.ownsEntry(about, ref)) return undefined;
    if (parent === "Service" || parent === "ServiceEntry") return options.controllerName;
    return verdicts.gateway(`${parent === "Gateway" ? "ApiGateway" : parent}/${at}/${ref.name}`)?.view.controller;
  };
  const isOurClass = ({ name: named, controller }: { readonly name?: unknown; readonly controller?: unknown }) => {
    const written = typeof named === "string" ? store.get("GatewayClass", "", named)?.spec.controllerName : controller;
    const found = written ?? (typeof named === "string" ? options.builtInClasses[named] : undefined);
    return typeof found === "string" && isOurController(found, options) && owner.ownsLabelled(about);
  };
  return refusedStatus(
    {
      ...{ kind: kind as Kind, namespace, generation, spec, isStale, isOurClass, controllerAt },
      problems: findings.map(({ message }) => message),
      isOurs: (controller, ref) => isOurController(controller, options) && owner.ownsEntry(about, ref),
    },
    status,
    now,
  );
}
