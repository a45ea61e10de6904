/**
 * Events as resources.
 *
 * Fields: `Node` of https://www.envoyproxy.io/docs/envoy/latest/api-v3/config/core/v3/base.proto, `DiscoveryRequest` of
 * https://www.envoyproxy.io/docs/envoy/latest/api-v3/service/discovery/v3/discovery.proto
 *
 * @module
 */
import type { envoy } from "../../../proto/gen/types.ts";
import { MessageWriter } from "../../grpc/message_writer.ts";
import { encode, TYPE_URL_PREFIX } from "../../pb/codec.ts";
import type { RejectInfo } from "../ads/stream_types.ts";
import type { DebugResource } from "../protocol/questions.ts";

const NODE = "envoy.config.core.v3.Node";
const REQUEST = "envoy.service.discovery.v3.DiscoveryRequest";

/** A client as events show it. */
export interface EventClient {
  readonly node: envoy.config.core.v3.Node | undefined;
  readonly stream: { readonly view: { readonly identity?: string } } | undefined;
}

/** The rejection of a rejection event. */
export type EventRejection = Pick<RejectInfo, "typeUrl" | "code" | "message">;

/** The resource of an event, named by the client's node. */
export function eventResource({ node }: EventClient, rejection?: EventRejection): DebugResource {
  const name = node?.id ?? "";
  if (rejection === undefined) {
    return { name, typeUrl: `${TYPE_URL_PREFIX}${NODE}`, runs: [encode(NODE, node ?? {})] };
  }
  const { typeUrl, code, message } = rejection;
  const error = new MessageWriter().varint(1, code).string(2, message).finish();
  const request = new MessageWriter().bytes(2, encode(NODE, { id: name })).string(4, typeUrl).bytes(6, error);
  return { name, typeUrl: `${TYPE_URL_PREFIX}${REQUEST}`, runs: [request.finish()] };
}
