/**
 * The resources taken by proxies, as messages: one `envoy.service.status.v3.ClientConfig` for each proxy, for tools
 * that list the proxies of a mesh.
 *
 * Fields: https://www.envoyproxy.io/docs/envoy/latest/api-v3/service/status/v3/csds.proto
 *
 * @module
 */
import { MessageWriter } from "../../grpc/message_writer.ts";
import { encode, TYPE_URL_PREFIX } from "../../pb/codec.ts";
import { fromStruct, struct } from "../../pb/wellknown.ts";
import type { ClientResources } from "../ads/client_resources.ts";
import type { XdsConnection } from "../connection.ts";
import type { DebugResource } from "../protocol/questions.ts";

/** `ConfigStatus` of the message. */
const SYNCED = 1;
const NOT_SENT = 2;
const STALE = 3;
const ERROR = 4;

const TYPE_URL = `${TYPE_URL_PREFIX}envoy.service.status.v3.ClientConfig`;

export function clientStatus({ node, stream }: XdsConnection): DebugResource {
  const id = node?.id ?? "";
  const home = stream?.view.home;
  const { MESH_VERSION, ISTIO_VERSION } = fromStruct(node?.metadata);
  const metadata = struct({
    CLUSTER_ID: home?.clusterId,
    NAMESPACE: home?.namespace,
    ISTIO_VERSION: MESH_VERSION ?? ISTIO_VERSION,
  });
  const out = new MessageWriter().bytes(1, encode("envoy.config.core.v3.Node", { id, metadata }));
  const watches = [...stream?.watches.values() ?? []].sort((a, b) => a.typeUrl < b.typeUrl ? -1 : 1);
  for (const { typeUrl, resources } of watches) out.bytes(3, typeStatus(typeUrl, resources));
  return { name: id, typeUrl: TYPE_URL, runs: [out.finish()] };
}

/** `GenericXdsConfig` */
function typeStatus(typeUrl: string, resources: ClientResources): Uint8Array {
  const { lastError, sentAt } = resources;
  const sent = sentAt === 0 ? undefined : timestamp(sentAt);
  const error = lastError === "" ? undefined : new MessageWriter().bytes(2, sent).string(3, lastError).finish();
  return new MessageWriter().string(1, typeUrl).bytes(5, sent).varint(6, statusOf(resources)).bytes(8, error).finish();
}

function statusOf({ lastError, nonceSent, nonceAcked }: ClientResources): number {
  if (lastError !== "") return ERROR;
  if (nonceSent === "") return NOT_SENT;
  return nonceSent === nonceAcked ? SYNCED : STALE;
}

function timestamp(ms: number): Uint8Array {
  return new MessageWriter().varint(1, Math.floor(ms / 1000)).varint(2, ms % 1000 * 1e6).finish();
}
