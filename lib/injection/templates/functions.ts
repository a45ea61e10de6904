/**
 * Functions for injection's templates, with the names of Istio's injector, beside the functions of all templates.
 *
 * @module
 */
import { ownKey } from "../../config/spelling/spelling.ts";
import { parseJson } from "../../config/yaml/parse.ts";
import {
  isThere,
  memberOf,
  printed,
  TEMPLATE_FUNCTIONS,
  type TemplateFunction,
} from "../../kernel/template/functions.ts";
import { CHAINED_NETWORK, withNetwork } from "../multus.ts";
import { type Marks, Markup } from "./markup.ts";
import { commaList } from "../../kernel/text/comma_list.ts";

type Functions = Readonly<Record<string, TemplateFunction>>;

/** Names of the functions that print YAML or JSON. */
const PRINTING = ["toYaml", "toYAML", "toJson", "toJSON", "structToJSON", "protoToJSON", "toJsonMap", "quote"];

/** The functions of one run. Functions of texts get the YAML text of other functions. */
export function injectionFunctions(marks: Marks): Functions {
  const json: TemplateFunction = (value) => marks.json(value ?? {});
  const yaml: TemplateFunction = (value) => marks.yaml(value ?? {});
  return {
    ...OF_TEXTS,
    ...{ toYaml: yaml, toYAML: yaml, toJson: json, toJSON: json, structToJSON: json, protoToJSON: json },
    toJsonMap: (...maps) => marks.json(merged(...maps)),
    quote: (value) => marks.json(printed(value instanceof Markup ? String(value) : value ?? "")),
    ...OF_MARKUP,
  };
}

/** Changes a text. A change of markup gives markup, which is still YAML. */
const changed = (value: unknown, change: (text: string) => string) =>
  value instanceof Markup ? value.map(change) : change(printed(value));

/** Moves lines to the right. As in Istio's `indent`, the first line stays in place. */
function indented(spaces: unknown, text: string): string {
  const pad = " ".repeat(Math.min(Number(spaces), 200));
  return text.split("\n").join(`\n${pad}`);
}

const OF_MARKUP: Functions = {
  indent: (spaces, value) => changed(value, (text) => indented(spaces, text)),
  nindent: (spaces, value) => changed(value, (text) => indented(spaces, `\n${text}`)),
  trim: (value) => changed(value, (text) => text.trim()),
};

/** The text of a map under either spelling of its key. */
function textAt(map: unknown, key: unknown): string | undefined {
  if (typeof map !== "object" || map === null) return undefined;
  const wanted = ownKey(String(key));
  const found = Object.entries(map).find(([one]) => ownKey(one) === wanted);
  return found === undefined ? undefined : String(found[1]);
}

/** Numbers of ports for TCP. */
function portsOf(containers: unknown, counts: (name: unknown) => boolean): string {
  const list = Array.isArray(containers) ? containers.filter((one) => counts(memberOf(one, "Name"))) : [];
  const ports = list.flatMap((one) => {
    const own = memberOf(one, "Ports");
    return Array.isArray(own) ? own : [];
  });
  const isTcp = (port: unknown) => !["UDP", "SCTP"].includes(String(memberOf(port, "Protocol")));
  return ports.filter(isTcp).map((port) => printed(memberOf(port, "ContainerPort"))).join(",");
}

/** Adds a port at the end of a list. */
function withPort(port: unknown, ports: unknown): string {
  const text = printed(port ?? "").trim();
  const list = commaList(printed(ports ?? ""));
  return text === "" || text === "0" || list.includes(text) ? printed(ports ?? "") : [...list, text].join(",");
}

function merged(...maps: readonly unknown[]): Record<string, unknown> {
  return Object.assign({}, ...maps.filter((map) => typeof map === "object" && map !== null));
}

/** A value without null, at any depth. */
function withoutNull(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNull).filter((one) => one !== null);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, one]) => [key, withoutNull(one)] as const);
  return Object.fromEntries(entries.filter(([, one]) => one !== null && one !== undefined));
}

function pairsOf(...pairs: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(pairs.flatMap((key, i) => i % 2 === 0 ? [[printed(key), pairs[i + 1] ?? ""]] : []));
}

const PLAIN_FUNCTIONS: Functions = {
  ...TEMPLATE_FUNCTIONS,
  ...{ mergeMaps: merged, strdict: pairsOf, dict: pairsOf, toLower: (value) => printed(value ?? "").toLowerCase() },
  fromJSON(text) {
    const parsed = parseJson(printed(text));
    if ("problem" in parsed) throw new Error(parsed.problem.reason);
    return parsed.tree;
  },
  isset: (map, key) => textAt(map, key) !== undefined,
  annotation: (meta, key, otherwise) => textAt(memberOf(meta, "Annotations"), key) ?? printed(otherwise ?? ""),
  valueOrDefault: (value, otherwise) => value === undefined || value === null || value === "" ? otherwise : value,
  formatDuration: (duration) => printed(duration),
  omit: (map, ...keys) => Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !keys.includes(key))),
  omitNil: withoutNull,
  applicationPorts: (containers) => portsOf(containers, (name) => name !== "mesh-proxy" && name !== "istio-proxy"),
  includeInboundPorts: (containers) => portsOf(containers, () => true),
  excludeInboundPort: withPort,
  ...{ kubevirtInterfaces: (text) => printed(text ?? ""), excludeInterfaces: (text) => printed(text ?? "") },
  appendMultusNetwork: (text, network) => withNetwork(printed(text ?? ""), printed(network ?? CHAINED_NETWORK)),
  directory: (path) => printed(path).slice(0, printed(path).lastIndexOf("/") + 1),
  // No provider of the mesh's configuration can ask for attributes.
  otelResourceAttributes: () => "",
  default: (other, value) => isThere(value) ? value : other,
};

const OF_TEXTS: Functions = Object.fromEntries(
  Object.entries(PLAIN_FUNCTIONS).map(([name, run]) =>
    [name, (...values) => run(...values.map((one) => one instanceof Markup ? String(one) : one))] as const
  ),
);

/** Names of all functions in templates of injection, sorted. `and` and `or` belong to the evaluator. */
export const INJECTION_FUNCTIONS: readonly string[] = [
  ...new Set([...Object.keys(OF_TEXTS), ...Object.keys(OF_MARKUP), ...PRINTING]),
].sort();
