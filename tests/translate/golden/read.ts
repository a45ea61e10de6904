/**
 * The files of goldens: a head, the objects of a world, and, after a separator, the resources of proxies.
 *
 *     # What the golden proves.
 *     kind: Golden
 *     proxy: { namespace: shop }
 *     ---
 *     apiVersion: networking.istio.io/v1
 *     kind: ServiceEntry
 *     ...
 *     --- # expected
 *     cluster/outbound|80||a.example.com:
 *       connect_timeout: ...
 *
 * @module
 */
import { parseAllDocuments } from "yaml";

/** A proxy of a golden. */
export interface GoldenProxy {
  /** Default `sidecar`. */
  readonly type?: "sidecar" | "router";
  /** Default `default`. */
  readonly namespace?: string;
  /** Default `app`. */
  readonly name?: string;
  /** Default {@linkcode PROXY_ADDRESS}. */
  readonly address?: string;
  readonly labels?: Readonly<Record<string, string>>;
  /** Node metadata beside the namespace and the labels. */
  readonly metadata?: Readonly<Record<string, unknown>>;
  /** `--service-cluster` of the proxy. Default: none. */
  readonly cluster?: string;
  /** The extensions of the proxy's build. Default: all. */
  readonly extensions?: readonly string[];
  /** Of a sidecar that asks: the hosts that its workload has called, by route configuration. Default: none. */
  readonly calls?: Readonly<Record<string, readonly string[]>>;
}

/** The parts of a world beside its objects. */
export interface GoldenSettings {
  /** The mesh configuration. */
  readonly mesh?: Readonly<Record<string, unknown>>;
  /** Variables of `pilot-discovery`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The networks of the mesh by name. */
  readonly networks?: Readonly<Record<string, unknown>>;
  /** Keys of token issuers by place. */
  readonly tokenKeys?: Readonly<Record<string, string>>;
  /** The proxy gets virtual hosts one by one. */
  readonly vhds?: boolean;
}

/** The plain world, for comparison with the golden's world. */
export interface PlainWorld extends GoldenSettings {
  /** Further kinds of objects in the plain world. Default: the kinds of {@linkcode GROUND}. */
  readonly kinds?: readonly string[];
  /** Laid over every proxy. */
  readonly proxy?: GoldenProxy;
}

/** The first document of a golden. */
export interface GoldenHead extends GoldenSettings {
  readonly kind: "Golden";
  /** The only proxy. */
  readonly proxy?: GoldenProxy;
  /** Several proxies by name. */
  readonly proxies?: Readonly<Record<string, GoldenProxy>>;
  /** Shown resources, as `type/name` with `*`. Default: all. */
  readonly show?: readonly string[];
  /** Default: the objects of the kinds of {@linkcode GROUND}, and the same proxies. `nothing`: all resources are shown. */
  readonly plain?: PlainWorld | "nothing";
}

/** The contents of a golden's file. */
export interface Golden {
  /** The file up to the line of {@linkcode EXPECTED}. */
  readonly input: string;
  readonly head: GoldenHead;
  readonly objects: readonly GoldenObject[];
}

/** An object in users' form. */
export interface GoldenObject {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The default address of a proxy. Endpoints with this address are the proxy's own workload. */
export const PROXY_ADDRESS = "10.9.9.9";

/** The line before the expected resources. */
export const EXPECTED = "--- # expected\n";

/** Kinds of objects that a plain world also has: services and workloads. */
export const GROUND: readonly string[] = [
  "Service",
  "EndpointSlice",
  "Pod",
  "Node",
  "Namespace",
  "ServiceEntry",
  "WorkloadEntry",
];

/** Reads a golden. Ignores everything after {@linkcode EXPECTED}. */
export function readGolden(text: string): Golden {
  const input = text.split(EXPECTED)[0]!;
  const documents = parseAllDocuments(input, { merge: true }).map((document) => {
    if (document.errors[0] !== undefined) throw document.errors[0];
    return document.toJS({ maxAliasCount: 100 }) as GoldenObject;
  });
  const [head, ...objects] = documents.filter((document) => document !== null);
  if (head?.kind !== "Golden") throw new RangeError("the first document of a golden is of kind Golden");
  return { input, head: head as unknown as GoldenHead, objects };
}

/** The proxies of a golden by name. */
export function proxiesOf({ proxy, proxies }: GoldenHead): ReadonlyMap<string, GoldenProxy> {
  return new Map(proxies ? Object.entries(proxies) : [["proxy", proxy ?? {}]]);
}
