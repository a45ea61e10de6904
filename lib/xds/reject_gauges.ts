/**
 * The gauges of rejections: 1 while a client rejects resources of a type, 0 after it has taken a later response. A
 * series lives as long as a stream of its node. The number of series is bounded, since nodes name themselves.
 *
 * @module
 */
import { Code, codeName } from "../grpc/codes.ts";
import type { XdsMetrics } from "./protocol/metrics.ts";
import { typeRules } from "./protocol/types.ts";

/** Series of single nodes; above, nodes are counted as `other`. A series takes about 150 bytes of a scrape. */
const MAX_SERIES = 1000;
/** UTF-16 units of a node id in a label. */
const MAX_NODE = 256;

type RejectGauge = "pilot_xds_cds_reject" | "pilot_xds_eds_reject" | "pilot_xds_lds_reject" | "pilot_xds_rds_reject";

const GAUGES: Readonly<Record<string, RejectGauge>> = {
  cds: "pilot_xds_cds_reject",
  eds: "pilot_xds_eds_reject",
  lds: "pilot_xds_lds_reject",
  rds: "pilot_xds_rds_reject",
};

interface RejectSeries {
  readonly gauge: RejectGauge;
  readonly labels: { readonly node: string; readonly err: string };
  /** Streams with a rejection under these labels. True: the rejection stands. */
  readonly streams: Map<object, boolean>;
  /** The number of streams with a standing rejection. Kept as a sum, because many streams may share a series. */
  rejecting: number;
}

/** Keeps the gauges. Any object can stand for a stream. */
export class RejectGauges {
  readonly #series = new Map<string, RejectSeries>();
  readonly #byStream = new Map<object, Set<RejectSeries>>();

  readonly #metrics: XdsMetrics;

  constructor(metrics: XdsMetrics) {
    this.#metrics = metrics;
  }

  /** A stream of a node has rejected a response of a type with a status code. */
  rejected(stream: object, node: string, typeUrl: string, code: number): void {
    const gauge = GAUGES[typeRules(typeUrl).short];
    if (gauge === undefined) return;
    const series = this.#find(gauge, node.slice(0, MAX_NODE), codeLabel(code));
    put(series, stream, true);
    const own = this.#byStream.get(stream);
    if (own === undefined) this.#byStream.set(stream, new Set([series]));
    else own.add(series);
    this.#show(series);
  }

  /** A stream takes everything of a type after a rejection. */
  accepted(stream: object, typeUrl: string): void {
    const gauge = GAUGES[typeRules(typeUrl).short];
    for (const series of this.#byStream.get(stream) ?? []) {
      if (series.gauge !== gauge) continue;
      put(series, stream, false);
      this.#show(series);
    }
  }

  /** A stream is over. */
  ended(stream: object): void {
    for (const series of this.#byStream.get(stream) ?? []) {
      put(series, stream, false);
      series.streams.delete(stream);
      if (series.streams.size > 0) this.#show(series);
      else {
        this.#series.delete(seriesKey(series.gauge, series.labels));
        this.#metrics.forget(series.gauge, series.labels);
      }
    }
    this.#byStream.delete(stream);
  }

  #find(gauge: RejectGauge, node: string, err: string): RejectSeries {
    const key = seriesKey(gauge, { node, err });
    const known = this.#series.get(key);
    if (known !== undefined) return known;
    if (this.#series.size >= MAX_SERIES && node !== OTHER) return this.#find(gauge, OTHER, err);
    const made: RejectSeries = { gauge, labels: { node, err }, streams: new Map(), rejecting: 0 };
    this.#series.set(key, made);
    return made;
  }

  #show({ gauge, labels, rejecting }: RejectSeries): void {
    this.#metrics.gauge(gauge, labels.node === OTHER ? rejecting : Math.min(1, rejecting), labels);
  }
}

function put(series: RejectSeries, stream: object, rejects: boolean): void {
  const before = series.streams.get(stream) ?? false;
  series.streams.set(stream, rejects);
  series.rejecting += Number(rejects) - Number(before);
}

function seriesKey(gauge: RejectGauge, { node, err }: RejectSeries["labels"]): string {
  return JSON.stringify([gauge, node, err]);
}

/** The value of label `node` for nodes beyond the bound, and of label `err` for unknown codes. */
const OTHER = "other";

function codeLabel(code: number): string {
  return code <= Code.UNAUTHENTICATED ? codeName(code) : OTHER;
}
