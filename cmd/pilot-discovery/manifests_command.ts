/**
 * The command `manifests`: the objects of an installation, or of another revision beside it.
 *
 * Permissions: read of the file of values.
 *
 * @module
 */
import { errorMessage } from "../../lib/kernel/text/error_message.ts";
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { MAX_DOCUMENT_LENGTH, parseYaml } from "../../lib/config/yaml/parse.ts";
import { installObjects, type PartName, partsOf } from "../../lib/install/parts.ts";
import { yamlDocuments } from "../../lib/install/template/text.ts";
import { type InstallValues, readInstallValues } from "../../lib/install/values/values.ts";
import { readRegularText } from "../../lib/kernel/files/regular.ts";
import type { manifestsFlags } from "./manifests_flags.ts";

type ManifestsFlags = Invocation<typeof manifestsFlags>["flags"];

/** Prints the objects as YAML; resolves with 0. */
export async function runManifests({ flags, given, output }: Invocation<typeof manifestsFlags>): Promise<number> {
  const read = readInstallValues(await valuesFile(flags.values), valuesOf(flags, given));
  if ("problems" in read) throw new UsageError(read.problems.join("\n"));
  const { values } = read;
  const objects = installObjects(values, flags.only.length === 0 ? partsOf(values) : flags.only as PartName[]);
  if (objects.length === 0) {
    throw new UsageError(`flag --only: got ${flags.only.join(",")}, expected a part with objects for these values`);
  }
  output.out(yamlDocuments(objects));
  return 0;
}

/** The values of flags. A flag that is not given leaves the value to the file. */
function valuesOf(flags: ManifestsFlags, given: ReadonlySet<string>): Partial<InstallValues> {
  const { revision, tag: tags, namespace, hub } = flags;
  const all = { revision: revision || "default", tags, namespace, hub, tag: flags["image-tag"] };
  const names = { revision: "revision", tags: "tag", namespace: "namespace", hub: "hub", tag: "image-tag" } as const;
  return Object.fromEntries(
    Object.entries(all).filter(([path]) => given.has(names[path as keyof typeof names])),
  );
}

async function valuesFile(path: string): Promise<unknown> {
  if (path === "") return {};
  let text: string;
  try {
    text = await readRegularText(path, { maxBytes: MAX_DOCUMENT_LENGTH });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) throw new UsageError(`flag --values: ${path}: no such file`);
    throw new UsageError(`flag --values: ${errorMessage(error)}`);
  }
  const parsed = parseYaml(text);
  if ("tree" in parsed) return parsed.tree;
  throw new UsageError(`flag --values: ${path}:${parsed.problem.line + 1}: ${parsed.problem.reason}`);
}
