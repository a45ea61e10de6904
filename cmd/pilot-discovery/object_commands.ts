/**
 * Commands that print objects for `kubectl`, and list objects that `kubectl` prints: tags, and secrets of other clusters.
 *
 * @module
 */
import type { Command } from "../../lib/cli/command.ts";
import { later, moduleAt } from "./later.ts";
import { remoteSecretFlags, tagListFlags, tagRemoveFlags, tagSetFlags } from "./tag_flags.ts";

const remoteSecret: Command = {
  name: "create-remote-secret",
  summary: "Print the secret by which servers read another cluster",
  description:
    `Reads the secret with the token of the account mesh-reader (manifests/remote-reader.yaml) in the other cluster, and prints
a secret for the cluster of the servers.`,
  examples: `  kubectl --context west apply --server-side -f manifests/remote-reader.yaml
  kubectl --context west -n mesh-system get secret mesh-reader-token -o yaml |
    pilot-discovery create-remote-secret --name west --server https://west.example:6443 - | kubectl apply -f -`,
  args: { usage: "<file|->", min: 1, max: 1, complete: "file" },
  flags: remoteSecretFlags,
  run: later(remoteSecretFlags, async () => {
    const loaded: typeof import("./remote_secret_command.ts") = await import(moduleAt("remote_secret_command"));
    return loaded.runRemoteSecret;
  }),
};

const tag: Command = {
  name: "tag",
  summary: "List, print and remove tags: further names of a revision",
  description:
    "Namespaces labelled mesh.io/rev: TAG get the proxies of the tag's revision. Nothing is written into a cluster.",
  commands: [
    {
      name: "list",
      aliases: ["ls"],
      summary: "List the tags with their revisions and namespaces",
      description: "Reads files and standard input (-), such as the output of kubectl.",
      examples: "  kubectl get -o yaml mutatingwebhookconfigurations,namespaces | pilot-discovery tag list -",
      args: { usage: "<folder|file|->...", min: 1, max: Infinity, complete: "file" },
      flags: tagListFlags,
      run: later(tagListFlags, async () => {
        const loaded: typeof import("./tag_command.ts") = await import(moduleAt("tag_command"));
        return loaded.runTagList;
      }),
    },
    {
      name: "set",
      aliases: ["generate"],
      summary: "Print the objects of a tag, new or moved to another revision",
      description: "The same as `manifests --revision NAME --tag TAG --only tags`.",
      examples: "  pilot-discovery tag set prod --revision canary | kubectl apply --server-side -f -",
      args: { usage: "<tag>", min: 1, max: 1 },
      flags: tagSetFlags,
      run: later(tagSetFlags, async () => {
        const loaded: typeof import("./tag_command.ts") = await import(moduleAt("tag_command"));
        return loaded.runTagSet;
      }),
    },
    {
      name: "remove",
      aliases: ["rm"],
      summary: "Print the objects of a tag, for deletion",
      description: "Refuses a tag that a namespace of the files uses: new pods there would get no proxies.",
      examples: `  kubectl get -o yaml namespaces | pilot-discovery tag remove prod - | kubectl delete -f -`,
      args: { usage: "<tag> [<folder|file|->...]", min: 1, max: Infinity },
      flags: tagRemoveFlags,
      run: later(tagRemoveFlags, async () => {
        const loaded: typeof import("./tag_command.ts") = await import(moduleAt("tag_command"));
        return loaded.runTagRemove;
      }),
    },
  ],
};

export const objectCommands: readonly Command[] = [remoteSecret, tag];
