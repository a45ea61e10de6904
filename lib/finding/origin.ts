/**
 * Where a configuration object comes from: a file, an API, or another object.
 *
 * @module
 */
import { compareTexts } from "../kernel/text/compare.ts";
import { withoutEnd } from "../kernel/text/edges.ts";

/** Kind and version as the author of an object spelled them. */
export interface WrittenKind {
  readonly apiVersion: string;
  readonly kind: string;
}

/** The origin is a file in a folder of configuration. */
export interface FileOrigin {
  readonly from: "file";
  /** Name of the source: path of the folder; empty: texts without a folder. */
  readonly source: string;
  /** Path of the file, relative to the folder. */
  readonly file: string;
  /** 1-based line where the object's document starts; 0: no line. */
  readonly line: number;
  /** Path of the object in its document, such as `items[2]`; empty: the document is the object. */
  readonly within: string;
  /** Absent: in our spelling. */
  readonly written?: WrittenKind;
  /** Labels and annotations in Istio's spelling in the text, given in our spelling; absent: none. */
  readonly istioKeys?: readonly string[];
}

/** Read from an API. */
export interface ApiOrigin {
  readonly from: "api";
  /** Name of the source: the cluster of the API. */
  readonly source: string;
  /** Identity of the object in the API. A later object of the same name has another identity. Empty: no identity. */
  readonly uid: string;
  /** Absent: in our spelling. */
  readonly written?: WrittenKind;
  /** As in {@linkcode FileOrigin}. */
  readonly istioKeys?: readonly string[];
}

/** The origin of an object derived by this server from another object or fact. */
export interface DerivedOrigin {
  readonly from: "derived";
  /** Name of the source: the derivation. */
  readonly source: string;
  /** Key of the parent: the object or fact. */
  readonly of: string;
  /** The origin of the parent. */
  readonly parent: Origin;
}

/** The origin of an object. */
export type Origin = FileOrigin | ApiOrigin | DerivedOrigin;

/** An origin as people read it: `./mesh/routes.yaml:12`, `cluster-1 (uid 7c0f...)`, `derived from KIND/ns/name (...)`. */
export function describeOrigin(origin: Origin): string {
  switch (origin.from) {
    case "file": {
      const { source, file, line, within } = origin;
      const path = source === "" ? file : `${withoutEnd(source, "/")}/${file}`;
      return `${path}${line > 0 ? `:${line}` : ""}${within === "" ? "" : ` ${within}`}`;
    }
    case "api":
      return origin.uid === "" ? origin.source : `${origin.source} (uid ${origin.uid})`;
    case "derived":
      return `derived from ${origin.of} (${describeOrigin(origin.parent)})`;
  }
}

/** The kind in the author's text. */
export function writtenKind(origin: Origin, kind: string): string {
  return (origin.from === "derived" ? undefined : origin.written?.kind) ?? kind;
}

/** The key of an object in its author's spelling: `EnvoyFilter/shop/f`. */
export function writtenKey({ kind, meta: { namespace, name }, origin }: {
  readonly kind: string;
  readonly meta: { readonly namespace: string; readonly name: string };
  readonly origin: Origin;
}): string {
  return `${writtenKind(origin, kind)}/${namespace}/${name}`;
}

/** The same origin further down its file by some lines. */
export function movedOrigin(origin: Origin, by: number): Origin {
  return origin.from === "file" ? { ...origin, line: origin.line + by } : origin;
}

/** The same origin in a document of another file of the folder. */
export function originInFile(origin: Origin, file: string, line: number): Origin {
  return origin.from === "file" ? { ...origin, file, line } : origin;
}

/** Order of origins for lists: by source, then by file and line, uid or parent. */
export function compareOrigins(a: Origin, b: Origin): number {
  return compareTexts(a.source, b.source) || compareTexts(placeOf(a), placeOf(b)) || lineOf(a) - lineOf(b);
}

function placeOf(origin: Origin): string {
  return origin.from === "file" ? origin.file : origin.from === "api" ? origin.uid : origin.of;
}

function lineOf(origin: Origin): number {
  return origin.from === "file" ? origin.line : 0;
}
