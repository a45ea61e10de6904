/**
 * How Ingresses and their classes are read.
 *
 * @module
 */
import { defined, fields, integer, listOf, optional, text, textOr, texts } from "./foreign_schema.ts";
import type { IngressClassData, IngressData } from "./ingress_data.ts";

/** The service of a backend; its port has a number or a name. */
const servicePart = fields({
  name: text,
  port: optional(fields({ number: optional(integer), name: optional(text) }, "a port")),
}, "a service").transform(({ name, port }) => ({
  name,
  ...defined({ port: port?.number || port?.name || undefined }),
}));

const backend = fields({ service: optional(servicePart) }, "a backend").transform((written) => defined(written));

const path = fields({ path: textOr(""), pathType: textOr("ImplementationSpecific"), backend }, "a path");

const rule = fields({
  host: textOr(""),
  http: optional(fields({ paths: listOf(path, "a list of paths") })),
}, "a rule").transform(({ host, http }) => ({ host, ...defined({ paths: http?.paths }) }));

const tls = fields({ hosts: texts, secretName: textOr("") }, "a certificate");

const address = fields({ ip: optional(text), hostname: optional(text) }, "an address")
  .transform(({ ip, hostname }) => defined({ ip: ip || undefined, hostname: hostname || undefined }));

/** Kind `Ingress`. */
export const ingress = fields({
  spec: optional(fields({
    ingressClassName: optional(text),
    defaultBackend: optional(backend),
    rules: listOf(rule, "a list of rules"),
    tls: listOf(tls, "a list of certificates"),
  })),
  status: optional(fields({ loadBalancer: optional(fields({ ingress: listOf(address, "a list of addresses") })) })),
}).transform(({ spec, status }): IngressData => ({
  ...defined({ className: spec?.ingressClassName, defaultBackend: spec?.defaultBackend }),
  rules: spec?.rules ?? [],
  tls: spec?.tls ?? [],
  addresses: status?.loadBalancer?.ingress ?? [],
}));

/** Kind `IngressClass`. */
export const ingressClass = fields({ spec: optional(fields({ controller: textOr("") })) })
  .transform(({ spec }): IngressClassData => ({ controller: spec?.controller ?? "" }));
