/**
 * A client of discovery that asks for pages, with a token or without.
 *
 * Permissions: net (loopback).
 *
 * @module
 */
import { ClientCall } from "../../lib/grpc/client/client_call.ts";
import { ClientConnection } from "../../lib/grpc/client/client_connection.ts";
import { dial } from "../../lib/grpc/client/dial.ts";
import { codeName } from "../../lib/grpc/codes.ts";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { struct } from "../../lib/pb/wellknown.ts";
import { PATIENCE } from "../patience.ts";

const ADS = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
const CLUSTERS = "type.googleapis.com/envoy.config.cluster.v3.Cluster";

interface Response {
  readonly type_url: string;
  readonly nonce: string;
  readonly control_plane?: { readonly identifier: string };
  readonly resources?: readonly { readonly type_url: string; readonly value: Uint8Array }[];
}

export class QuestionClient implements Disposable {
  readonly #connection: ClientConnection;
  readonly #call: ClientCall;
  #node: object | undefined;
  /** Nonce of the last response with clusters. */
  #nonce = "";
  /** All responses, in order. */
  readonly responses: Response[] = [];
  #next = Promise.withResolvers<Response>();
  /** Code and text of the stream's end. */
  #ended: readonly [string, string] | undefined;

  private constructor(connection: ClientConnection, node: object, token: string | undefined) {
    this.#connection = connection;
    this.#node = node;
    const metadata = token === undefined ? {} : { authorization: `Bearer ${token}` };
    this.#call = new ClientCall(connection, { authority: "server", path: ADS, metadata, maxMessageSize: 1 << 26 }, {
      message: (bytes) => {
        const response = decode<Response>("envoy.service.discovery.v3.DiscoveryResponse", bytes);
        this.responses.push(response);
        this.#next.resolve(response);
      },
      end: (status) => {
        this.#ended = [codeName(status?.code ?? 0), status?.message ?? ""];
        this.#next.reject(this.#ended);
      },
    });
  }

  /** @param metadata of the client's node */
  static async connect(port: number, id: string, token?: string, metadata?: object): Promise<QuestionClient> {
    const node = { id, ...(metadata && { metadata: struct({ ...metadata }) }) };
    return new QuestionClient(new ClientConnection(await dial({ host: "127.0.0.1", port }, PATIENCE)), node, token);
  }

  /** Becomes a proxy with clusters. */
  async subscribe(): Promise<void> {
    const { nonce } = await this.#request({ type_url: CLUSTERS });
    this.#nonce = nonce;
    this.#send({ type_url: CLUSTERS, response_nonce: nonce });
  }

  /** Asks for resources of a type, and waits for nothing. */
  watch(typeUrl: string): void {
    this.#send({ type_url: typeUrl });
  }

  /** Rejects the clusters after all. */
  reject(message: string): void {
    this.#send({ type_url: CLUSTERS, response_nonce: this.#nonce, error_detail: { code: 13, message } });
  }

  /** Reports the health of the client's workload, like an agent. */
  reportHealth(healthy: boolean, reason = "not well"): void {
    const type = "type.googleapis.com/istio.v1.HealthInformation";
    this.#send({ type_url: type, ...(!healthy && { error_detail: { code: 500, message: reason } }) });
  }

  /** The response to a question, or the end of the stream. */
  async resources(
    typeUrl: string,
    ...names: string[]
  ): Promise<NonNullable<Response["resources"]> | readonly [string, string]> {
    try {
      return (await this.#request({ type_url: typeUrl, resource_names: names })).resources ?? [];
    } catch (error) {
      if (this.#ended === undefined) throw error;
      return this.#ended;
    }
  }

  /** The text of a page, or the code of a refusal. */
  async page(...names: string[]): Promise<string> {
    const [first] = await this.resources("istio.io/debug", ...names);
    return typeof first === "object" ? new TextDecoder().decode(first.value) : first ?? "";
  }

  #request(request: object): Promise<Response> {
    this.#next = Promise.withResolvers();
    this.#send(request);
    return this.#next.promise;
  }

  #send(request: object): void {
    const node = this.#node;
    this.#node = undefined;
    this.#call.send(encode("envoy.service.discovery.v3.DiscoveryRequest", { ...request, ...(node && { node }) }));
  }

  [Symbol.dispose](): void {
    this.#connection.close();
  }
}
