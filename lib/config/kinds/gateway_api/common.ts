/**
 * Messages of several kinds of the Gateway API (group `gateway.networking.k8s.io`), with the limits of the definitions
 * of v1.6.1. Defaults of the definitions are defaults here: a folder has no API server that fills them in.
 *
 * @module
 */
import { LABEL_OPERATORS } from "../../../kernel/labels/selector.ts";
import { list, map, stringMap } from "../../schema/containers.ts";
import { type Field, keepZero, required, withDefault } from "../../schema/field.ts";
import { limitedForm, limitedList, limitedMap, limitedNumber, limitedText } from "../../schema/limited.ts";
import { message, type Of } from "../../schema/message.ts";
import { duration, enumOf, int32, string } from "../../schema/scalars.ts";
import { GATEWAY_API_GROUP } from "../../spelling/spelling.ts";

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const SUBDOMAIN_OR_EMPTY = /^$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

export const group = limitedText(
  keepZero(string()),
  "an API group",
  { max: 253 },
  SUBDOMAIN_OR_EMPTY,
);
export const kindName = limitedText(string(), "a kind", { min: 1, max: 63 }, /^[a-zA-Z]([-a-zA-Z0-9]*[a-zA-Z0-9])?$/);
export const objectName = limitedText(string(), "the name of an object", { min: 1, max: 253 });
export const namespaceName = limitedText(
  string(),
  "the name of a namespace",
  { min: 1, max: 63 },
  /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/,
);
export const sectionName = limitedText(string(), "a name in lower case", { min: 1, max: 253 }, SUBDOMAIN);
export const portNumber = limitedNumber(int32(), { min: 1, max: 65535 });
export const hostname = limitedText(
  string(),
  "a host name in lower case, optionally starting with *.",
  { min: 1, max: 253 },
  /^(\*\.)?[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
);
export const preciseHostname = limitedText(
  string(),
  "a host name in lower case, without a wildcard",
  { min: 1, max: 253 },
  SUBDOMAIN,
);
export const headerName = limitedText(
  string(),
  "the name of a header",
  { min: 1, max: 256 },
  /^[A-Za-z0-9!#$%&'*+\-.^_`|~]+$/,
);

/** A duration of the Gateway API, in milliseconds. */
export const gatewayDuration = limitedForm(
  duration(),
  "a duration of numbers up to 99999 with units h, m, s, ms: 1h30m",
  /^([0-9]{1,5}(h|m|s|ms)){1,4}$/,
);

/**
 * An enumeration of a field that decides about other fields. A wrong value becomes an empty text and not the first name,
 * so that no rule expects the fields of the first name.
 */
export function choice<const T extends string>(...names: readonly T[]): Field<T> {
  return { ...enumOf(...names), zero: () => "" as T };
}

/** Settings of this implementation, by their names. */
export const options = limitedMap(map(limitedText(keepZero(string()), "a text", { max: 4096 })), { max: 16 });

const labelExpression = message({
  /** Key of the label. */
  key: required(string(), "the key of a label"),
  /** How the label is compared. */
  operator: required(enumOf(...LABEL_OPERATORS), "In, NotIn, Exists or DoesNotExist"),
  /** Values of `In` and `NotIn`. */
  values: list(string()),
});

const labelSelector = message({
  /** Required labels. */
  matchLabels: stringMap(),
  /** Further conditions; all must hold. */
  matchExpressions: list(labelExpression),
});

/** Selects namespaces by labels, keys as written. All conditions must hold; an empty selector selects all. */
export interface NamespaceSelector extends Of<typeof labelSelector> {}

export { labelSelector };

const parentRef = message({
  /** Group of the parent. */
  group: withDefault(group, GATEWAY_API_GROUP),
  /** Kind of the parent: Gateway, ListenerSet, Service, ServiceEntry. */
  kind: withDefault(kindName, "Gateway"),
  /** Absent: the namespace of the route. */
  namespace: namespaceName,
  /** Name of the parent. */
  name: required(objectName, "the name of the parent"),
  /** Name of one listener; absent: all listeners. */
  sectionName,
  /** Port of the listeners, or of the service; absent: all ports. */
  port: portNumber,
});

/** The object that a route attaches to. */
export interface ParentReference extends Of<typeof parentRef> {}

export const parentRefs = limitedList(list(parentRef), { max: 32 });

/** The fields of a reference to a backend. */
export const backendFields = {
  /** Group of the backend; empty: the core group. */
  group: withDefault(group, ""),
  /** Kind of the backend. */
  kind: withDefault(kindName, "Service"),
  /** Absent: the namespace of the route. */
  namespace: namespaceName,
  /** Name of the backend. */
  name: required(objectName, "the name of the backend"),
  /** Port of the service. */
  port: portNumber,
};

/** The fields of a weighted reference to a backend. */
export const weightedFields = {
  ...backendFields,
  /** Share of the sum of weights; 0: no traffic. */
  weight: withDefault(limitedNumber(keepZero(int32()), { max: 1_000_000 }), 1),
};

const backendObject = message(backendFields);

/** A backend without a weight, of a mirror or an authorizer. */
export interface BackendObjectReference extends Of<typeof backendObject> {}

export { backendObject };

const backendRef = message(weightedFields);

/** A weighted backend of a route for connections. */
export interface BackendReference extends Of<typeof backendRef> {}

const bytesRule = message({
  /** Name of the rule. */
  name: sectionName,
  /** Where connections go. */
  backendRefs: required(limitedList(list(backendRef), { min: 1, max: 16 }), "1 to 16 backends"),
});

/** The rule of a route for connections or datagrams. */
export interface BytesRouteRule extends Of<typeof bytesRule> {}

export const bytesRules = required(limitedList(list(bytesRule), { min: 1, max: 16 }), "1 to 16 rules");

const secretRef = message({
  /** Group of the object; empty: the core group. */
  group: withDefault(group, ""),
  /** Kind of the object. */
  kind: withDefault(kindName, "Secret"),
  /** Name of the object. */
  name: required(objectName, "the name of a Secret"),
  /** Absent: the namespace of the referring object. */
  namespace: namespaceName,
});

/** A certificate with its key. */
export interface SecretObjectReference extends Of<typeof secretRef> {}

export { secretRef };

const localRef = message({
  /** Group of the object; empty: the core group. */
  group: required(group, "an API group; empty: the core group"),
  /** Kind of the object. */
  kind: required(kindName, "a kind"),
  /** Name of the object. */
  name: required(objectName, "a name"),
});

/** An object of the referring object's namespace. */
export interface LocalReference extends Of<typeof localRef> {}

export { localRef };

export const controllerName = required(
  limitedText(
    string(),
    "DOMAIN/PATH",
    { min: 1, max: 253 },
    /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9\/\-._~%!$&'()*+,;=:]+$/,
  ),
  "the name of a controller, DOMAIN/PATH",
);

export const description = limitedText(string(), "a text", { max: 64 });

export const parametersRef = message({
  /** Group of the object; empty: the core group. */
  group: required(group, "an API group; empty: the core group"),
  /** Kind of the object. */
  kind: required(kindName, "a kind"),
  /** Name of the object. */
  name: required(objectName, "a name"),
  /** Absent: the object is in no namespace. */
  namespace: namespaceName,
});
