/**
 * Arguments of substitution commands (`x-user` of `%REQ(x-user)%`) that Envoy 1.40 can read. The rules were found by
 * asking Envoy.
 *
 * @module
 */
import { isObject } from "../schema/field.ts";
import { celProblem } from "./cel.ts";

/** The mistake in an argument; undefined: none. */
type ArgumentRule = (argument: string) => string | undefined;

/** Characters of header names, including pseudo headers, and the question mark before another name. */
const HEADERS = /^[-!#$%&'*+.^_`|~:A-Za-z0-9]*(?:\?[-!#$%&'*+.^_`|~:A-Za-z0-9]*)?$/;
const METADATA_OF = /^(?:DYNAMIC|CLUSTER|ROUTE|UPSTREAM_HOST|LISTENER|LISTENER_FILTER_CHAIN|VIRTUAL_HOST)(?::|$)/;
const PATH = /^(?:(?:WQ|NQ)(?::(?:ORIG|PATH|ORIG_OR_PATH)?(?::.*)?)?)?$/;
const LINE_BREAK_OF_TIME = /%[0-9]?n/;

const present: ArgumentRule = (argument) => argument === "" ? "needs an argument in parentheses" : undefined;
const matching = (pattern: RegExp, expected: string): ArgumentRule => (argument) =>
  pattern.test(argument) ? undefined : `takes ${expected}`;
const header: ArgumentRule = (argument) =>
  present(argument) ?? matching(HEADERS, "the name of a header, or two with ? between them")(argument);
const filterState = matching(/^[^:]+(?::(?:PLAIN|TYPED|FIELD:.*))?$/, "KEY, KEY:PLAIN, KEY:TYPED or KEY:FIELD:NAME");
const time: ArgumentRule = (argument) =>
  LINE_BREAK_OF_TIME.test(argument) ? "takes a format of time without line breaks" : undefined;

const RULES: Readonly<Record<string, ArgumentRule>> = {
  ...Object.fromEntries(
    ["REQ", "REQUEST_HEADER", "RESP", "RESPONSE_HEADER", "RESPONSE_TRAILER", "TRAILER", "STREAM_INFO_REQ"]
      .map((name) => [name, header]),
  ),
  ...Object.fromEntries(
    ["CLUSTER_METADATA", "DYNAMIC_METADATA", "ENVIRONMENT", "PER_REQUEST_STATE", "QUERY_PARAM", "UPSTREAM_METADATA"]
      .map((name) => [name, present]),
  ),
  ...Object.fromEntries(
    ["START_TIME", "EMIT_TIME", "START_TIME_LOCAL", "EMIT_TIME_LOCAL"].map((name) => [name, time]),
  ),
  ...Object.fromEntries(
    ["DOWNSTREAM_PEER_CERT_V", "UPSTREAM_PEER_CERT_V"].flatMap((
      name,
    ) => [[`${name}_START`, time], [`${name}_END`, time]]),
  ),
  FILTER_STATE: filterState,
  UPSTREAM_FILTER_STATE: filterState,
  CEL: (argument) => {
    const problem = celProblem(argument);
    return problem === undefined ? undefined : `takes an expression of CEL (${problem})`;
  },
  COALESCE: (argument) => operatorsOf(argument) === undefined ? "takes JSON with a list `operators`" : undefined,
  COMMON_DURATION: matching(/^[^:]*:[^:]*(?::(?:ms|us|ns))?$/, "START:END or START:END:PRECISION (ms, us, ns)"),
  METADATA: matching(METADATA_OF, "TYPE:NAMESPACE:KEY, with a type such as ROUTE or DYNAMIC"),
  PATH: matching(PATH, "WQ or NQ, and after a colon ORIG, PATH or ORIG_OR_PATH"),
  QUERY_PARAMS: matching(/^(?:ORIG|DECODED)?$/, "ORIG or DECODED"),
};

/**
 * The mistake in the argument of a command, worded to follow the command's name. Undefined: Envoy can read the
 * argument.
 */
export function argumentProblem(name: string, argument: string): string | undefined {
  return RULES[name]?.(argument);
}

/** A command inside of `COALESCE`. */
export interface InnerCommand {
  readonly name: string;
  readonly argument?: string | undefined;
  readonly hasLength: boolean;
}

/** The commands in the argument of `COALESCE`; undefined: Envoy cannot read the argument. */
export function operatorsOf(argument: string): readonly InnerCommand[] | undefined {
  let json: unknown;
  try {
    json = JSON.parse(argument);
  } catch {
    return undefined;
  }
  if (!isObject(json) || !Array.isArray(json["operators"]) || json["operators"].length === 0) return undefined;
  const commands = json["operators"].map(operator);
  return commands.includes(undefined) ? undefined : commands.filter((one) => one !== undefined);
}

/**
 * A command: a name, or an object with `command`, `param` and `max_length`. Undefined: not a command. Read without a
 * library, because agents check the formats of logs too, and would load a library only for this object.
 */
function operator(one: unknown): InnerCommand | undefined {
  if (typeof one === "string") return { name: one, hasLength: false };
  if (!isObject(one)) return undefined;
  const { command, param, max_length: length } = one;
  if (typeof command !== "string" || !isOptional(param, "string") || !isOptional(length, "number")) return undefined;
  return { name: command, argument: param, hasLength: length !== undefined };
}

function isOptional<T extends "string" | "number">(
  value: unknown,
  type: T,
): value is (T extends "string" ? string : number) | undefined {
  return value === undefined || typeof value === type;
}
