/**
 * Schema of Sidecar.
 *
 * @module
 */
import { list } from "../../schema/containers.ts";
import { type Field, required, withDefault } from "../../schema/field.ts";
import { message } from "../../schema/message.ts";
import { enumOf, string, uint32 } from "../../schema/scalars.ts";
import { connectionPool, labelsSelector, serverTls } from "../common/schema.ts";
import { destination } from "../virtual_service/schema.ts";
import type * as types from "./types.ts";

const port = message<types.SidecarPort>({
  number: uint32(),
  protocol: string(),
  name: string(),
  targetPort: uint32(),
});
const captureMode = withDefault(enumOf("DEFAULT", "IPTABLES", "NONE"), "DEFAULT");

/** Schema of {@link types.SidecarSpec}. */
export const sidecar: Field<types.SidecarSpec> = message<types.SidecarSpec>({
  workloadSelector: labelsSelector,
  ingress: list(message<types.SidecarIngress>({
    port: required(port, "a port with number and protocol"),
    bind: string(),
    captureMode,
    defaultEndpoint: string(),
    tls: serverTls,
    connectionPool,
  })),
  egress: list(message<types.SidecarEgress>({
    port,
    bind: string(),
    captureMode,
    hosts: required(list(string()), "at least one host, as namespace/host"),
  })),
  inboundConnectionPool: connectionPool,
  outboundTrafficPolicy: message<types.OutboundTrafficPolicy>({
    mode: withDefault(enumOf("REGISTRY_ONLY", "ALLOW_ANY"), "REGISTRY_ONLY"),
    egressProxy: destination,
  }),
});
