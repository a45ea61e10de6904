/**
 * The experimental kinds of the Gateway API (group `gateway.networking.x-k8s.io`), with the limits of the definitions of
 * v1.6.1.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { keepZero, required, withDefault } from "../../schema/field.ts";
import { limitedList, limitedNumber, limitedText } from "../../schema/limited.ts";
import { message, type Of } from "../../schema/message.ts";
import { enumOf, int32, string } from "../../schema/scalars.ts";
import {
  choice,
  controllerName,
  description,
  gatewayDuration,
  localRef,
  parametersRef,
  portNumber,
  preciseHostname,
  secretRef,
} from "./common.ts";
import { backendValidation } from "./policies.ts";
import { sessionPersistence } from "./http_route.ts";

/** Of a retry budget: a fifth of the requests of the last 10 s, and 10 retries a second in any case. */
const BUDGET = { percent: 20, interval: 10_000 } as const;
const MIN_RATE = { count: 10, interval: 1000 } as const;

const externalHostname = message({
  /** Name of the backend's host in DNS; no name of the cluster. */
  hostname: required(preciseHostname, "a host name"),
});

const backendTls = message({
  /** `None`: plain connections. `ServerOnly`: TLS. `ClientAndServer`: TLS with a certificate of the client. */
  mode: required(choice("None", "ServerOnly", "ClientAndServer"), "None, ServerOnly or ClientAndServer"),
  /** Certificate that clients present. Not supported: the backend is then not accepted. */
  clientCertificateRef: secretRef,
  /** How the backend's certificate is verified. Absent: the authorities of the proxy's system, and the host name. */
  validation: backendValidation,
});

/** TLS of connections to a backend outside of the mesh. */
export interface ExternalBackendTls extends Of<typeof backendTls> {}

export const xBackend = message({
  /** Sort of the backend. */
  type: required(choice("ExternalHostname"), "ExternalHostname"),
  /** The port of the backend. */
  port: required(
    message({
      /** Name of the port, in lower case. */
      name: limitedText(string(), "a name in lower case", { max: 63 }, /^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$/),
      /** Number of the port. */
      port: required(portNumber, "the number of a port"),
    }),
    "a port",
  ),
  /** The host of type ExternalHostname. */
  externalHostname,
  /** Protocol of requests to the backend. Absent: HTTP/1.1 for requests, bytes for connections. */
  protocol: enumOf("TCP", "HTTP", "HTTP2", "HTTP11", "H2C", "MCP"),
  /** TLS of connections to the backend. Absent: plain connections. */
  tls: backendTls,
});

/** An XBackend of the Gateway API: a host outside of the mesh as a backend of routes. */
export interface XBackendSpec extends Of<typeof xBackend> {}

const retryConstraint = message({
  /** How many requests may be retries. */
  budget: withDefault(
    message({
      /** Share of the requests, in percent; 0: no retries but those of minRetryRate. */
      percent: withDefault(limitedNumber(keepZero(int32()), { max: 100 }), BUDGET.percent),
      /** The requests of this time count, 1s to 1h. */
      interval: withDefault(keepZero(gatewayDuration), BUDGET.interval),
    }),
    BUDGET,
  ),
  /** Retries that are allowed whatever the share is. */
  minRetryRate: withDefault(
    message({
      /** Number of retries in the interval; absent: 10. */
      count: limitedNumber(int32(), { min: 1, max: 1_000_000 }),
      /** Up to 1h; absent: 1s. */
      interval: keepZero(gatewayDuration),
    }),
    MIN_RATE,
  ),
});

/** When the clients of a backend stop to retry. */
export interface RetryConstraint extends Of<typeof retryConstraint> {}

export const xBackendTrafficPolicy = message({
  /** The targets, in the namespace of the policy. */
  targetRefs: required(limitedList(list(localRef), { min: 1, max: 16 }), "1 to 16 targets"),
  /** Limits the retries of all requests to a target. Absent: retries follow only the routes. */
  retryConstraint,
  /** Requests of one session go to one endpoint. A session of a route's rule has precedence. */
  sessionPersistence,
});

/** An XBackendTrafficPolicy of the Gateway API: retries of clients and sessions at a backend. */
export interface XBackendTrafficPolicySpec extends Of<typeof xBackendTrafficPolicy> {}

export const xMesh = message({
  /** The implementation of the mesh: `DOMAIN/PATH`. */
  controllerName,
  /** An object with settings of the mesh. Not supported: the mesh is then not accepted. */
  parametersRef,
  /** Text for people. */
  description,
});

/** An XMesh of the Gateway API: a mesh, and in its status the features of the mesh. */
export interface XMeshSpec extends Of<typeof xMesh> {}
