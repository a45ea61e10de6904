/**
 * Schema of Gateway.
 *
 * @module
 */
import { labels, list } from "../../schema/containers.ts";
import { type Field, required, withDefault } from "../../schema/field.ts";
import { message } from "../../schema/message.ts";
import { string, uint32 } from "../../schema/scalars.ts";
import { serverTls } from "../common/schema.ts";
import type * as types from "./types.ts";

/** Schema of {@link types.GatewaySpec}. */
export const gateway: Field<types.GatewaySpec> = message<types.GatewaySpec>({
  servers: required(
    list(message<types.GatewayServerSpec>({
      port: required(
        message<types.GatewayPort>({
          // 0 is right for a unix socket; validation knows.
          number: withDefault(uint32(), 0),
          protocol: required(string(), "a protocol such as HTTP, HTTPS or TLS"),
          name: required(string(), "the name of the port"),
          targetPort: uint32(),
        }),
        "a port with number, protocol and name",
      ),
      bind: string(),
      hosts: required(list(string()), "at least one host"),
      tls: serverTls,
      defaultEndpoint: string(),
      name: string(),
    })),
    "at least one server",
  ),
  selector: labels(),
});
