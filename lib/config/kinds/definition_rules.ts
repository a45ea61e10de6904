/**
 * Rules across fields that an orchestrator's API checks itself, so that `kubectl apply` reports mistakes at once.
 * Validation (`validate.ts` of each kind) reports the same mistakes, and more. These rules accept everything that
 * validation accepts.
 *
 * @module
 */
import type { CelRule, StructuralRules } from "../schema/structural_schema.ts";
import type { Kind } from "./kinds.ts";

/** Whether a list, map or text is present and not empty. */
const filled = (key: string) => `(has(self.${key}) && size(self.${key}) > 0)`;
const given = (key: string) => `has(self.${key})`;

/** The number of conditions that hold, as an expression of CEL. */
const count = (conditions: readonly string[]) => conditions.map((one) => `(${one} ? 1 : 0)`).join(" + ");

const atMostOne = (message: string, ...conditions: readonly string[]): CelRule => ({
  rule: `${count(conditions)} <= 1`,
  message: `expected at most one of ${message}`,
});

const atLeastOne = (message: string, ...conditions: readonly string[]): CelRule => ({
  rule: conditions.join(" || "),
  message: `expected at least one of ${message}`,
});

const ATTACHMENT = atMostOne(
  "selector, targetRef, targetRefs",
  ...[given("selector"), given("targetRef"), filled("targetRefs")],
);

const PORT_NUMBER: CelRule = {
  rule: "!has(self.number) || self.number <= 65535",
  message: "expected a port number, 1..65535",
};

const POLICY = ["loadBalancer", "connectionPool", "outlierDetection", "tls"];

/** Rules of whole specs. */
export const SPEC_RULES: Readonly<Partial<Record<Kind, readonly CelRule[]>>> = {
  AuthorizationPolicy: [
    ATTACHMENT,
    {
      rule: `${filled("rules")} || !has(self.action) || !(self.action in ['CUSTOM', 'DENY'])`,
      message: "expected rules: an action CUSTOM or DENY without any never acts",
    },
    {
      rule: "!has(self.provider) || (has(self.action) && self.action == 'CUSTOM')",
      message: "expected no provider: only action CUSTOM has one",
    },
    {
      rule: "!has(self.action) || self.action != 'CUSTOM' || (has(self.provider) && has(self.provider.name))",
      message: "expected provider.name, the name of an extension provider (action CUSTOM)",
    },
  ],
  PeerAuthentication: [
    {
      rule: `!${given("portLevelMtls")} || size(self.portLevelMtls) > 0`,
      message: "expected at least one port in portLevelMtls",
    },
    {
      rule: `!${
        filled("portLevelMtls")
      } || (has(self.selector) && has(self.selector.matchLabels) && size(self.selector.matchLabels) > 0)`,
      message: "expected a selector with labels beside portLevelMtls",
    },
  ],
  ProxyConfig: [{
    rule: "!has(self.concurrency) || self.concurrency >= 0",
    message: "expected a concurrency of 0 or more",
  }],
  ProxyFilter: [atMostOne("workloadSelector, targetRefs", given("workloadSelector"), filled("targetRefs"))],
  RequestAuthentication: [ATTACHMENT],
  ServiceEntry: [atMostOne("workloadSelector, endpoints", given("workloadSelector"), filled("endpoints"))],
  Sidecar: [atLeastOne(
    "ingress, egress, inboundConnectionPool, outboundTrafficPolicy",
    ...[filled("ingress"), filled("egress"), given("inboundConnectionPool"), given("outboundTrafficPolicy")],
  )],
  Telemetry: [ATTACHMENT],
  VirtualService: [atLeastOne("http, tls, tcp", filled("http"), filled("tls"), filled("tcp"))],
  WasmPlugin: [ATTACHMENT],
  WorkloadEntry: [{
    rule: `${filled("address")} || ${filled("network")}`,
    message: "expected an address, or the network that it is in",
  }],
};

/** Rules of parts of specs, by the names of their types. */
const PARTS: StructuralRules["parts"] = {
  GatewayPort: [PORT_NUMBER],
  PortSelector: [PORT_NUMBER],
  ServiceEntryPort: [PORT_NUMBER],
  SidecarPort: [PORT_NUMBER],
  ConfigPatch: [
    { rule: "has(self.applyTo) && self.applyTo != 'INVALID'", message: "expected applyTo, which says what is patched" },
    { rule: "has(self.patch)", message: "expected a patch" },
  ],
  Patch: [
    { rule: "has(self.operation) && self.operation != 'INVALID'", message: "expected an operation" },
    {
      rule: "!has(self.operation) || self.operation in ['INVALID', 'REMOVE'] || has(self.value)",
      message: "expected a value, which all operations but REMOVE have",
    },
  ],
  HttpFaultInjection: [atLeastOne("abort, delay", given("abort"), given("delay"))],
  HttpRoute: [
    {
      rule: `has(self.delegate) ? !${filled("route")} && !has(self.redirect) : ${
        count([filled("route"), given("redirect"), given("directResponse")])
      } == 1`,
      message: "expected one of route, redirect, directResponse, and no route or redirect beside a delegate",
    },
    {
      rule: "!(has(self.redirect) || has(self.directResponse)) || !(has(self.fault) || has(self.rewrite))",
      message: "expected no fault and no rewrite beside redirect or directResponse",
    },
    atMostOne("mirror, mirrors", given("mirror"), filled("mirrors")),
  ],
  PortTrafficPolicy: [
    { rule: "has(self.port)", message: "expected a port with its number" },
    atLeastOne(POLICY.join(", "), ...POLICY.map(given)),
  ],
  ReadinessProbe: [
    atLeastOne("httpGet, tcpSocket, exec, grpc", ...["httpGet", "tcpSocket", "exec", "grpc"].map(given)),
  ],
  TrafficPolicy: [
    atLeastOne(
      [...POLICY, "portLevelSettings", "tunnel", "proxyProtocol"].join(", "),
      ...[...POLICY, "tunnel", "proxyProtocol"].map(given),
      filled("portLevelSettings"),
    ),
    atMostOne("tunnel, proxyProtocol", given("tunnel"), given("proxyProtocol")),
  ],
};

/** Rules of the parts of all specs. */
export const PART_RULES: StructuralRules = {
  parts: PARTS,
  // The server stores objects of at most 1.5 MiB: this size divided by the size of the shortest useful element.
  maxItems: { ConfigPatch: 32_768, HttpRoute: 32_768, Subset: 131_072 },
};
