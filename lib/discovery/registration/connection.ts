/**
 * The server to which a registered proxy is connected, as noted in the annotations of its entry.
 *
 * Times are written for people and for Istio. Decisions do not compare the times with a clock, because clocks of
 * servers differ.
 *
 * @module
 */
import { REGISTRATION } from "../../config/kinds/workload_entry/registration.ts";

/** Annotations of an entry, in our spelling. */
export type EntryAnnotations = Readonly<Record<string, string>>;

/** A change of annotations; undefined removes an annotation. */
export type AnnotationChange = Readonly<Record<string, string | undefined>>;

/** The state of an entry. */
export interface EntryConnection {
  /** Empty: a user wrote the entry. */
  readonly group: string;
  readonly controller: string;
  /** Whether the controller has a stream of the proxy. */
  readonly connected: boolean;
  /** Equal as long as no server has written about the connection. */
  readonly mark: string;
}

/** Reads the state of an entry. */
export function readConnection(annotations: EntryAnnotations): EntryConnection {
  const of = (name: keyof typeof REGISTRATION) => annotations[REGISTRATION[name]] ?? "";
  return {
    group: of("group"),
    controller: of("controller"),
    connected: of("controller") !== "" && of("connectedAt") !== "",
    mark: JSON.stringify([of("controller"), of("connectedAt"), of("disconnectedAt")]),
  };
}

/** @param at ms since the epoch */
export function connectedTo(controller: string, at: number): AnnotationChange {
  return {
    [REGISTRATION.controller]: controller,
    [REGISTRATION.connectedAt]: new Date(at).toISOString(),
    [REGISTRATION.disconnectedAt]: undefined,
  };
}

/** @param at ms since the epoch */
export function disconnected(at: number): AnnotationChange {
  return { [REGISTRATION.connectedAt]: undefined, [REGISTRATION.disconnectedAt]: new Date(at).toISOString() };
}

/** Annotations after a change. */
export function changedAnnotations(before: EntryAnnotations, change: AnnotationChange): Record<string, string> {
  const after: Record<string, string> = {};
  for (const [key, value] of Object.entries({ ...before, ...change })) if (value !== undefined) after[key] = value;
  return after;
}
