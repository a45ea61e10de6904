/**
 * Statistics of a proxy: which statistics the proxy keeps, and which parts of their names become tags.
 *
 * @module
 */
import { areBuckets, isStatsPattern, STATS_PATTERN } from "../../config/mesh/stats_choice.ts";
import type { ProxySettings } from "../../config/mesh/types.ts";
import type { EnvoyJson } from "./envoy_json.ts";

/** Inputs to the choice of statistics. */
export interface StatsInput {
  readonly proxy: Pick<ProxySettings, "extraStatTags" | "proxyStatsMatcher">;
  readonly annotations: Readonly<Record<string, string>>;
  readonly addresses: readonly string[];
  /** Whether connections are counted while draining. */
  readonly countsConnections: boolean;
}

/** Annotations of a workload that choose the proxy's statistics, without the annotations' domain. */
const ANNOTATIONS = {
  tags: "extraStatTags",
  prefixes: "statsInclusionPrefixes",
  suffixes: "statsInclusionSuffixes",
  regexps: "statsInclusionRegexps",
  buckets: "statsHistogramBuckets",
  compression: "statsCompression",
} as const;

/**
 * Statistics that are always kept, beside the chosen statistics: the readiness check and dashboards made for Istio read
 * them.
 */
const ALWAYS = {
  prefixes: [
    ...["reporter=", "component", "istio", "mesh", "cluster_manager", "listener_manager", "server"],
    ...["cluster.xds-grpc", "wasm"],
  ],
  suffixes: ["rbac.allowed", "rbac.denied", "shadow_allowed", "shadow_denied"],
  regexps: ["vhost\\..*\\.route\\..*"],
};
/** The number of open connections. Draining reads this statistic. */
const CONNECTIONS = "downstream_cx_active";

/** The annotation of a workload in either spelling. */
export function statsAnnotation(
  annotations: Readonly<Record<string, string>>,
  name: keyof typeof ANNOTATIONS,
): string | undefined {
  const key = ANNOTATIONS[name];
  return annotations[`sidecar.mesh.io/${key}`] ?? annotations[`sidecar.istio.io/${key}`];
}

/** A choice without an effect, from an annotation or from the settings. */
export interface StatsFinding {
  readonly annotation: string;
  readonly value: string;
  readonly expected: string;
}

/** The message `StatsConfig`, and the unusable annotations. */
export function statsConfig(
  input: StatsInput,
): { readonly config: EnvoyJson; readonly problems: readonly StatsFinding[] } {
  const { proxy, annotations, addresses } = input;
  const listed = (name: "tags" | "prefixes" | "suffixes" | "regexps") =>
    statsAnnotation(annotations, name)?.split(",").filter((part) => part !== "");
  const matcher = proxy.proxyStatsMatcher ?? {};
  const problems: StatsFinding[] = [];
  /** The choice of the annotation, otherwise of the settings, without patterns that Envoy would refuse. */
  const chosen = (name: "prefixes" | "suffixes" | "regexps", own: readonly string[] = []) => {
    const kind = name === "regexps" ? "regex" : "text";
    return (listed(name) ?? own).filter((pattern) => {
      const fits = isStatsPattern(pattern, kind);
      if (!fits) problems.push({ annotation: ANNOTATIONS[name], value: pattern, expected: STATS_PATTERN });
      return fits;
    });
  };
  const withAddresses = (patterns: readonly string[]) =>
    patterns.flatMap((one) => one.includes(POD_IP) ? addresses.map((ip) => one.replaceAll(POD_IP, ip)) : [one]);
  const prefixes = withAddresses([...chosen("prefixes", matcher.inclusionPrefixes), ...ALWAYS.prefixes]);
  const counted = input.countsConnections ? [CONNECTIONS] : [];
  const suffixes = [...chosen("suffixes", matcher.inclusionSuffixes), ...ALWAYS.suffixes, ...counted];
  const regexps = [...chosen("regexps", matcher.inclusionRegexps), ...ALWAYS.regexps];
  const extra = new Set([...proxy.extraStatTags ?? [], ...listed("tags") ?? []]);
  const buckets = histogramBuckets(statsAnnotation(annotations, "buckets"));
  const patterns = [
    ...unique(prefixes).map((prefix) => ({ prefix })),
    ...unique(suffixes).map((suffix) => ({ suffix })),
    ...unique(regexps).map((regex) => ({ safe_regex: { regex } })),
  ];
  const config = {
    use_all_default_tags: false,
    stats_tags: [...TAGS, ...[...extra].filter((tag) => tag !== "").map(extraTag)],
    ...(buckets === undefined || buckets.length === 0 ? {} : { histogram_bucket_settings: buckets }),
    stats_matcher: { inclusion_list: { patterns } },
  };
  if (buckets === undefined) {
    const expected = 'a JSON object of numbers above 0 by prefix, each once, such as {"http":[1,5,10]}';
    problems.push({ annotation: ANNOTATIONS.buckets, value: statsAnnotation(annotations, "buckets") ?? "", expected });
  }
  return { config, problems };
}

/** Stands in a prefix for each address of the workload. */
const POD_IP = "{pod_ip}";

function unique(texts: readonly string[]): string[] {
  return [...new Set(texts)];
}

/** Histogram buckets from the annotation. Undefined: the text of the annotation is wrong. */
function histogramBuckets(text: string | undefined): EnvoyJson[] | undefined {
  if (text === undefined) return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  const isRight = ([prefix, bounds]: [string, unknown]) => prefix !== "" && Array.isArray(bounds) && areBuckets(bounds);
  if (!entries.every(isRight)) return undefined;
  return entries.map(([prefix, buckets]) => ({ match: { prefix: ownPrefix(prefix) }, buckets }));
}

/** Metrics are named `istiocustom.istio_request_bytes` in Istio's proxy, and `istio.request_bytes` here. */
function ownPrefix(prefix: string): string {
  return prefix.replace(/^istiocustom(?:\.(?:istio_)?)?/, "istio.");
}

/** Addresses in names of statistics, IPv4 or IPv6 in brackets, where colons have become underscores. */
const ADDRESS = "(?:\\[[0-9a-fA-F_.]*\\]|[0-9a-fA-F_.]+)_\\d+";

const tag = (tag_name: string, regex: string): EnvoyJson => ({ tag_name, regex });

/** The first group is removed from the name. The second group is the tag's value. */
const TAGS: readonly EnvoyJson[] = [
  // A cluster's name has dots. The names of clusters from a server end with a semicolon.
  tag("cluster_name", "^cluster\\.((.+?(?=;\\.)|[^.;]+);?\\.)"),
  tag("tcp_prefix", "^tcp\\.((.+?)\\.)\\w+$"),
  tag("response_code", "_rq(_(\\d{3}))$"),
  tag("response_code_class", "_rq(_(\\dxx))$"),
  tag("http_conn_manager_listener_prefix", `^listener\\..+?\\.http\\.((${ADDRESS})\\.)`),
  tag("http_conn_manager_prefix", `^http\\.((${ADDRESS})\\.)`),
  tag("listener_address", `^listener\\.((${ADDRESS})\\.)`),
  tag("mongo_prefix", "^mongo\\.((.+?)\\.)(?:collection|cmd|cx_|op_|delays_|decoding_)"),
  tag("authz_enforce_result", "rbac(\\.(allowed|denied))$"),
  tag("authz_dry_run_action", "(\\.(?:mesh|istio)_dry_run_(allow|deny)_)"),
  tag("authz_dry_run_result", "(\\.shadow_(allowed|denied))"),
  tag("cache", "(cache\\.(.+?)\\.)"),
  tag("component", "(component\\.(.+?)\\.)"),
  tag("tag", "(tag\\.(.+?);\\.)"),
];

/** Some filters write tags of their own into names of statistics, as `name=.=value;.;`. */
function extraTag(name: string): EnvoyJson {
  return tag(name, `(${name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}=\\.=(.*?);\\.;)`);
}
