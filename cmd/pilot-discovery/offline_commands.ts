/**
 * Commands without a server: they check, explain, compare and translate the configuration that a server would serve, and
 * print the objects of an installation, and tell what a mesh needs.
 *
 * @module
 */
import type { Command } from "../../lib/cli/command.ts";
import { COULD_NOT_RUN, later, moduleAt } from "./later.ts";
import { checkFlags, diffFlags, explainFlags, sizeFlags, translateFlags } from "./offline_flags.ts";
import { manifestsFlags } from "./manifests_flags.ts";
import { waypointGenerateFlags, waypointListFlags } from "./waypoint_flags.ts";

const check: Command = {
  name: "check",
  summary: "Check configuration in files: syntax, fields, references, conflicts",
  description:
    `Checks folders, files and standard input (-) as one mesh; without an argument this folder. Exit code: 0 nothing is as bad as
--fail-on, 1 something is, 2 the check could not run.`,
  examples: `  pilot-discovery check mesh/
  helm template . | pilot-discovery check mesh/ -
  pilot-discovery check mesh/ --write-baseline > baseline.json
  pilot-discovery check mesh/ --baseline baseline.json -o sarif > findings.sarif`,
  args: { usage: "[<folder|file|->...]", min: 0, max: Infinity, complete: "file" },
  flags: checkFlags,
  mistake: COULD_NOT_RUN,
  run: later(checkFlags, async () => {
    const loaded: typeof import("./check_command.ts") = await import(moduleAt("check_command"));
    return loaded.runCheck;
  }),
};

const diff: Command = {
  name: "diff",
  summary: "Tell what a change does to proxies, before it is applied",
  description:
    `Compares two versions of configuration by what proxies would be sent: how many receive nothing, what the others receive,
which objects caused it, whether connections are kept, and which findings are new or resolved. Each version is a folder, a
file, - for standard input, or the address of a running server: then its connected proxies are compared. Exit code: 0 nothing differs, 1 something does, 2 this could not be found out.`,
  examples: `  pilot-discovery diff mesh/ mesh-new/
  pilot-discovery diff 127.0.0.1:8080 mesh/
  git worktree add ../main main && pilot-discovery diff ../main/mesh mesh/`,
  args: { usage: "<old> <new>", min: 2, max: 2, complete: "file" },
  flags: diffFlags,
  mistake: COULD_NOT_RUN,
  run: later(diffFlags, async () => {
    const loaded: typeof import("./diff_command.ts") = await import(moduleAt("diff_command"));
    return loaded.runDiff;
  }),
};

const explain: Command = {
  name: "explain",
  summary: "Tell where a request goes, and which field of which file decided",
  description:
    `Follows a request through the client's proxy and through the proxy of the endpoint that it reaches. Each step names the
object and the line that caused it; rules that did not match say why. Where weights share requests out, every share is
followed. Exit code: 0 the request is served, 1 it or a share of such requests fails on its way, 2 this could not be found out.`,
  examples: `  pilot-discovery explain mesh/ --from shop/cart --to http://reviews/api --header 'x-beta: yes'
  pilot-discovery explain --server 127.0.0.1:8080 --from shop/cart --to http://reviews/api`,
  args: { usage: "[<folder|file|->...]", min: 0, max: Infinity, complete: "file" },
  flags: explainFlags,
  mistake: COULD_NOT_RUN,
  run: later(explainFlags, async () => {
    const loaded: typeof import("./explain_command.ts") = await import(moduleAt("explain_command"));
    return loaded.runExplain;
  }),
};

const translate: Command = {
  name: "translate",
  summary: "Print the resources of one proxy, from files alone",
  description:
    `Prints what a server of these files would send to one proxy: all resources, or those of some types, in the JSON form
of protobuf that Envoy reads. As a bootstrap they are what \`envoy --mode validate -c\` and an Envoy without a server take.`,
  examples: `  pilot-discovery translate mesh/ --node shop/cart --type cds,eds
  pilot-discovery translate mesh/ --node shop/cart -o bootstrap > envoy.yaml`,
  args: { usage: "<folder|file|->...", min: 1, max: Infinity, complete: "file" },
  flags: translateFlags,
  mistake: COULD_NOT_RUN,
  run: later(translateFlags, async () => {
    const loaded: typeof import("./translate_command.ts") = await import(moduleAt("translate_command"));
    return loaded.runTranslate;
  }),
};

const manifests: Command = {
  name: "manifests",
  summary: "Print the objects of an installation, or of another revision beside it",
  description:
    `Prints Kubernetes objects as YAML. Without --revision: the default installation, without the definitions of the kinds
(manifests/definitions.yaml). With --revision NAME: what the revision needs beside the default one, and no object that another
revision uses, so the same output deletes the revision. With --tag NAME: the webhook of a tag, by which namespaces labelled
mesh.io/rev: NAME get the revision's proxies.`,
  examples: `  pilot-discovery manifests --revision canary | kubectl apply --server-side -f -
  pilot-discovery manifests --revision canary --tag prod --only tags | kubectl apply --server-side -f -
  pilot-discovery manifests --revision canary | kubectl delete -f -`,
  flags: manifestsFlags,
  run: later(manifestsFlags, async () => {
    const loaded: typeof import("./manifests_command.ts") = await import(moduleAt("manifests_command"));
    return loaded.runManifests;
  }),
};

const size: Command = {
  name: "size",
  summary: "Tell what a mesh of some size needs, by measured rows",
  description:
    `Answers before an installation: replicas, memory and CPU of the server, bytes to proxies, the time of a change, and the
memory of agents. The answer names the measured rows on which it rests. Between two rows the answer is on the line through both; a
size beyond the rows is reported as such, and nothing is extrapolated.`,
  examples: "  pilot-discovery size --services 800 --proxies 250",
  flags: sizeFlags,
  mistake: COULD_NOT_RUN,
  run: later(sizeFlags, async () => {
    const loaded: typeof import("./size_command.ts") = await import(moduleAt("size_command"));
    return loaded.runSize;
  }),
};

const waypoint: Command = {
  name: "waypoint",
  summary: "Print a waypoint, or list the waypoints of files with their services",
  description:
    "A waypoint is a Gateway that kubectl applies, waits for and deletes; these commands write nothing into a cluster.",
  commands: [
    {
      name: "generate",
      summary: "Print the Gateway of a waypoint",
      description: "Prints the Gateway as YAML. The servers deploy the pods of the waypoint.",
      examples: `  pilot-discovery waypoint generate -n shop --enroll-namespace | kubectl apply --server-side -f -
  kubectl wait --for=condition=Programmed gateway/waypoint -n shop
  kubectl delete gateway waypoint -n shop`,
      flags: waypointGenerateFlags,
      run: later(waypointGenerateFlags, async () => {
        const loaded: typeof import("./waypoint_command.ts") = await import(moduleAt("waypoint_command"));
        return loaded.runWaypointGenerate;
      }),
    },
    {
      name: "list",
      summary: "List waypoints and the services that ask for them",
      description:
        `Reads folders, files and standard input (-), such as the output of kubectl; without an argument this folder. Each service
that asks for a waypoint is listed with the way of its connections. Exit code: 0 all of them use their waypoint, 1 some do not, 2
this could not be found out.`,
      examples:
        `  kubectl get -o yaml -A gateways.gateway.networking.k8s.io,namespaces,services,authorizationpolicies.security.istio.io |
    pilot-discovery waypoint list -
  pilot-discovery waypoint list mesh/`,
      args: { usage: "[<folder|file|->...]", min: 0, max: Infinity, complete: "file" },
      flags: waypointListFlags,
      mistake: COULD_NOT_RUN,
      run: later(waypointListFlags, async () => {
        const loaded: typeof import("./waypoint_command.ts") = await import(moduleAt("waypoint_command"));
        return loaded.runWaypointList;
      }),
    },
  ],
};

export const offlineCommands: readonly Command[] = [check, diff, explain, manifests, size, translate, waypoint];
