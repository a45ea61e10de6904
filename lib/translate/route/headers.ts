/**
 * Header operations of a rule or of one of its destinations.
 *
 * @module
 */
import type { HeaderOperations, Headers, StringMap } from "../../config/kinds/kinds.ts";
import { substitutionProblem } from "../../config/validation/substitution.ts";
import { HeaderValueOption_HeaderAppendAction as Append } from "../../../proto/gen/enums.ts";
import type { envoy } from "../../../proto/gen/types.ts";

type HeaderValueOption = envoy.config.core.v3.HeaderValueOption;

/** The four lists with equal names in routes and weighted clusters. Empty lists are absent. */
export interface HeaderFields {
  request_headers_to_add?: HeaderValueOption[];
  request_headers_to_remove?: string[];
  response_headers_to_add?: HeaderValueOption[];
  response_headers_to_remove?: string[];
}

/** Translated operations. */
export interface HeaderChanges {
  readonly fields: HeaderFields;
  /** New value of the Host header (`host` or `:authority` written as a request header); `set` wins over `add`. */
  readonly authority?: string;
}

/**
 * Translates operations. Pseudo headers (`:path`) and `host` are never changed as headers, because the proxy forbids
 * such changes. A value that Envoy cannot read is omitted with a warning. Otherwise Envoy would refuse all routes of
 * the port.
 */
export function headerChanges(headers: Headers | undefined, warnings: string[]): HeaderChanges {
  if (!headers) return { fields: {} };
  const authority = hostOf(headers.request?.set) ?? hostOf(headers.request?.add);
  return {
    fields: joinHeaders(
      named("request", headers.request, warnings),
      named("response", headers.response, warnings),
    ),
    ...(authority === undefined ? {} : { authority }),
  };
}

/** Appends the lists of `b` to the lists of `a`: later operations are applied later. */
export function joinHeaders(a: HeaderFields, b: HeaderFields): HeaderFields {
  const out: HeaderFields = { ...a };
  for (const key of ["request_headers_to_add", "response_headers_to_add"] as const) {
    if (b[key]?.length) out[key] = [...(out[key] ?? []), ...b[key]];
  }
  for (const key of ["request_headers_to_remove", "response_headers_to_remove"] as const) {
    if (b[key]?.length) out[key] = [...(out[key] ?? []), ...b[key]];
  }
  return out;
}

function named(
  direction: "request" | "response",
  operations: HeaderOperations | undefined,
  warnings: string[],
): HeaderFields {
  if (!operations) return {};
  const add = [
    ...options(operations.set, warnings, Append.OVERWRITE_IF_EXISTS_OR_ADD),
    ...options(operations.add, warnings, Append.APPEND_IF_EXISTS_OR_ADD),
  ];
  const remove = (operations.remove ?? []).filter((name) => !isReserved(name));
  return {
    ...(add.length ? { [`${direction}_headers_to_add`]: add } : {}),
    ...(remove.length ? { [`${direction}_headers_to_remove`]: remove } : {}),
  };
}

function options(
  map: StringMap | undefined,
  warnings: string[],
  append_action: HeaderValueOption["append_action"],
): HeaderValueOption[] {
  const written = Object.entries(map ?? {})
    .filter(([key]) => !isReserved(key))
    .sort(([a], [b]) => a < b ? -1 : a > b ? 1 : 0);
  return written.flatMap(([key, value]) => {
    const problem = substitutionProblem(value, "header");
    if (problem === undefined) return [{ header: { key, value }, append_action: append_action! }];
    warnings.push(`header ${key}: ${problem}; the header is left out`);
    return [];
  });
}

function isReserved(name: string): boolean {
  return name.startsWith(":") || name.toLowerCase() === "host";
}

function hostOf(map: StringMap | undefined): string | undefined {
  const found = Object.entries(map ?? {}).find(([key]) => [":authority", "host"].includes(key.toLowerCase()));
  return found?.[1] || undefined;
}
