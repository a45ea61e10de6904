/**
 * Gateway: ports that a standalone proxy listens on.
 *
 * @module
 */
import { labels, list } from "../../schema/containers.ts";
import { required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { string, uint32 } from "../../schema/scalars.ts";
import { serverTls } from "../common/schema.ts";

const gatewayPort = message({
  // 0 is right for a unix socket; validation knows.
  /** Number of the port, 1 to 65535; 0 with a Unix socket. */
  number: withDefault(uint32(), 0),
  /** HTTP, HTTPS, GRPC, HTTP2, MONGO, TCP, TLS, ... as written. */
  protocol: required(string(), "a protocol such as HTTP, HTTPS or TLS"),
  /** Name of the port, unique among the servers of the gateway. */
  name: required(string(), "the name of the port"),
  /** Deprecated. */
  targetPort: uint32(),
});

/** Port of a server. */
export interface GatewayPort extends Of<typeof gatewayPort> {}

const gatewayServerSpec = message({
  /** The port that the gateway listens on. */
  port: required(
    gatewayPort,
    "a port with number, protocol and name",
  ),
  /** IP, unix socket path (`unix:///...`) or abstract socket (`unix://@name`); absent: all addresses. */
  bind: string(),
  /** `[namespace/]host`; namespace `*` (any) or `.` (own). */
  hosts: required(list(string()), "at least one host"),
  /** TLS of the port; HTTPS and TLS need it. */
  tls: serverTls,
  /** Accepted, unused. */
  defaultEndpoint: string(),
  /** Name of the server; part of route names' uniqueness check. */
  name: string(),
});

/** One listening port. */
export interface GatewayServerSpec extends Of<typeof gatewayServerSpec> {}

export const gateway = message({
  /** Ports that the gateway serves. */
  servers: required(
    list(gatewayServerSpec),
    "at least one server",
  ),
  /** Labels of the gateway workloads; absent: all. */
  selector: labels(),
});

/** Spec of a Gateway. */
export interface GatewaySpec extends Of<typeof gateway> {}
