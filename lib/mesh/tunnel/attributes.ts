/**
 * Attributes in rules of AuthorizationPolicies that a node tunnel compares, and their values in the tunnel's form.
 *
 * @module
 */
import ipaddr from "ipaddr.js";
import type { istio } from "../../../proto/gen/types.ts";
import { type MeshTrustDomains, withTrustDomains } from "../../config/mesh/trust_domains.ts";
import { subnetProblem } from "../../config/validation/network.ts";

type Match = istio.security.Match;
type StringMatch = istio.security.StringMatch;

/** The policy around a rule, as far as values depend on it. */
export interface RuleHome {
  /** Namespace of the policy. */
  readonly namespace: string;
  readonly mesh: MeshTrustDomains;
  /**
   * The place of the comparison. A waypoint compares the port of the dialled service, and cannot compare the service's
   * address.
   */
  readonly place: "tunnel" | "waypoint";
}

/** A property of connections that rules compare. */
export interface TunnelAttribute {
  /** The fields of a match for the wanted and for the refused values. */
  readonly fields: readonly [keyof Match, keyof Match];
  /** A value in the tunnel's form. Undefined: a tunnel cannot compare the value. */
  readonly matchers: (value: string, home: RuleHome) => readonly unknown[] | undefined;
}

/** The longest compared text. A namespace, an account and a trust domain have at most 253 characters each. */
const MAX_TEXT = 1024;

const SPIFFE = "spiffe://";

const principal: TunnelAttribute = {
  fields: ["principals", "not_principals"],
  matchers: (value, { mesh }) =>
    everyText(
      withTrustDomains(value, mesh).map((one) => one.startsWith(SPIFFE) ? one.slice(SPIFFE.length) : one),
    ),
};

const namespace: TunnelAttribute = {
  fields: ["namespaces", "not_namespaces"],
  matchers: (value) => everyText([value]),
};

const serviceAccount: TunnelAttribute = {
  fields: ["service_accounts", "not_service_accounts"],
  matchers: (value, home) => {
    const [first = "", second, ...others] = value.split("/");
    const [ns, serviceAccount] = second === undefined ? [home.namespace, first] : [first, second];
    const isName = others.length === 0 && ns !== "" && serviceAccount !== "" && !value.includes("*");
    return isName && isComparable(value) ? [{ namespace: ns, serviceAccount }] : undefined;
  },
};

const sourceIp: TunnelAttribute = { fields: ["source_ips", "not_source_ips"], matchers: range };
const destinationIp: TunnelAttribute = {
  fields: ["destination_ips", "not_destination_ips"],
  matchers: (value, { place }) => place === "waypoint" ? undefined : range(value),
};
const destinationPort: TunnelAttribute = {
  fields: ["destination_ports", "not_destination_ports"],
  matchers: (value) => /^\d{1,5}$/.test(value) && Number(value) <= 65535 ? [Number(value)] : undefined,
};

/** Attributes of `from.source`. Undefined: only requests have the attribute. */
export const SOURCE_ATTRIBUTES = {
  principals: principal,
  namespaces: namespace,
  serviceAccounts: serviceAccount,
  ipBlocks: sourceIp,
  requestPrincipals: undefined,
  remoteIpBlocks: undefined,
} as const;

/** Attributes of `to.operation`. Undefined: only requests have the attribute. */
export const OPERATION_ATTRIBUTES = {
  ports: destinationPort,
  hosts: undefined,
  methods: undefined,
  paths: undefined,
} as const;

/** Attributes of conditions. Only requests have all other attributes. */
export const CONDITION_ATTRIBUTES: Readonly<Record<string, TunnelAttribute>> = {
  "source.principal": principal,
  "source.namespace": namespace,
  "source.serviceAccount": serviceAccount,
  "source.ip": sourceIp,
  "destination.ip": destinationIp,
  "destination.port": destinationPort,
};

/** Texts with wildcards. Undefined: a tunnel cannot compare one of the texts, so the list would have another meaning. */
function everyText(values: readonly string[]): readonly StringMatch[] | undefined {
  const found = values.map(text).filter((one) => one !== undefined);
  return found.length === values.length ? found : undefined;
}

/** `*` matches any text that is not empty, `*text` a suffix, `text*` a prefix. A tunnel knows no other wildcard. */
function text(value: string): StringMatch | undefined {
  if (value === "" || !isComparable(value)) return undefined;
  if (value === "*") return { presence: {} };
  const stars = value.split("*").length - 1;
  if (stars === 0) return { exact: value };
  if (stars > 1) return undefined;
  if (value.startsWith("*")) return { suffix: value.slice(1) };
  return value.endsWith("*") ? { prefix: value.slice(0, -1) } : undefined;
}

/** A message carries only text that is valid UTF-8. */
function isComparable(value: string): boolean {
  return value.length <= MAX_TEXT && value.isWellFormed();
}

/** IPv4 addresses as 16 bytes have 96 bits before the IPv4 address. */
const MAPPED_BITS = 96;

/** An address or a range. A tunnel compares IPv4 clients as 4 bytes, so a range of mapped addresses becomes a range of IPv4. */
function range(value: string): readonly istio.security.Address[] | undefined {
  if (subnetProblem(value) !== undefined) return undefined;
  const [ip = "", written] = value.split("/");
  const parsed = ipaddr.parse(ip);
  const all = parsed.kind() === "ipv6" ? 128 : 32;
  const length = written === undefined ? all : Number(written);
  if (parsed instanceof ipaddr.IPv6 && parsed.isIPv4MappedAddress() && length >= MAPPED_BITS) {
    return [{ address: Uint8Array.from(parsed.toIPv4Address().toByteArray()), length: length - MAPPED_BITS }];
  }
  return [{ address: Uint8Array.from(parsed.toByteArray()), length }];
}
