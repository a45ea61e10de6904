/**
 * The commands `tag list`, `tag set` and `tag remove`: further names of a revision, as objects for `kubectl`.
 *
 * Permissions: read of the named paths.
 *
 * @module
 */
import { type Invocation, type Output, UsageError } from "../../lib/cli/command.ts";
import { columns } from "../../lib/cli/terminal/layout.ts";
import { safeText } from "../../lib/cli/terminal/style.ts";
import { installObjects } from "../../lib/install/parts.ts";
import { withoutComments } from "../../lib/install/template/resolved.ts";
import { yamlDocuments } from "../../lib/install/template/text.ts";
import { type InstallValues, readInstallValues } from "../../lib/install/values/values.ts";
import { type DumpJson, json, text } from "../../lib/offline/tables/dump.ts";
import { labelsOf, nameOf, objectsOfTexts } from "./objects_of_texts.ts";
import { readTexts } from "./offline.ts";
import type { tagListFlags, tagRemoveFlags, tagSetFlags } from "./tag_flags.ts";

/** A tag with the namespaces whose pods it leads to the revision. */
interface ListedTag {
  readonly tag: string;
  readonly revision: string;
  readonly namespaces: readonly string[];
}

/** Prints the tags of files; resolves with 0. */
export async function runTagList({ flags, args, output }: Invocation<typeof tagListFlags>): Promise<number> {
  const tags = tagsIn(await objectsAt(args, output));
  if (flags.output === "json") output.out(`${JSON.stringify({ tags }, undefined, 2)}\n`);
  else if (tags.length === 0) output.out("no tag\n");
  else {
    const rows = tags.map(({ tag, revision, namespaces }) => [tag, revision, namespaces.join(",")]);
    output.out(safeText([...columns([["TAG", "REVISION", "NAMESPACES"], ...rows]), ""].join("\n")));
  }
  return 0;
}

/** Prints the objects of a tag; resolves with 0. */
export function runTagSet({ flags, args, output }: Invocation<typeof tagSetFlags>): Promise<number> {
  const [tag = ""] = args;
  if (flags.revision === "") throw new UsageError("flag --revision: got none, expected the revision of the tag");
  output.out(yamlDocuments(tagObjects(tag, flags.revision, flags.namespace)));
  return Promise.resolve(0);
}

/** Prints what is to be deleted; resolves with 0. */
export async function runTagRemove({ flags, args, output }: Invocation<typeof tagRemoveFlags>): Promise<number> {
  const [tag = "", ...files] = args;
  const objects = tagObjects(tag, "default", "mesh-system").map(withoutComments).map(json);
  if (!flags["skip-confirmation"]) {
    if (files.length === 0) {
      throw new UsageError(
        "tag remove: got no namespaces, expected the output of kubectl get namespaces -o yaml, or --skip-confirmation",
      );
    }
    const users = namespacesOf("mesh.io", tag, await objectsAt(files, output));
    if (users.length > 0) {
      throw new UsageError(
        `tag remove: got ${tag}, which ${users.join(", ")} has in the label mesh.io/rev, expected a tag without ` +
          "namespaces, because their new pods would get no proxies; --skip-confirmation removes it all the same",
      );
    }
  }
  output.out(yamlDocuments(objects.map((one) => ({
    ...{ apiVersion: text(one.apiVersion), kind: text(one.kind) },
    metadata: { name: nameOf(one) },
  }))));
  return 0;
}

function tagObjects(tag: string, revision: string, namespace: string) {
  const values: Partial<InstallValues> = { revision, tags: [tag], namespace };
  const read = readInstallValues({}, values);
  if ("problems" in read) throw new UsageError(read.problems.join("\n"));
  return installObjects(read.values, ["tags"]);
}

async function objectsAt(args: readonly string[], output: Output): Promise<DumpJson[]> {
  return objectsOfTexts((await readTexts(args, output)).reads);
}

/** The two families of labels: objects of this mesh, and of Istio beside it. */
const DOMAINS = ["mesh.io", "istio.io"] as const;

function tagsIn(objects: readonly DumpJson[]): ListedTag[] {
  const found = objects.filter(({ kind }) => kind === "MutatingWebhookConfiguration").flatMap((webhook) =>
    DOMAINS.flatMap((domain): ListedTag[] => {
      const labels = labelsOf(webhook);
      const [tag, revision] = [text(labels[`${domain}/tag`]), text(labels[`${domain}/rev`])];
      return tag === "" ? [] : [{ tag, revision, namespaces: namespacesOf(domain, tag, objects) }];
    })
  );
  return found.sort((a, b) => a.tag < b.tag ? -1 : 1);
}

function namespacesOf(domain: typeof DOMAINS[number], tag: string, objects: readonly DumpJson[]): string[] {
  const injection = domain === "mesh.io" ? "mesh-injection" : "istio-injection";
  return objects.filter(({ kind }) => kind === "Namespace").filter((namespace) => {
    const labels = labelsOf(namespace);
    const revision = text(labels[`${domain}/rev`]);
    return revision === tag || tag === "default" && revision === "" && labels[injection] === "enabled";
  }).map(nameOf).sort();
}
