/**
 * Functions of injection's templates, beside those of all templates, with the field's names.
 *
 * @module
 */
import { stringify } from "yaml";
import { ownKey } from "../../config/spelling/spelling.ts";
import { isThere, memberOf, printed, type TemplateFunction } from "../../kernel/template/functions.ts";
import { CHAINED_NETWORK, withNetwork } from "../multus.ts";
import { Markup } from "./markup.ts";

const yaml = (value: unknown) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }).replace(/\n$/, "");
const toYaml: TemplateFunction = (value) => new Markup(yaml(value ?? {}));
const toJson: TemplateFunction = (value) => new Markup(JSON.stringify(value ?? null));

/** Lines of markup moved to the right; a text stays a text. */
function indented(spaces: unknown, value: unknown, before: string): unknown {
  const pad = " ".repeat(Number(spaces));
  const moved = before + String(value).split("\n").map((line) => pad + line).join("\n");
  return value instanceof Markup ? new Markup(moved) : moved;
}

/** The field of a map in either spelling of its key. */
function textAt(map: unknown, key: unknown): string | undefined {
  if (typeof map !== "object" || map === null) return undefined;
  const wanted = ownKey(String(key));
  const found = Object.entries(map).find(([one]) => ownKey(one) === wanted);
  return found === undefined ? undefined : String(found[1]);
}

function portsOf(containers: unknown): number[] {
  const list = Array.isArray(containers) ? containers : [];
  return list.flatMap((one) => {
    const ports = memberOf(one, "Ports");
    return Array.isArray(ports) ? ports.map((port) => Number(memberOf(port, "ContainerPort"))) : [];
  });
}

/** Ports with one more at the front; `*` stays. */
function withPort(port: unknown, ports: unknown): string {
  const list = String(ports ?? "").split(",").map((one) => one.trim()).filter((one) => one !== "");
  const text = String(port ?? "");
  return text === "" || text === "0" || list.includes(text) ? list.join(",") : [text, ...list].join(",");
}

function merged(...maps: readonly unknown[]): Record<string, unknown> {
  return Object.assign({}, ...maps.filter((map) => typeof map === "object" && map !== null));
}

/** The functions. */
export const INJECTION_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  ...{ toYaml, toYAML: toYaml, toJSON: toJson, toJson, structToJSON: toJson, protoToJSON: toJson },
  toJsonMap: (...maps) => new Markup(JSON.stringify(merged(...maps))),
  ...{ mergeMaps: merged, strdict: (...pairs) => pairsOf(pairs), dict: (...pairs) => pairsOf(pairs) },
  fromJSON: (text) => JSON.parse(String(text)),
  quote: (value) => new Markup(JSON.stringify(printed(value))),
  indent: (spaces, value) => indented(spaces, value, ""),
  nindent: (spaces, value) => indented(spaces, value, "\n"),
  isset: (map, key) => textAt(map, key) !== undefined,
  annotation: (meta, key, otherwise) => textAt(memberOf(meta, "Annotations"), key) ?? printed(otherwise),
  valueOrDefault: (value, otherwise) => isThere(value) ? value : otherwise,
  formatDuration: (milliseconds) => `${Number(milliseconds) / 1000}s`,
  omit: (map, ...keys) => Object.fromEntries(Object.entries(map ?? {}).filter(([key]) => !keys.includes(key))),
  omitNil: (map) => Object.fromEntries(Object.entries(map ?? {}).filter(([, one]) => one !== null && one !== "")),
  applicationPorts: (containers) => portsOf(containers).join(","),
  includeInboundPorts: () => "*",
  excludeInboundPort: withPort,
  kubevirtInterfaces: (text) => printed(text ?? ""),
  appendMultusNetwork: (text, network) => withNetwork(String(text ?? ""), String(network ?? CHAINED_NETWORK)),
  directory: (path) => String(path).replace(/[^/]*$/, ""),
};

function pairsOf(pairs: readonly unknown[]): Record<string, unknown> {
  return Object.fromEntries(pairs.flatMap((key, i) => i % 2 === 0 ? [[String(key), pairs[i + 1]]] : []));
}
