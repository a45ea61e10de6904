/**
 * The command `precheck`: whether the mesh can be installed in a cluster, or upgraded.
 *
 * Permissions: net (the API of the cluster, and a server), read (files of access), env (the program's variables).
 *
 * @module
 */
import * as z from "zod";
import { type Invocation, UsageError } from "../../lib/cli/command.ts";
import { columns } from "../../lib/cli/terminal/layout.ts";
import { safeText, styleOf } from "../../lib/cli/terminal/style.ts";
import { NO_TERMINAL, type Terminal } from "../../lib/cli/terminal/terminal.ts";
import type { TypeComment } from "../../lib/config/schema/json_schema.ts";
import { kindDefinition } from "../../lib/config/kinds/definition.ts";
import { MESH_KINDS, type MeshKind } from "../../lib/config/kinds/kinds.ts";
import { precheck } from "../../lib/install/precheck/checks.ts";
import {
  API_VERSION_ANSWER,
  type ClusterFacts,
  DEFINED_KIND,
  MUTATING_WEBHOOKS,
  NAMESPACE_OBJECT,
  NODE_OBJECT,
  POD_OBJECT,
  type ReadKind,
  type ReviewedRight,
  type RunningProxy,
  SERVICE_OBJECT,
} from "../../lib/install/precheck/facts.ts";
import type { PrecheckResult } from "../../lib/install/precheck/result.ts";
import { installObjects } from "../../lib/install/parts.ts";
import { withoutComments } from "../../lib/install/template/resolved.ts";
import { type InstallValues, readInstallValues } from "../../lib/install/values/values.ts";
import { buildInfo } from "../../lib/kernel/program/build_info.ts";
import { ApiError } from "../../lib/orch/client/api_error.ts";
import type { ApiClient } from "../../lib/orch/client/client.ts";
import { definitionName, KIND_DEFINITIONS, readVersions } from "../../lib/orch/resources/definitions.ts";
import { askServer, serverOfFlag } from "./ask_server.ts";
import { clusterClient } from "./cluster_client.ts";
import type { precheckFlags } from "./cluster_flags.ts";

type PrecheckFlags = Invocation<typeof precheckFlags>["flags"];

/** Prints the results. Resolves with 0, or with 1 if one is an error. */
export async function runPrecheck({ flags, output }: Invocation<typeof precheckFlags>): Promise<number> {
  const values = readInstallValues({}, { revision: flags.revision, namespace: flags.namespace });
  if ("problems" in values) throw new UsageError(values.problems.join("\n"));
  const proxies = flags.server === "" ? undefined : await proxiesOf(serverOfFlag(flags.server));
  using cluster = await clusterClient(flags);
  const facts = await orClusterError(cluster.server, () => factsOf(cluster.client, values.values, flags));
  const results = precheck({ ...facts, ...proxies === undefined ? {} : { proxies } });
  if (flags.output === "json") output.out(`${JSON.stringify({ cluster: cluster.server, results }, undefined, 2)}\n`);
  else output.out(resultsText(results, cluster.server, output.terminals?.out ?? NO_TERMINAL));
  return results.some(({ state }) => state === "error") ? 1 : 0;
}

function resultsText(results: readonly PrecheckResult[], server: string, terminal: Terminal): string {
  const style = styleOf(terminal);
  const tones = { ok: "good", warning: "warning", error: "error" } as const;
  const rows = results.flatMap(({ check, state, message, fix }) => [
    [style(tones[state], state), check, message],
    ...fix === "" ? [] : [["", "", style("faint", fix)]],
  ]);
  return safeText([`cluster ${server}`, ...columns(rows, terminal.width), ""].join("\n"));
}

/** Turns failures of the API into mistakes of the user with the API's address. */
async function orClusterError<T>(server: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ApiError) throw new UsageError(`${server}: ${error.message}`);
    if (error instanceof z.ZodError) throw new UsageError(`${server}: got an answer of another form: ${error.message}`);
    throw error;
  }
}

async function factsOf(client: ApiClient, values: InstallValues, flags: PrecheckFlags): Promise<ClusterFacts> {
  const planned = installObjects(values).map((one) => INSTALLED.parse(withoutComments(one)));
  const read = async <S extends z.ZodType>(path: string, schema: S): Promise<z.output<S>[]> => {
    const items: z.output<S>[] = [];
    await (await client.send({ path })).list((item) => void items.push(schema.parse(item)));
    return items;
  };
  const readIfAllowed = async <S extends z.ZodType>(path: string, schema: S) => {
    try {
      return await read(path, schema);
    } catch (error) {
      if (error instanceof ApiError && error.forbidden) return undefined;
      throw error;
    }
  };
  const [version, rights, definitions, webhooks, namespaces, services, pods, nodes] = await Promise.all([
    client.json({ path: "/version" }),
    rightsOf(client, planned),
    read("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINED_KIND),
    read("/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations", MUTATING_WEBHOOKS),
    read("/api/v1/namespaces", NAMESPACE_OBJECT),
    readIfAllowed("/api/v1/services", SERVICE_OBJECT),
    readIfAllowed("/api/v1/pods", POD_OBJECT),
    flags.cni ? read("/api/v1/nodes", NODE_OBJECT) : undefined,
  ]);
  return {
    ...{ version: API_VERSION_ANSWER.parse(version), rights, definitions, webhooks, namespaces },
    ...services === undefined ? {} : { services },
    ...pods === undefined ? {} : { pods },
    ...nodes === undefined ? {} : { nodes },
    planned: planned.filter(({ kind }) => kind === "MutatingWebhookConfiguration").map((one) =>
      MUTATING_WEBHOOKS.parse(one)
    ),
    kinds: MESH_KINDS.map(readKind),
    ownVersion: buildInfo().version,
  };
}

/** An object of an installation. */
const INSTALLED = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ namespace: z.string().default("") }),
});

/** Asks for each sort of object of an installation, and for definitions, whether the user may create it. */
async function rightsOf(client: ApiClient, objects: readonly z.output<typeof INSTALLED>[]): Promise<ReviewedRight[]> {
  const wanted = new Map<string, Omit<ReviewedRight, "allowed">>();
  const want = (group: string, resource: string, namespace: string) => {
    for (const verb of ["create", "patch"]) {
      wanted.set(`${verb} ${group} ${resource} ${namespace}`, { verb, group, resource, namespace });
    }
  };
  want("apiextensions.k8s.io", "customresourcedefinitions", "");
  for (const { apiVersion, kind, metadata: { namespace } } of objects) {
    const group = apiVersion.includes("/") ? apiVersion.slice(0, apiVersion.indexOf("/")) : "";
    want(group, `${kind.toLowerCase()}${kind.endsWith("s") ? "es" : "s"}`, namespace);
  }
  const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";
  return await Promise.all([...wanted.values()].map(async (right): Promise<ReviewedRight> => {
    const spec = { resourceAttributes: right };
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
    const { status } = ACCESS_REVIEW.parse(await client.json({ method: "POST", path, body }));
    return { ...right, allowed: status.allowed };
  }));
}

const ACCESS_REVIEW = z.looseObject({ status: z.looseObject({ allowed: z.boolean() }) });

/** The part of a definition that tells its fields. */
const OWN_DEFINITION = z.looseObject({
  spec: z.looseObject({
    versions: z.array(z.looseObject({
      schema: z.looseObject({
        openAPIV3Schema: z.looseObject({
          properties: z.looseObject({
            spec: z.looseObject({ properties: z.record(z.string(), z.unknown()).default({}) }),
          }),
        }),
      }),
    })),
  }),
});

/** Definitions without descriptions. */
const NO_COMMENTS: TypeComment = { field: () => undefined };

function readKind(kind: MeshKind): ReadKind {
  const [own] = OWN_DEFINITION.parse(kindDefinition(kind, "", NO_COMMENTS)).spec.versions;
  return {
    definitions: KIND_DEFINITIONS.filter((one) => one.kind === kind).map(definitionName),
    versions: readVersions(kind, false),
    fields: Object.keys(own?.schema.openAPIV3Schema.properties.spec.properties ?? {}),
  };
}

const SYNC_ROWS = z.array(z.looseObject({ proxy: z.string(), mesh_version: z.string().default("") }));

/** The connected proxies of a server. */
async function proxiesOf(server: URL): Promise<RunningProxy[]> {
  const read = SYNC_ROWS.safeParse(await askServer("GET", new URL("/debug/syncz", server)));
  if (!read.success) throw new UsageError(`${server.origin}/debug/syncz: got another form, expected a list of proxies`);
  return read.data.map(({ proxy, mesh_version }) => ({ name: proxy, version: mesh_version }));
}
