/**
 * The access logger of the standard metrics (`envoy.access_loggers.stats`), which Envoy calls work in progress.
 *
 * @module
 */
import { AccessLogType, Config_Histogram_Unit as Unit } from "../../../../proto/gen/enums.ts";
import type { envoy } from "../../../../proto/gen/types.ts";
import { tagExpression } from "../../../config/kinds/telemetry/tag_expression.ts";
import { SERIES_LIMITS } from "../../../config/mesh/series_limits.ts";
import type { TelemetrySide } from "../../../mesh/telemetry/access_logging.ts";
import type { MetricChange, MetricsUse } from "../../../mesh/telemetry/metrics.ts";
import { any } from "../../../pb/codec.ts";
import { wrap } from "../../../pb/wellknown.ts";
import { hasExtension } from "../../filters/extension.ts";
import { aspect } from "../../reader/aspect.ts";
import type { Reader } from "../../reader/reader.ts";
import { extensionProvider, isUnusable } from "../provider.ts";
import { PEER_NAMESPACE } from "./gathered.ts";
import { PEER_KEY } from "./peer.ts";
import { gathersFacts } from "./peer_exchange.ts";
import { type StandardStatistic, STATISTICS, type StatisticsMoment } from "./statistics.ts";
import { cel, firstOf, UNKNOWN } from "./tag_value.ts";
import { type MeasuredPlace, type MetricsPlace, standardTags } from "./tags.ts";

/** A CEL string, or a part that may hold a name. */
const TEXTS_AND_NAMES = /"(?:[^"\\]|\\[^])*(?:"|\\?$)|'(?:[^'\\]|\\[^])*(?:'|\\?$)|[\w.]+/g;

/**
 * The value of a tag from a user's expression, as text that the proxy evaluates. Expressions are written for Istio's
 * proxy, so some attributes are renamed for Envoy. An expression that the proxy cannot evaluate gives `unknown`.
 */
export function expressionValue(expression: string, side: TelemetrySide): string {
  const read = tagExpression(expression);
  if ("problem" in read) return "unknown";
  const peer = `metadata.filter_metadata['${PEER_NAMESPACE}']['${PEER_KEY}']`;
  const other = side === "client" ? "upstream_peer" : "downstream_peer";
  const renamed = read.expression.replaceAll(TEXTS_AND_NAMES, (found, at: number, whole: string) => {
    const [name = "", ...fields] = found.split(".");
    const isObject = fields.length > 0 || whole[at + found.length] === "[";
    const own = name === "node" ? "xds.node" : name === other ? peer : undefined;
    return own === undefined || !isObject ? found : [own, ...fields].join(".");
  });
  // A bracket before a percent sign would end the command.
  return firstOf(cel(renamed.replaceAll(")%", ") %")), UNKNOWN);
}

type AccessLog = envoy.config.accesslog.v3.AccessLog;
type MomentFilter = envoy.config.accesslog.v3.AccessLogFilter;
type StatsConfig = envoy.extensions.access_loggers.stats.v3.Config;
type Stat = NonNullable<NonNullable<StatsConfig["counters"]>[number]["stat"]>;

/** Name of the extension. */
const STATS_LOGGER = "envoy.access_loggers.stats";

/** Prefix of the names. Envoy prints `envoy_istio_`, and the agent turns this into `istio_`. */
const PREFIX = "istio";

/**
 * Name of the loggers' scope. Loggers with the same name and limits share a scope, so limits apply to the whole
 * process.
 */
export const SHARED_SCOPE = "mesh.metrics";

/**
 * Flags of connections that never reached an endpoint: none healthy, none reached, no route, no cluster, too many,
 * denied.
 */
const UNCONNECTED_FLAGS = ["UH", "UF", "NR", "NC", "UO", "UAEX", "DF"];

/** The metrics from Telemetries and default providers. Undefined: none. */
export function measuredMetrics(read: Reader, side: TelemetrySide): MetricsUse | undefined {
  const use = read.metrics(side).find(({ provider }) =>
    !isUnusable(extensionProvider(read.mesh(), provider, "metrics"))
  );
  return use && hasExtension(read, STATS_LOGGER) ? use : undefined;
}

/** The metrics loggers from Telemetries and default providers. Empty: none. */
export function metricsLogs(read: Reader, at: MetricsPlace): readonly AccessLog[] {
  const use = measuredMetrics(read, at.side);
  if (use === undefined) return [];
  const waypoint = aspect(read, "waypoint") ? { waypoint: true } as const : {};
  return knownLoggers(use, { ...at, ...waypoint, exchanged: at.place === "http" && gathersFacts(read) });
}

/**
 * Loggers by place, kept as long as their settings. Each logger has some kB of tags, equal for all listeners of all
 * proxies of a side.
 */
const known = new WeakMap<MetricsUse, Map<string, readonly AccessLog[]>>();

function knownLoggers(use: MetricsUse, at: MeasuredPlace): readonly AccessLog[] {
  const key = `${at.side} ${at.place} ${at.trustsHost} ${at.hbone === true} ${at.exchanged} ${at.waypoint === true}`;
  let places = known.get(use);
  if (places === undefined) known.set(use, places = new Map());
  let loggers = places.get(key);
  if (loggers === undefined) {
    const tags = standardTags(at);
    places.set(key, loggers = STATISTICS[at.place].flatMap((moment) => loggerOf(moment, tags, use, at)));
  }
  return loggers;
}

function loggerOf(
  moment: StatisticsMoment,
  tags: ReadonlyMap<string, string>,
  use: MetricsUse,
  at: MetricsPlace,
): AccessLog[] {
  const wanted = moment.statistics.filter((one) => changeOf(use, one).disabled !== true);
  if (wanted.length === 0) return [];
  const stat = (one: StandardStatistic): Stat => ({ name: one.name, tags: changedTags(tags, changeOf(use, one), at) });
  const counters = wanted.flatMap((one) => {
    if (one.adds === undefined) return [];
    return [{ stat: stat(one), ...(one.adds === 1 ? { value_fixed: wrap(1) } : { value_format: one.adds }) }];
  });
  const histograms = wanted.flatMap((one) =>
    one.measures ? [{ stat: stat(one), unit: Unit[one.measures.unit], value_format: one.measures.value }] : []
  );
  const config: StatsConfig = {
    stats_scope: {
      prefix: PREFIX,
      sharing_name: SHARED_SCOPE,
      max_counters: wrap(SERIES_LIMITS.counters),
      max_histograms: wrap(SERIES_LIMITS.histograms),
      enable_eviction: true,
    },
    ...(histograms.length > 0 ? { histograms } : {}),
    ...(counters.length > 0 ? { counters } : {}),
  };
  const typed_config = any("envoy.extensions.access_loggers.stats.v3.Config", config);
  return [{ name: STATS_LOGGER, ...momentFilter(moment), typed_config }];
}

/** The changes of a statistic, by the name in Telemetries and by the metric's own name. */
export function changeOf({ changes }: MetricsUse, { metric, name }: StandardStatistic): MetricChange {
  return {
    ...changes[metric],
    ...changes[name],
    tags: { ...changes[metric]?.tags, ...changes[name]?.tags },
  };
}

function changedTags(
  standard: ReadonlyMap<string, string>,
  { tags = {} }: MetricChange,
  at: MetricsPlace,
): NonNullable<Stat["tags"]> {
  const all = new Map(standard);
  for (const [name, expression] of Object.entries(tags)) {
    if (expression === null) all.delete(name);
    else if (name !== "") all.set(name, expressionValue(expression, at.side));
  }
  return [...all].map(([name, value_format]) => ({ name, value_format }));
}

/** A request is logged once, at its end. */
function momentFilter({ log, orUnconnected }: StatisticsMoment): Pick<AccessLog, "filter"> {
  if (log === undefined) return {};
  const then = ofType(log);
  if (!orUnconnected) return { filter: then };
  const unconnected: MomentFilter = { response_flag_filter: { flags: [...UNCONNECTED_FLAGS] } };
  const atEnd: MomentFilter = { and_filter: { filters: [ofType("TcpConnectionEnd"), unconnected] } };
  return { filter: { or_filter: { filters: [then, atEnd] } } };
}

function ofType(log: keyof typeof AccessLogType): MomentFilter {
  return { log_type_filter: { types: [AccessLogType[log]] } };
}
