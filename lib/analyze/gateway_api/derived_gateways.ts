/**
 * VirtualServices at listeners of the Gateway API: they name the derived Gateway of the listener.
 *
 * @module
 */
import { isMadeOfGatewayApi } from "../../config/derive/made_of_gateway_api.ts";
import type { Analyzer } from "../analyzer.ts";
import { namedGateways } from "../references/gateways.ts";

export const DERIVED_GATEWAYS: Analyzer<"VirtualService"> = {
  kind: "VirtualService",
  reports: ["derived-gateway"],
  analyze: ({ meta: { namespace }, spec }, read, report) => {
    for (const { name, field, full } of namedGateways(spec, namespace, read)) {
      const [of = "", plain = ""] = full.split("/");
      const gateway = read.object("Gateway", of, plain);
      if (gateway === undefined || gateway.origin.from !== "derived" || !isMadeOfGatewayApi(gateway)) continue;
      const [kind = "", at = "", owner = ""] = gateway.origin.of.split("/");
      const shown = `${kind === "ApiGateway" ? "Gateway" : kind} ${at}/${owner}`;
      report("info", "derived-gateway", {
        field,
        value: name,
        expected: `a Gateway that is written (this one is made of a listener of ${shown})`,
        others: [gateway.origin.of],
      });
    }
  },
};
