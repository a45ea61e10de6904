/**
 * Mesh configuration and mesh networks from text.
 *
 * Unknown fields are only warnings: a configuration for another version must still load. Wrong values are errors
 * without a result: the caller keeps the last good configuration, or refuses to start.
 *
 * @module
 */
import { fieldFinding, type Finding, type FindingPlace } from "../../finding/finding.ts";
import { Findings } from "../../finding/findings.ts";
import { DecodeContext, type Field, isObject } from "../schema/field.ts";
import { documentText, splitDocuments } from "../yaml/split.ts";
import { lineOf, places } from "../yaml/locate.ts";
import { parseYaml } from "../yaml/parse.ts";
import { carriedIn } from "./carried.ts";
import { defaultMeshConfig, mergeMeshConfig, mergeProxySettings, type MeshDefaults } from "./merge.ts";
import { proxySettings } from "./proxy_schema.ts";
import { meshConfig, meshNetworks } from "./schema.ts";
import type { MeshConfig, MeshNetworks, ProxySettings } from "./types.ts";
import { validateMeshConfig, validateMeshNetworks, validateProxySettings } from "./validate.ts";
import { checkHeaderVariables, checkProviderNames } from "./validate_providers.ts";

/** A result, or none when there are errors; and all errors and warnings. */
export interface ParsedMeshText<T> {
  readonly value?: T;
  readonly findings: readonly Finding[];
}

/** A mesh configuration, and a fact about the text. */
export interface ParsedMesh extends ParsedMeshText<MeshConfig> {
  /** Whether the text names the root namespace. */
  readonly namesRootNamespace: boolean;
}

/** How mesh configuration is parsed. */
export interface MeshParseOptions extends MeshDefaults {
  /** The source of the text, for problems; default `mesh`. */
  readonly source?: string;
  /** The settings under the text; default: `defaultMeshConfig`. */
  readonly base?: MeshConfig;
  /** Variables in headers of providers; absent: the variables are not known. */
  readonly variable?: ((name: string) => string | undefined) | undefined;
}

/**
 * Parses mesh configuration (YAML or JSON); an empty text gives the defaults. A text of objects that install a control
 * plane, or of the control plane's config map, stands for the mesh configuration inside. Never throws.
 */
export function parseMeshConfig(text: string, options: MeshParseOptions): ParsedMesh {
  const [carried, ...others] = carriedIn(new TextEncoder().encode(text));
  if (carried === undefined) return parseWritten(text, options);
  const other = others.find(({ identity }) => identity !== carried.identity);
  const place = { ...meshPlace("MeshConfig", options.source ?? "mesh"), line: carried.line };
  if (other !== undefined) {
    const names = `${carried.object} and ${other.object}`;
    const expected = "one mesh configuration, or the same one in all objects";
    const found = fieldFinding("wrong-value", "error", { ...place, field: "document" }, names, expected);
    return { findings: [found], namesRootNamespace: false };
  }
  const parsed = parseWritten(carried.text, options);
  const findings = parsed.findings.map((one) => ({ ...one, place: { ...one.place, line: carried.line } }));
  return { ...parsed, findings };
}

function parseWritten(text: string, options: MeshParseOptions): ParsedMesh {
  const base = options.base ?? defaultMeshConfig(options);
  let namesRootNamespace = false;
  const parsed = parseOne(text, "MeshConfig", options.source ?? "mesh", (tree, report) => {
    const written = decode(meshConfig, tree, report);
    namesRootNamespace = written.rootNamespace !== undefined;
    checkProviderNames(written.extensionProviders ?? [], report);
    const merged = mergeMeshConfig(base, written);
    validateMeshConfig(merged, report);
    if (options.variable) checkHeaderVariables(merged.extensionProviders, options.variable, report);
    return merged;
  });
  return { ...parsed, namesRootNamespace };
}

/**
 * Parses mesh networks (YAML or JSON); an empty text gives none. Never throws.
 *
 * @param clusterId Name of the only registry; absent: not known.
 */
export function parseMeshNetworks(
  text: string,
  source = "meshNetworks",
  clusterId?: string,
): ParsedMeshText<MeshNetworks> {
  return parseOne(text, "MeshNetworks", source, (tree, report) => {
    const networks = decode(meshNetworks, tree, report);
    validateMeshNetworks(networks, report, clusterId);
    return networks;
  });
}

/** Parses proxy settings (an annotation, a variable, a proxy's metadata) and lays them over others. Never throws. */
export function parseProxySettings(
  text: string,
  base: ProxySettings,
  source = "proxyConfig",
): ParsedMeshText<ProxySettings> {
  return parseOne(text, "ProxyConfig", source, (tree, report) => {
    const merged = mergeProxySettings(base, decode(proxySettings, tree, report));
    validateProxySettings(merged, "", report);
    return merged;
  });
}

function decode<T>(schema: Field<T>, tree: unknown, report: Findings): T {
  return schema.decode(tree, new DecodeContext("", report, "warning")) ?? schema.zero();
}

function parseOne<T>(
  text: string,
  kind: string,
  source: string,
  build: (tree: Readonly<Record<string, unknown>>, report: Findings) => T,
): ParsedMeshText<T> {
  const place = meshPlace(kind, source);
  const report = new Findings(place);
  const bytes = new TextEncoder().encode(text);
  const documents = splitDocuments(bytes);
  const [document] = documents;
  const written = document === undefined ? "" : documentText(bytes, document);
  const parsed = document === undefined ? { tree: {} } : parseYaml(written);
  if ("problem" in parsed) {
    const { line, reason } = parsed.problem;
    const at = { ...place, field: "document", line: (document?.line ?? 1) + line };
    const found = fieldFinding("syntax", "error", at, undefined, "YAML or JSON");
    return { findings: [{ ...found, message: `does not parse: ${reason}` }] };
  }
  if (documents.length > 1) report.error("document", documents.length, "one document");
  const tree = parsed.tree ?? {};
  let value: T | undefined;
  if (isObject(tree)) value = build(tree, report);
  else report.error("document", tree, "an object");
  const root = report.list.length > 0 ? places(written) : undefined;
  const first = document?.line ?? 1;
  const findings = report.list.map((one) => {
    const line = root === undefined ? first : first + lineOf(root, one.place.field);
    return { ...one, place: { ...one.place, line } };
  });
  return report.failed || value === undefined ? { findings } : { value, findings };
}

/** The place of a whole mesh configuration, of networks or of proxy settings, in a file or a named text. */
export function meshPlace(kind: string, file: string): FindingPlace {
  const origin = { from: "file", source: "", file, line: 0, within: "" } as const;
  return { objects: [{ kind, namespace: "", name: "" }], field: "", origin, line: 0 };
}
