/**
 * The way of a request from a proxy to a URL, for programs.
 *
 * Permissions: read of the paths, env (`LOG_TOKENS` and `LOG_STREAM`, which the YAML package reads).
 *
 * @module
 */
import type { ProxyNode } from "../offline_mesh.ts";
import type { Explanation } from "../../debug/explanation.ts";
import { explainRequest } from "../explain/explain.ts";
import { onWay, worldOf } from "../explain/of_mesh.ts";
import { readQuestion } from "../explain/question.ts";
import { FieldPlaces } from "../field_place.ts";
import { findProxy } from "../find_proxy.ts";
import { meshOfTexts, type MeshTexts, throwFailures } from "./texts_mesh.ts";
import { proxiesOf } from "../workloads.ts";

/** A request, the proxy of its client, and the configuration. */
export interface FollowedRequest extends MeshTexts {
  /**
   * The client's proxy: a workload (`shop/cart`, `cart.shop`, an IP address), a node id, or a node with its metadata.
   * For a gateway (`router~...`) the request comes from outside and dials the gateway itself.
   */
  readonly from: string | ProxyNode;
  /** A URL (http, https, grpc, tcp, tls), or `host:port`. */
  readonly to: string;
  /** Default GET. */
  readonly method?: string;
  /** By name; `host` replaces the URL's. */
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Follows a request over both hops: the client's proxy, then the proxy of the reached endpoint. Each step names the
 * object behind the step, its field and line; each hop has the simulation of its proxy. Where a rule shares requests
 * out, `shares` has every way.
 *
 * ```ts
 * import { followRequest } from "@mesh/pilot";
 *
 * const { end, hops } = await followRequest({
 *   files: {
 *     "reviews.yaml": `
 *       apiVersion: networking.mesh.io/v1
 *       kind: ServiceEntry
 *       metadata: { name: reviews, namespace: shop }
 *       spec:
 *         hosts: [reviews.shop.svc.cluster.local]
 *         addresses: [10.96.0.10]
 *         location: MESH_INTERNAL
 *         ports: [{ number: 80, name: http, protocol: HTTP, targetPort: 9080 }]
 *         resolution: STATIC
 *         endpoints: [{ address: 10.0.0.1 }]`,
 *   },
 *   from: "sidecar~10.0.0.9~cart-1.shop~shop.svc.cluster.local",
 *   to: "http://reviews/api",
 * });
 * if (end.endpoint !== "10.0.0.1:9080" || hops.length !== 2) throw new Error(end.text);
 * ```
 *
 * @throws {BadQuestion} naming all mistakes in `to`, `method` and `headers`.
 * @throws {NoSuchProxy} when `from` fits no proxy; the message lists the known proxies.
 * @throws {UnreadableInput} naming every path that cannot be read.
 * @throws {RangeError} naming every problem of the mesh configuration.
 */
export async function followRequest(request: FollowedRequest): Promise<Explanation> {
  const { from, to, method, headers = {} } = request;
  const question = readQuestion({
    to,
    ...(method === undefined ? {} : { method }),
    headers: Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  });
  const { mesh, textOf } = await meshOfTexts(request);
  const { proxies: implied, options } = proxiesOf(mesh);
  const { proxy, note } = findProxy(typeof from === "string" ? from : from.id, implied, options);
  // The caller's facts about a node have precedence over the texts' facts about its workload.
  const node = typeof from === "string"
    ? proxy.node
    : { ...from, metadata: { ...proxy.node.metadata, ...from.metadata } };
  const proxies = [{ ...proxy, node }, ...implied.filter((one) => one.node.id !== node.id)];
  const explained = await explainRequest(
    question,
    onWay({ ...proxy, node }),
    worldOf(mesh, proxies, new FieldPlaces(textOf)),
  );
  throwFailures(mesh);
  return note === undefined ? explained : { ...explained, notes: [note, ...explained.notes] };
}
