/**
 * The codes of findings: programs and people look for these; the messages may change.
 *
 * @module
 */

/** Each code with its meaning. */
export const FINDING_CODES = {
  "syntax": "A text is neither YAML nor JSON.",
  "unreadable-file": "A file cannot be read, is too large or is no UTF-8 text; its last content stays in force.",
  "lost-file": "A file of the mesh configuration is gone or empty; its last content stays in force.",
  "not-an-object": "A text holds something that is no configuration object.",
  "unknown-kind": "An object names a kind or version that its API group does not have.",
  "unknown-field": "An object has a field that its kind does not have.",
  "missing-field": "A field that must be written is not.",
  "wrong-value": "A field has a value that means nothing there.",
  "exclusive-fields": "Several fields are written of which at most one may be.",
  "too-many": "One object has more findings than are shown.",
  "duplicate-object": "One source has an object twice; the first one is in force.",
  "hidden-object": "A source of higher precedence has the same object, which is in force instead.",
  "derivation-failed": "What makes objects from this one threw; the objects that it made before stay in force.",
  "no-effect": "Something is accepted and checked, but the part that acts on it is not built yet.",
  "needs-restart": "A setting that is read when the server starts has changed since.",
  "unenforced-policy": "A policy is accepted and checked, but nothing enforces it yet.",
  "unresolved-reference": "An object refers to another one that does not exist, or not to be used in this way.",
  "hidden-rules": "An older object has rules for the same host, so those of this one are never used.",
  "duplicate-subset": "Several rules define a subset of one host; the first one holds.",
  "host-without-service": "A route has a destination that is no service, so requests that are routed there fail.",
  "too-few-addresses": "More services ask for an automatic address than there are.",
  "listener-conflict": "Two hosts want one listener in ways that exclude each other.",
  "tcp-listener-conflict": "Two TCP services want the same connections of one listener.",
  "inbound-conflict": "Two services want one port of a workload.",
  "domain-conflict": "Two virtual hosts of one route configuration want one domain.",
  "gateway-not-as-written": "A gateway does not serve something, or not as it is written.",
  "not-as-written": "Proxies do not get something, or not as it is written.",
  "outside-root-namespace": "An object for the whole mesh lies in a namespace that is not the root namespace.",
} as const;

/** What sort of finding it is. */
export type FindingCode = keyof typeof FINDING_CODES;
