/**
 * The files of goldens: a head, the objects of a world, and, behind a line, what proxies get of them.
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
}

/** What a world has beside its objects. */
export interface GoldenSettings {
  /** The mesh configuration. */
  readonly mesh?: Readonly<Record<string, unknown>>;
  /** Variables of `pilot-discovery`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The networks of the mesh by name. */
  readonly networks?: Readonly<Record<string, unknown>>;
  /** Keys of token issuers by their place. */
  readonly tokenKeys?: Readonly<Record<string, string>>;
  /** Virtual hosts go to the proxy one by one. */
  readonly vhds?: boolean;
}

/** The plain world: what the world of a golden is compared with. */
export interface PlainWorld extends GoldenSettings {
  /** Kinds of objects that it has, too. Default: those of {@linkcode GROUND}. */
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
  /** Resources that are shown, as `type/name` with `*`. Default: all. */
  readonly show?: readonly string[];
  /** Default: the objects of the kinds of {@linkcode GROUND}, and the same proxies. `nothing`: all resources are shown. */
  readonly plain?: PlainWorld | "nothing";
}

/** A golden as its file has it. */
export interface Golden {
  /** The file up to the line of {@linkcode EXPECTED}. */
  readonly input: string;
  readonly head: GoldenHead;
  readonly objects: readonly GoldenObject[];
}

/** An object as users write it. */
export interface GoldenObject {
  readonly kind: string;
  readonly [field: string]: unknown;
}

/** The address of a proxy that names none. Endpoints with it are the proxy's own workload. */
export const PROXY_ADDRESS = "10.9.9.9";

/** The line before the expected resources. */
export const EXPECTED = "--- # expected\n";

/** Kinds of objects that a plain world has as well: services and workloads. */
export const GROUND: readonly string[] = [
  "Service",
  "EndpointSlice",
  "Pod",
  "Node",
  "Namespace",
  "ServiceEntry",
  "WorkloadEntry",
];

/** Reads a golden. What stands behind {@linkcode EXPECTED} is not looked at. */
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
