/**
 * GRPCRoute of the Gateway API.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { required, withDefault } from "../../schema/field.ts";
import { limitedList, limitedText } from "../../schema/limited.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, string } from "../../schema/scalars.ts";
import { choice, hostname, localRef, parentRefs, sectionName, weightedFields } from "./common.ts";
import { headerFilter, headerMatch, mirrorFilter, sessionPersistence } from "./http_route.ts";

const filter = message({
  /** Which of the fields is used. */
  type: required(
    choice("RequestHeaderModifier", "ResponseHeaderModifier", "RequestMirror", "ExtensionRef"),
    "the type of a filter",
  ),
  /** Changes of the request's headers. */
  requestHeaderModifier: headerFilter,
  /** Changes of the answer's headers. */
  responseHeaderModifier: headerFilter,
  /** Copies requests. */
  requestMirror: mirrorFilter,
  /** Not supported: a filter of another kind. */
  extensionRef: localRef,
});

/** A filter of a rule or a backend. */
export interface GRPCRouteFilter extends Of<typeof filter> {}

const filters = limitedList(list(filter), { max: 16 });

const backend = message({
  ...weightedFields,
  /** Filters of calls only to this backend. */
  filters,
});

/** A weighted backend of calls. */
export interface GRPCBackendReference extends Of<typeof backend> {}

const match = message({
  /** Condition on the called method; absent: any method. */
  method: message({
    /** How the names are compared. */
    type: withDefault(enumOf("Exact", "RegularExpression"), "Exact"),
    /** Name of the service, with its package. */
    service: limitedText(string(), "the name of a service", { max: 1024 }),
    /** Name of the method. */
    method: limitedText(string(), "the name of a method", { max: 1024 }),
  }),
  /** Conditions on headers; all must hold. */
  headers: limitedList(list(headerMatch), { max: 16 }),
});

/** Conditions on a call; all must hold. */
export interface GRPCRouteMatch extends Of<typeof match> {}

const rule = message({
  /** Name of the rule, for access logs. */
  name: sectionName,
  /** Conditions; any must hold. Absent: every call. */
  matches: limitedList(list(match), { max: 64 }),
  /** Filters. */
  filters,
  /** Where calls go; absent: answers with an error. */
  backendRefs: limitedList(list(backend), { max: 16 }),
  /** Calls of one session go to one endpoint. */
  sessionPersistence,
});

/** A rule of a GRPCRoute. */
export interface GRPCRouteRule extends Of<typeof rule> {}

export const grpcRoute = message({
  /** The objects that the route attaches to. */
  parentRefs,
  /** Not supported: a route attaches to the parents that it names. */
  useDefaultGateways: enumOf("All", "None"),
  /** Hosts of calls; absent: all hosts of the listeners. */
  hostnames: limitedList(list(hostname), { max: 16 }),
  /** The rules; absent: a rule for every call, without backends. */
  rules: limitedList(list(rule), { max: 16 }),
});

/** A GRPCRoute of the Gateway API: where calls of gRPC go. */
export interface GRPCRouteSpec extends Of<typeof grpcRoute> {}
