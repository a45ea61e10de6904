/**
 * Where the proxies of a Gateway are: behind a Service that the server makes for the Gateway, or behind the services that
 * the `spec.addresses` of the Gateway name.
 *
 * @module
 */
import { GATEWAY_NAME_LABEL } from "../../config/spelling/spelling.ts";
import type { ConfigObject } from "../../config/types.ts";
import { deployedName } from "./names.ts";
import { serviceHost, serviceNamed, serviceOfHost } from "./services.ts";
import type { AttachOptions, AttachReader, ClassRole, GatewayAddressing } from "./types.ts";

/** How the proxies of a Gateway are found. */
export function addressingOf(
  gateway: ConfigObject<"ApiGateway">,
  role: ClassRole,
  { domain, allowsManualDeployment }: AttachOptions,
): GatewayAddressing {
  if (role === "remote") return { by: "remote" };
  const { namespace } = gateway.meta;
  const addresses = (gateway.spec.addresses ?? []).map(({ type, value }) => ({ type: type ?? "IPAddress", value }));
  const hosts = addresses.flatMap(({ type, value }) => type === "Hostname" && value ? [value] : []);
  const isManual = allowsManualDeployment && hosts.length > 0;
  const supported = isManual ? "Hostname" : "IPAddress";
  // Without manual deployments a host name asks the load balancer for a name, and is not a mistake.
  const ignored = addresses.filter(({ type }) => type !== supported && (isManual || type !== "Hostname"))
    .map(({ type, value = "" }) => `${type} ${value}`.trim());
  if (isManual) {
    return {
      by: "manual",
      hosts: hosts.map((host) => host.includes(".") ? host : serviceHost({ namespace, name: host }, domain)),
      ignored,
    };
  }
  const service = { namespace, name: deployedName(gateway, role) };
  return { by: "managed", service, host: serviceHost(service, domain), ignored };
}

/** Labels of the workloads that serve a Gateway, in the Gateway's namespace; undefined: no workload serves it. */
export function workloadsOf(
  { meta: { namespace, name } }: ConfigObject<"ApiGateway">,
  addressing: GatewayAddressing,
  read: AttachReader,
  options: AttachOptions,
): Readonly<Record<string, string>> | undefined {
  const byName = { [GATEWAY_NAME_LABEL]: name };
  switch (addressing.by) {
    case "managed":
      return serviceNamed(addressing.service, read, options)?.selector ?? byName;
    case "manual": {
      const services = addressing.hosts.map((host) => serviceOfHost(host, { namespace }, read, options));
      return services.find((one) => one?.namespace === namespace && one.selector !== undefined)?.selector;
    }
    case "remote":
      return undefined;
  }
}
