/**
 * Routes at services whose VirtualService decides.
 *
 * @module
 */
import { meshObjectName } from "../../gateway_api/derive/names.ts";
import { parentKind } from "../../gateway_api/groups/groups.ts";
import type { ApiRoute } from "../../gateway_api/attach/types.ts";
import { objectKey } from "../../config/types.ts";
import type { Analyzer } from "../analyzer.ts";
import { hides } from "../routing/shared_hosts.ts";

const KINDS = ["HTTPRoute", "GRPCRoute"] as const;

/** An analyzer for each kind of routes. */
export const SHARED_SERVICES: readonly Analyzer<typeof KINDS[number]>[] = KINDS.map((kind) => ({
  kind,
  reports: ["route-behind-virtual-service"],
  analyze: (object, read, report) => {
    const route = object as ApiRoute;
    for (const { at } of read.gatewayApi?.route(route.key) ?? []) {
      for (const { index, ref, mesh } of at) {
        const of = parentKind(ref);
        if (mesh === undefined || (of !== "Service" && of !== "ServiceEntry")) continue;
        const namespace = ref.namespace ?? route.meta.namespace;
        const derived = objectKey(
          "VirtualService",
          mesh.consumers ?? namespace,
          meshObjectName(of, { namespace, name: ref.name }),
        );
        for (const host of mesh.hosts) {
          const list = read.virtualServicesFor(host);
          const self = list.find(({ causes }) => causes[0] === derived);
          const winner = self &&
            list.slice(0, list.indexOf(self)).find((other) => hides(other, self, "http", host, read));
          if (winner === undefined) continue;
          const name = `VirtualService ${winner.namespace}/${winner.name}`;
          report("error", "route-behind-virtual-service", {
            field: `spec.parentRefs[${index}].name`,
            value: ref.name,
            expected: `a service without a VirtualService before the route (${name} has ${host})`,
            effect: `${name} decides for ${host}; the rules of the route are not used.`,
            others: winner.causes,
          });
          break;
        }
      }
    }
  },
}));
