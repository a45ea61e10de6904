/**
 * A kind of result is a row of a table. The row says how results are built, named, kept, counted and shared. The
 * caches, the groups of proxies, the metrics and the pages follow from the rows.
 *
 * @module
 */
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { ReportNote } from "../../message/notes.ts";
import type { ScopeReader } from "../../reader/scope_reader.ts";
import type { ProxyProfile } from "../../reader/proxy_profile.ts";
import type { OpenReader } from "../../reader/reader.ts";

/** The name of a failed result in logs, and the discovery services without their resources. */
export interface BuildKind {
  readonly name: string;
  readonly services: readonly ("cds" | "ecds" | "eds" | "lds" | "nds" | "rds")[];
}

/** The names of failed results. */
export const BUILD = {
  base: { name: "base", services: ["cds", "lds"] },
  clusters: { name: "clusters", services: ["cds"] },
  endpoints: { name: "endpoints", services: ["eds"] },
  extensions: { name: "extensions", services: ["ecds"] },
  gateways: { name: "gateways", services: ["lds", "rds"] },
  inbound: { name: "inbound", services: ["cds", "lds"] },
  listeners: { name: "listeners", services: ["lds"] },
  names: { name: "names", services: ["nds"] },
  routes: { name: "routes", services: ["rds"] },
  virtualHosts: { name: "virtual hosts", services: ["rds"] },
} as const satisfies Readonly<Record<string, BuildKind>>;

/** Called when a builder threw. */
export type BuildFailed = (kind: BuildKind, name: string, error: unknown) => void;

/**
 * The names of a row's results.
 *
 * - `host`: hosts of the mesh. A new host is looked up.
 * - `sole`: a single result, with an empty name.
 * - `route`: route configurations.
 * - `listener`: outbound listeners, made from results of hosts.
 * - `workload`: facts about a workload, such as ports. Proxies of equal workloads share the result.
 */
export type ResultNaming = "host" | "sole" | "route" | "listener" | "workload";

/** Builds a result from the reader's answers and the input. */
export type ResultBuilder<T, I> = (read: OpenReader, name: string, input: I, report: ReportNote) => T;

/** An encoded resource on a page. */
export type ListedResource = Pick<EncodedResource, "typeUrl" | "name" | "value">;

/** Sets of resources by type URL. */
export type SetsByType = Readonly<Record<string, ResourceSet>>;

/** The proxies of a row with a group. */
export interface GroupCondition {
  /** Kind of fact about a workload: a changed fact may change the answer. */
  readonly on: string;
  readonly holds: (source: ScopeReader) => boolean;
}

/** A set of resources, made of a result for each host. */
export interface HostSetGroup {
  readonly form: "set";
  /** Type URL of the resources. */
  readonly type: string;
  /** A gateway has only resources for the destinations of its Gateway objects, if a setting asks for that. */
  readonly narrowed?: true;
  /** Default: all proxies of the row have the group. */
  readonly when?: GroupCondition;
}

/** The sets of resources in a single result. */
export interface SoleGroup<T> {
  readonly form: "sole";
  sets(value: T): SetsByType;
  /** Further resources, unless another resource of the type has the same name. */
  added?(value: T): SetsByType;
}

/** How proxies share the results of a row. The last two forms join the results with results of hosts. */
export type GroupRow<T> =
  | HostSetGroup
  | SoleGroup<T>
  | { readonly form: "listeners" | "routes" };

/** A row without a group. */
export interface ResultParts<T, I = undefined> {
  readonly of: ResultNaming;
  /**
   * Makes the builder of a translator.
   *
   * @param empty The set without resources. All sets are made from it.
   */
  builder(empty: ResourceSet): ResultBuilder<T, I>;
  /** Stands in after an exception of the builder, for proxies without an earlier result. */
  fallback(empty: ResourceSet): T;
  readonly failure: BuildKind;
  /** The switch of the cache. Default: only the switch of all caches. */
  readonly cache?: "clusters" | "routes";
  /** Whether two inputs of a name are the same. Default: by identity. */
  sameInput?(a: I, b: I): boolean;
  /** The encoded resources in a result, for pages. Default: none. */
  resources?(value: T): Iterable<ListedResource>;
  /** The kinds of proxies with such results. Default: all. */
  readonly for?: (profile: ProxyProfile) => boolean;
  /** Built when a proxy's agent asks, not when the proxy joins. */
  readonly onDemand?: true;
  /** Notes count only while a proxy has the result, because results outlive the objects in their notes. */
  readonly notesInUse?: true;
}

export interface ResultRow<T, I = undefined, G extends GroupRow<T> | undefined = undefined> extends ResultParts<T, I> {
  /** Absent: proxies get the results as parts of another row's results. */
  readonly group?: G;
}

/** A row of whatever results. */
export type AnyResultRow = ResultRow<unknown, never, GroupRow<unknown> | undefined>;

/** A row without a group. */
export function result<T, I = undefined>(row: ResultParts<T, I>): ResultRow<T, I> {
  return row;
}

/** A row of hosts' resources of a type. */
export function ofHosts(
  { type, narrowed, when, builder, ...row }:
    & Pick<ResultParts<readonly EncodedResource[]>, "failure" | "cache" | "for" | "builder">
    & Omit<HostSetGroup, "form">,
): ResultRow<readonly EncodedResource[], undefined, HostSetGroup> {
  return {
    ...row,
    of: "host",
    builder,
    fallback: () => [],
    resources: (value) => value,
    group: { form: "set", type, ...narrowed && { narrowed }, ...when && { when } },
  };
}

/** A row with sets in a single result. */
export function ofSets<T>(
  { sets, added, ...row }: Omit<ResultParts<T>, "of"> & Omit<SoleGroup<T>, "form">,
): ResultRow<T, undefined, SoleGroup<T>> {
  return { ...row, of: "sole", group: { form: "sole", sets, ...added && { added } } };
}

/** A row of results that are joined with results of hosts. */
export function joined<const F extends "listeners" | "routes", T, I = undefined>(
  form: F,
  row: ResultParts<T, I>,
): ResultRow<T, I, { readonly form: F }> {
  return { ...row, group: { form } };
}
