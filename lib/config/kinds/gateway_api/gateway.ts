/**
 * Gateway and GatewayClass of the Gateway API, and ListenerSet.
 *
 * @module
 */
import { list, map } from "../../schema/containers.ts";
import { keepZero, required, withDefault } from "../../schema/field.ts";
import { limitedList, limitedMap, limitedText } from "../../schema/limited.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, string } from "../../schema/scalars.ts";
import {
  controllerName,
  description,
  group,
  hostname,
  kindName,
  labelSelector,
  localRef,
  namespaceName,
  objectName,
  options,
  parametersRef,
  portNumber,
  secretRef,
  sectionName,
} from "./common.ts";

const routeNamespaces = message({
  /** Default Same: the namespace of the Gateway or ListenerSet. */
  from: withDefault(enumOf("All", "Selector", "Same"), "Same"),
  /** The namespaces of `Selector`. */
  selector: labelSelector,
});

const routeKind = message({
  /** Absent: the group of the Gateway API. */
  group,
  /** Kind of the routes. */
  kind: required(kindName, "a kind of routes"),
});

/** A kind of routes. */
export interface RouteGroupKind extends Of<typeof routeKind> {}

const allowedRoutes = message({
  /** Absent: the namespace of the Gateway or ListenerSet. */
  namespaces: routeNamespaces,
  /** Absent: all kinds that the protocol carries. */
  kinds: limitedList(list(routeKind), { max: 8 }),
});

/** The routes that may attach to a listener. */
export interface AllowedRoutes extends Of<typeof allowedRoutes> {}

const listenerTls = message({
  /** Default Terminate. */
  mode: withDefault(enumOf("Terminate", "Passthrough"), "Terminate"),
  /** Certificates of the listener. */
  certificateRefs: limitedList(list(secretRef), { max: 64 }),
  /** Settings of this implementation, such as `gateway.mesh.io/tls-terminate-mode`. */
  options,
});

/** TLS of a listener. */
export interface ListenerTls extends Of<typeof listenerTls> {}

const protocol = limitedText(
  string(),
  "a protocol",
  { min: 1, max: 255 },
  /^[a-zA-Z0-9]([-a-zA-Z0-9]*[a-zA-Z0-9])?$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9]+$/,
);

const listener = message({
  /** Name, unique in the object. */
  name: required(sectionName, "the name of the listener"),
  /** Host that clients ask for; absent: any. */
  hostname,
  /** Port of the service in front of the proxy. */
  port: required(portNumber, "a port, 1 to 65535"),
  /** HTTP, HTTPS, TLS, TCP, UDP or HBONE. */
  protocol: required(protocol, "a protocol such as HTTP or HTTPS"),
  /** TLS of the listener; required for HTTPS and TLS. */
  tls: listenerTls,
  /** The routes that may attach; absent: all routes of the object's own namespace. */
  allowedRoutes,
});

/** A listener of a Gateway or a ListenerSet. */
export interface ApiListener extends Of<typeof listener> {}

const listeners = required(limitedList(list(listener), { min: 1, max: 64 }), "1 to 64 listeners");

const address = message({
  /** IPAddress when absent. */
  type: withDefault(
    limitedText(
      string(),
      "IPAddress, Hostname, NamedAddress or DOMAIN/PATH",
      { min: 1, max: 253 },
      /^(Hostname|IPAddress|NamedAddress)$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/[A-Za-z0-9\/\-._~%!$&'()*+,;=:]+$/,
    ),
    "IPAddress",
  ),
  /** Absent: an address of the implementation's choice. */
  value: limitedText(string(), "an address", { max: 253 }),
});

/** A requested address. */
export interface ApiGatewayAddress extends Of<typeof address> {}

const infrastructure = message({
  /** Labels of everything that is made for the Gateway. */
  labels: limitedMap(
    map(limitedText(
      keepZero(string()),
      "the value of a label",
      { max: 63 },
      /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/,
    )),
    { max: 8 },
  ),
  /** Annotations of everything that is made for the Gateway. */
  annotations: options,
  /** A ConfigMap with overlays. */
  parametersRef: localRef,
});

/** Settings of the objects that are made for a Gateway. */
export interface GatewayInfrastructure extends Of<typeof infrastructure> {}

const authorityRef = message({
  /** Group of the object; empty: the core group. */
  group: required(group, "an API group; empty: the core group"),
  /** ConfigMap or Secret. */
  kind: required(kindName, "a kind such as ConfigMap"),
  /** Name of the object. */
  name: required(objectName, "a name"),
  /** Absent: the namespace of the Gateway. */
  namespace: namespaceName,
});

/** An object with certificates of authorities. */
export interface AuthorityReference extends Of<typeof authorityRef> {}

const frontendValidation = message({
  /** Authorities of client certificates. */
  caCertificateRefs: required(limitedList(list(authorityRef), { min: 1, max: 16 }), "1 to 16 references"),
  /** Default AllowValidOnly: a client needs a valid certificate. */
  mode: withDefault(enumOf("AllowValidOnly", "AllowInsecureFallback"), "AllowValidOnly"),
});

/** How certificates of clients are verified. */
export interface FrontendValidation extends Of<typeof frontendValidation> {}

const frontendTls = message({ validation: frontendValidation });

const portTls = message({
  /** Port of the listeners. */
  port: required(portNumber, "a port, 1 to 65535"),
  /** The settings of these listeners. */
  tls: required(frontendTls, "TLS settings"),
});

const gatewayTls = message({
  /** TLS of connections to backends. */
  backend: message({
    /** The certificate that the Gateway presents to backends. */
    clientCertificateRef: secretRef,
  }),
  /** TLS of connections from clients. */
  frontend: message({
    /** Settings of all listeners that end TLS. */
    default: required(frontendTls, "TLS settings"),
    /** Settings of the listeners of some ports, in place of the default. */
    perPort: limitedList(list(portTls), { max: 64 }),
  }),
});

/** TLS of a whole Gateway. */
export interface ApiGatewayTls extends Of<typeof gatewayTls> {}

const allowedListeners = message({
  /** The namespaces of the ListenerSets. */
  namespaces: message({
    /** Default None. */
    from: withDefault(enumOf("All", "Selector", "Same", "None"), "None"),
    /** The namespaces of `Selector`. */
    selector: labelSelector,
  }),
});

/** The ListenerSets that may attach to a Gateway. */
export interface AllowedListeners extends Of<typeof allowedListeners> {}

export const apiGateway = message({
  /** Name of the GatewayClass. */
  gatewayClassName: required(objectName, "the name of a GatewayClass"),
  /** The listeners. */
  listeners,
  /** Requested addresses. */
  addresses: limitedList(list(address), { max: 16 }),
  /** Settings of the objects that are made for the Gateway. */
  infrastructure,
  /** The ListenerSets that may attach; absent: none. */
  allowedListeners,
  /** TLS of clients and backends. */
  tls: gatewayTls,
  /** Not supported: routes without parents attach to no Gateway. */
  defaultScope: enumOf("All", "None"),
});

/** A Gateway of the Gateway API: the listeners of a proxy. */
export interface ApiGatewaySpec extends Of<typeof apiGateway> {}

export const gatewayClass = message({
  /** The implementation of the class: `DOMAIN/PATH`. */
  controllerName,
  /** Text for people. */
  description,
  /** An object with settings of the class. */
  parametersRef,
});

/** A GatewayClass of the Gateway API: which implementation serves the Gateways of the class. */
export interface GatewayClassSpec extends Of<typeof gatewayClass> {}

export const listenerSet = message({
  /** The Gateway that gets the listeners. */
  parentRef: required(
    message({
      /** Group of the parent. */
      group: withDefault(keepZero(group), "gateway.networking.k8s.io"),
      /** Kind of the parent. */
      kind: withDefault(kindName, "Gateway"),
      /** Name of the Gateway. */
      name: required(objectName, "the name of a Gateway"),
      /** Absent: the namespace of the ListenerSet. */
      namespace: namespaceName,
    }),
    "a Gateway",
  ),
  /** The listeners. */
  listeners,
});

/** A ListenerSet of the Gateway API: further listeners of a Gateway. */
export interface ListenerSetSpec extends Of<typeof listenerSet> {}
