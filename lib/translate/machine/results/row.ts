/**
 * A kind of result as one row of a table: how it is built, named, kept, counted and shared. The caches, the groups of
 * proxies, the metrics and the pages follow from the rows.
 *
 * @module
 */
import type { EncodedResource } from "../../../resource/encoded.ts";
import type { ResourceSet } from "../../../resource/set.ts";
import type { ReportNote } from "../../message/notes.ts";
import type { MeshAnswers } from "../../reader/mesh_answers.ts";
import type { ProxyProfile } from "../../reader/proxy_profile.ts";
import type { Reader } from "../../reader/reader.ts";

/** A name of results for failures, and the discovery services that lack resources then. */
export interface BuildKind {
  readonly name: string;
  readonly services: readonly ("cds" | "ecds" | "eds" | "lds" | "nds" | "rds")[];
}

/** The names of results that failures have. */
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
 * - `host`: hosts of the mesh. A host that appears is looked at.
 * - `sole`: there is one result, whose name is empty.
 * - `route`: route configurations.
 * - `listener`: outbound listeners; made from results of hosts.
 * - `workload`: facts about one workload, such as its ports. Proxies of equal workloads share the result.
 */
export type ResultNames = "host" | "sole" | "route" | "listener" | "workload";

/** Builds one result; asks only the reader, beside its input. */
export type ResultBuilder<T, I> = (read: Reader, name: string, input: I, report: ReportNote) => T;

/** An encoded resource as pages list it. */
export type ListedResource = Pick<EncodedResource, "typeUrl" | "name" | "value">;

/** Sets of resources by type URL. */
export type SetsByType = Readonly<Record<string, ResourceSet>>;

/** One set of resources, made of one result a host. */
export interface HostSetGroup {
  readonly form: "set";
  /** Type URL of the resources. */
  readonly type: string;
  /** A gateway has resources of the hosts alone that its Gateway objects lead to, where a setting says so. */
  readonly narrowed?: true;
  /** The proxies that have the group, among those of the row. Absent: all. */
  readonly when?: (source: MeshAnswers) => boolean;
}

/** The sets of resources in the one result of a row. */
export interface SoleGroup<T> {
  readonly form: "sole";
  sets(value: T): SetsByType;
  /** Resources that a proxy gets too, unless another resource of the type has the name. */
  added?(value: T): SetsByType;
}

/** How proxies share the results of a row. The last two forms join results of hosts with those of the row. */
export type GroupRow<T> =
  | HostSetGroup
  | SoleGroup<T>
  | { readonly form: "listeners" | "routes" };

/** A row without its group. */
export interface ResultParts<T, I = undefined> {
  readonly of: ResultNames;
  /**
   * Makes the builder of one translator.
   *
   * @param empty The set without resources, from which all sets are made.
   */
  builder(empty: ResourceSet): ResultBuilder<T, I>;
  /** Stands in for a result whose builder threw, where a proxy has no earlier one. */
  fallback(empty: ResourceSet): T;
  readonly failure: BuildKind;
  /** The switch of its cache. Absent: the switch of all caches alone. */
  readonly cache?: "clusters" | "routes";
  /** Whether two inputs of one name are the same. Absent: by identity. */
  sameInput?(a: I, b: I): boolean;
  /** The encoded resources in a result, for pages. Absent: none of its own. */
  resources?(value: T): Iterable<ListedResource>;
  /** The kinds of proxies that have such results. Absent: all. */
  readonly for?: (profile: ProxyProfile) => boolean;
  /** Built when a proxy's agent asks, not when the proxy joins. */
  readonly onDemand?: true;
  /** Only notes of results that a proxy has count: the results outlive the objects that they are about. */
  readonly notesInUse?: true;
}

/** A row. */
export interface ResultRow<T, I = undefined, G extends GroupRow<T> | undefined = undefined> extends ResultParts<T, I> {
  /** Absent: proxies get the results inside those of another row. */
  readonly group?: G;
}

/** A row of whatever results. */
export type AnyResultRow = ResultRow<unknown, never, GroupRow<unknown> | undefined>;

/** A row without a group. */
export function result<T, I = undefined>(row: ResultParts<T, I>): ResultRow<T, I> {
  return row;
}

/** A row whose results are the resources of hosts, of one type. */
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

/** A row with one result, in which there are sets. */
export function ofSets<T>(
  { sets, added, ...row }: Omit<ResultParts<T>, "of"> & Omit<SoleGroup<T>, "form">,
): ResultRow<T, undefined, SoleGroup<T>> {
  return { ...row, of: "sole", group: { form: "sole", sets, ...added && { added } } };
}

/** A row whose results are put together with results of hosts. */
export function joined<const F extends "listeners" | "routes", T, I = undefined>(
  form: F,
  row: ResultParts<T, I>,
): ResultRow<T, I, { readonly form: F }> {
  return { ...row, group: { form } };
}
