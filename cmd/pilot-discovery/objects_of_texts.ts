/**
 * The objects in files and in the output of `kubectl get -o yaml`, for commands that need no mesh.
 *
 * @module
 */
import { UsageError } from "../../lib/cli/command.ts";
import { documentText, splitDocuments } from "../../lib/config/yaml/split.ts";
import { parseJson, parseYaml } from "../../lib/config/yaml/parse.ts";
import type { FileRead } from "../../lib/folder/index.ts";
import { type DumpJson, json, list, text } from "../../lib/offline/tables/dump.ts";

/** The objects of texts; the items of a list stand for the list. @throws {UsageError} With every text without objects. */
export function objectsOfTexts(reads: readonly FileRead[]): DumpJson[] {
  const problems: string[] = [];
  const objects = reads.flatMap(({ path, bytes }) => {
    if (bytes instanceof Uint8Array) return objectsIn(path, bytes, problems);
    problems.push(`${path}: ${bytes ?? "the file is gone"}`);
    return [];
  });
  if (problems.length > 0) throw new UsageError(problems.join("\n"));
  return objects;
}

function objectsIn(path: string, bytes: Uint8Array, problems: string[]): DumpJson[] {
  return splitDocuments(bytes).flatMap((range) => {
    const document = documentText(bytes, range);
    const parsed = document.trimStart().startsWith("{") ? parseJson(document) : parseYaml(document);
    if ("problem" in parsed) {
      problems.push(`${path}: ${parsed.problem.reason}`);
      return [];
    }
    const object = json(parsed.tree);
    return Array.isArray(object.items) ? list(object.items) : [object];
  }).filter(({ kind }) => text(kind) !== "");
}

/** The labels of an object. */
export function labelsOf(object: DumpJson): DumpJson {
  return json(json(object.metadata).labels);
}

/** The name of an object. */
export function nameOf(object: DumpJson): string {
  return text(json(object.metadata).name);
}
