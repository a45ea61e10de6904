/**
 * Backends of Ingresses as destinations.
 *
 * @module
 */
import type { Fact, IngressBackendData } from "../config/facts/types.ts";
import type { HttpRoute } from "../config/kinds/kinds.ts";
import { isDnsLabel } from "../config/validation/names.ts";
import type { IngressReader, ReportIngressMistake } from "./reader.ts";

/**
 * The action on requests for a backend. A backend that is not there keeps its path: requests get 503, and never the
 * backend of a shorter path.
 */
export function backendAction(
  backend: IngressBackendData,
  ingress: Fact<"Ingress">,
  field: string,
  { read, domain, report }: {
    readonly read: IngressReader;
    readonly domain: string;
    readonly report: ReportIngressMistake;
  },
): Pick<HttpRoute, "route" | "directResponse"> {
  const { namespace } = ingress.meta;
  const refuse = (at: string, value: unknown, expected: string) => {
    report({ field: `${field}${at}`, ...(value === undefined ? {} : { value }), expected, becomes: "unavailable" });
    return { directResponse: { status: 503 } };
  };
  const { service } = backend;
  if (service === undefined) return refuse(".service", undefined, "a service: other resources are no backends here");
  if (!isDnsLabel(service.name)) return refuse(".service.name", service.name, "the name of a service");
  const { port } = service;
  if (port === undefined) return refuse(".service.port", undefined, "number or name of a port");
  const number = typeof port === "number" ? port : namedPort(service.name, port, namespace, read);
  if (number === undefined) {
    return refuse(".service.port.name", port, `the name of a port of service ${namespace}/${service.name}`);
  }
  if (number < 1 || number > 65535) return refuse(".service.port.number", number, "a port between 1 and 65535");
  const host = `${service.name}.${namespace}.svc.${domain}`;
  return { route: [{ destination: { host, port: { number } }, weight: 100 }] };
}

function namedPort(service: string, name: string, namespace: string, read: IngressReader): number | undefined {
  return read.fact("Service", namespace, service)?.spec.ports.find((port) => port.name === name)?.port;
}
