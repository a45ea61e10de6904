/**
 * Gateway: the ports of a standalone proxy.
 *
 * @module
 */
import { labels, list } from "../../schema/containers.ts";
import { type Field, required, withDefault } from "../../schema/field.ts";
import { message, type Of } from "../../schema/message.ts";
import { string, uint32 } from "../../schema/scalars.ts";
import { serverTls } from "../common/schema.ts";
import type { InternalGateway, InternalServer } from "./internal.ts";

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

const writtenServer = message({
  /** The listening port of the gateway. */
  port: required(
    gatewayPort,
    "a port with number, protocol and name",
  ),
  /** IP, unix socket path (`unix:///...`) or abstract socket (`unix://@name`); absent: all addresses. */
  bind: string(),
  /** `[namespace/]host`; namespace `*` (any) or `.` (own). */
  hosts: required(list(string()), "at least one host"),
  /** TLS of the port; required for HTTPS and TLS. */
  tls: serverTls,
  /** Accepted, unused. */
  defaultEndpoint: string(),
  /** Name of the server; part of route names' uniqueness check. */
  name: string(),
});

/** A listening port. */
export interface GatewayServerSpec extends Of<typeof writtenServer> {
  /** Only of derived Gateways. */
  readonly internal?: InternalServer;
}

const gatewayServerSpec: Field<GatewayServerSpec> = writtenServer;

export const gateway = message({
  /** The ports of the gateway. */
  servers: required(
    list(gatewayServerSpec),
    "at least one server",
  ),
  /** Labels of the gateway workloads; absent: all. */
  selector: labels(),
});

/** Spec of a Gateway. */
export interface GatewaySpec extends Of<typeof gateway> {
  /** Only of derived Gateways. */
  readonly internal?: InternalGateway;
}
