/**
 * Metrics of a proxy's answers to responses: accepted or rejected, by type.
 *
 * @module
 */
import { Code, codeName } from "../../grpc/codes.ts";
import type { Metrics } from "../../kernel/metrics/registry.ts";
import { readAnswer, type RelayVariant } from "./messages.ts";

/** Short names of types, as in the server's metrics. Other types count as `other`. */
const SHORT: Readonly<Record<string, string>> = {
  "type.googleapis.com/envoy.config.cluster.v3.Cluster": "cds",
  "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment": "eds",
  "type.googleapis.com/envoy.config.listener.v3.Listener": "lds",
  "type.googleapis.com/envoy.config.route.v3.RouteConfiguration": "rds",
  "type.googleapis.com/envoy.config.route.v3.VirtualHost": "vhds",
  "type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret": "sds",
  "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig": "ecds",
};

/** A type whose last response the proxy has rejected. */
interface RejectedType {
  readonly nonce: string;
  readonly err: string;
}

/**
 * Counts the rejections on the proxy's present stream. `pilot_total_xds_rejects` counts each rejection. The gauges of
 * clusters, endpoints, listeners and routes are 1 while the last response of the type is rejected, 0 after a later
 * response was accepted, and gone with the stream.
 */
export class ProxyAnswers {
  readonly #metrics: Metrics;
  readonly #node: string;
  #stream = 0;
  /** By short name of the type. */
  readonly #rejected = new Map<string, RejectedType>();
  /** Codes with a series, by short name of the type. */
  readonly #shown = new Map<string, Set<string>>();

  /** @param node id of the proxy, the gauges' label */
  constructor(metrics: Metrics, node: string) {
    this.#metrics = metrics;
    this.#node = node;
  }

  /** The proxy has opened a stream. Its answers on the stream before no longer count. */
  opened(stream: number): void {
    this.#forget();
    this.#stream = stream;
  }

  /** The proxy has sent a request. */
  requested(stream: number, variant: RelayVariant, bytes: Uint8Array): void {
    if (stream !== this.#stream) return;
    const { typeUrl, nonce, code } = readAnswer(variant, bytes);
    if (nonce === "") return;
    const type = SHORT[typeUrl] ?? "other";
    const before = this.#rejected.get(type);
    if (code !== undefined) {
      this.#metrics.counter("pilot_total_xds_rejects").inc({ type });
      const err = code <= Code.UNAUTHENTICATED ? codeName(code) : "other";
      if (before !== undefined && before.err !== err) this.#set(type, before.err, 0);
      this.#rejected.set(type, { nonce, err });
      this.#set(type, err, 1);
    } else if (before !== undefined && before.nonce !== nonce) {
      // With the same nonce the proxy asks for other names, and still has not accepted the response.
      this.#rejected.delete(type);
      this.#set(type, before.err, 0);
    }
  }

  /** A stream is over. */
  closed(stream: number): void {
    if (stream === this.#stream) this.#forget();
  }

  #set(type: string, err: string, value: number): void {
    this.#gauge(type)?.set({ node: this.#node, err }, value);
    this.#shown.getOrInsertComputed(type, () => new Set()).add(err);
  }

  #forget(): void {
    for (const [type, codes] of this.#shown) {
      for (const err of codes) this.#gauge(type)?.remove({ node: this.#node, err });
    }
    this.#shown.clear();
    this.#rejected.clear();
  }

  #gauge(type: string) {
    switch (type) {
      case "cds":
        return this.#metrics.gauge("pilot_xds_cds_reject");
      case "eds":
        return this.#metrics.gauge("pilot_xds_eds_reject");
      case "lds":
        return this.#metrics.gauge("pilot_xds_lds_reject");
      case "rds":
        return this.#metrics.gauge("pilot_xds_rds_reject");
    }
  }
}
