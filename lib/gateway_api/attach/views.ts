/**
 * Views of Gateways, each made once for all routes.
 *
 * Thousands of routes need the view of one Gateway. A view is kept together with the reads that it was made from. Each
 * later caller repeats these reads with the caller's own reader: so the record of the caller's reads is complete. If an
 * answer has changed, the view is made again.
 *
 * @module
 */
import type { ConfigObject } from "../../config/types.ts";
import { gatewayView, setsOf } from "./gateway_view.ts";
import { isSame, type NotedReads, NotingReader } from "./noted_reads.ts";
import type { AttachOptions, GatewayView, ViewReader } from "./types.ts";

interface KeptView {
  readonly view: GatewayView | undefined;
  readonly reads: NotedReads;
}

/** The views of Gateways under one set of options. */
export class GatewayViews {
  readonly #options: AttachOptions;
  readonly #kept = new WeakMap<ConfigObject<"ApiGateway">, KeptView>();

  constructor(options: AttachOptions) {
    this.#options = options;
  }

  /** The view of a Gateway; undefined: another implementation serves the Gateway. */
  of(gateway: ConfigObject<"ApiGateway">, read: ViewReader): GatewayView | undefined {
    const kept = this.#kept.get(gateway);
    if (kept !== undefined && isSame(kept.reads, read)) return kept.view;
    const reads: NotedReads = new Map();
    const noting = new NotingReader(read, reads);
    const view = gatewayView(gateway, setsOf(gateway, noting), noting, this.#options);
    this.#kept.set(gateway, { view, reads });
    return view;
  }
}
