/**
 * The request in authorization rules: `to.operation`, and conditions about the request or the connection.
 *
 * @module
 */
import type { AuthorizationCondition, AuthorizationOperation } from "../../config/kinds/authorization_policy/schema.ts";
import { any } from "../../pb/codec.ts";
import type { envoy } from "../../../proto/gen/types.ts";
import { cidrRange, networkRange } from "../listener/address.ts";
import { type Attribute, type Condition, condition, type Connectives } from "./condition.ts";
import { hostMatcher, textMatcher } from "./values.ts";

type Permission = envoy.config.rbac.v3.Permission;
type PermissionAttribute = Attribute<Permission>;

/** How permissions are put together. */
export const PERMISSIONS: Connectives<Permission> = {
  all: (rules) => ({ and_rules: { rules } }),
  any: (rules) => ({ or_rules: { rules } }),
  not: (not_rule) => ({ not_rule }),
  always: { any: true },
};

/** The extension with which Envoy matches path templates. */
export const URI_TEMPLATE = "envoy.path.match.uri_template.uri_template_matcher";

const hosts: PermissionAttribute = { httpOnly: true, matcher: (value) => header(":authority", value, hostMatcher) };
const methods: PermissionAttribute = { httpOnly: true, matcher: (value) => header(":method", value, textMatcher) };
const paths: PermissionAttribute = {
  httpOnly: true,
  matcher: (value, { pathTemplates }) => {
    if (!/\{\*\*?\}/.test(value)) return { url_path: { path: textMatcher(value) } };
    return pathTemplates && isTemplate(value) ? pathTemplate(value) : undefined;
  },
};
const ports: PermissionAttribute = {
  // The port of the connection is the tunnel's. The CONNECT's address ends with a port as in `WRITTEN_PORT`.
  matcher: (value, { connect }) =>
    connect
      ? { header: { name: ":authority", string_match: { suffix: `:${Number(value)}` } } }
      : { destination_port: Number(value) },
};

/** Matches an address whose port is written in a single way, without zeros in front: `10.0.0.1:80`. */
export const WRITTEN_PORT: Permission = {
  header: { name: ":authority", string_match: { safe_regex: { regex: ".+:[1-9][0-9]{0,4}" } } },
};

/** Attributes with a fixed name. */
const ATTRIBUTES: Readonly<Record<string, PermissionAttribute>> = {
  "destination.port": ports,
  "destination.ip": {
    // No matcher of Envoy compares the address of a CONNECT with a range.
    matcher: (value, { connect }) => {
      const range = networkRange(value);
      return range === undefined || connect ? undefined : { destination_ip: cidrRange(range) };
    },
  },
  "connection.sni": { proxyOnly: true, matcher: (value) => ({ requested_server_name: textMatcher(value) }) },
};

const FILTER_METADATA = "experimental.envoy.filters.";

/** The conditions of an operation. */
export function operationConditions(operation: AuthorizationOperation): Condition<Permission>[] {
  return [
    ...condition("hosts", hosts, operation.hosts, operation.notHosts),
    ...condition("methods", methods, operation.methods, operation.notMethods),
    ...condition("paths", paths, operation.paths, operation.notPaths),
    ...condition("ports", ports, operation.ports, operation.notPorts),
  ];
}

/** The attribute of a condition. Undefined when the condition is not about the request. */
export function permissionAttribute({ key }: Pick<AuthorizationCondition, "key">): PermissionAttribute | undefined {
  if (Object.hasOwn(ATTRIBUTES, key)) return ATTRIBUTES[key];
  return key.startsWith(FILTER_METADATA) ? filterMetadata(key) : undefined;
}

function header(name: string, value: string, matcher: typeof textMatcher): Permission {
  return { header: value === "*" ? { name, present_match: true } : { name, string_match: matcher(value) } };
}

/** Characters that Envoy accepts in a segment of a template. */
const SEGMENT = /^[\w\-.~%!$&'()+,;:@=]+$/;

/** Whether Envoy accepts a path as a template. On other templates, Envoy refuses the listener or even exits. */
function isTemplate(path: string): boolean {
  const [first, ...segments] = path.split("/");
  if (segments.at(-1) === "") segments.pop();
  const rest = segments.indexOf("{**}");
  return first === "" && segments.every((segment, i) => {
    const isOperator = segment === "{*}" || segment === "{**}";
    return isOperator ? rest < 0 || i <= rest : SEGMENT.test(segment);
  });
}

function pathTemplate(path: string): Permission {
  const path_template = path.replaceAll("{*}", "*").replaceAll("{**}", "**");
  const config: envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig = { path_template };
  const type = "envoy.extensions.path.match.uri_template.v3.UriTemplateMatchConfig";
  return { uri_template: { name: URI_TEMPLATE, typed_config: any(type, config) } };
}

/**
 * `experimental.envoy.filters.NAME[KEY]`: text in the dynamic metadata of a filter. `[text]` means a list with the
 * text.
 */
function filterMetadata(key: string): PermissionAttribute {
  const bracket = key.indexOf("[");
  const filter = key.slice("experimental.".length, bracket);
  const path = [{ key: key.slice(bracket + 1, -1) }];
  return {
    proxyOnly: true,
    matcher: (value) => {
      const isList = value.startsWith("[") && value.endsWith("]");
      const string_match = textMatcher(isList ? value.slice(1, -1) : value);
      return {
        metadata: { filter, path, value: isList ? { list_match: { one_of: { string_match } } } : { string_match } },
      };
    },
  };
}
