/**
 * The parts of a report that the API of a cluster gives: objects of the mesh's kinds with their statuses, workloads,
 * events, nodes, webhooks and logs.
 *
 * Permissions: net (the API).
 *
 * @module
 */
import { errorMessage } from "../../lib/kernel/text/error_message.ts";
import * as z from "zod";
import type { ApiClient } from "../../lib/orch/client/client.ts";
import {
  GATEWAY_API_DEFINITIONS,
  KIND_DEFINITIONS,
  type MeshDefinition,
  readVersions,
} from "../../lib/orch/resources/definitions.ts";
import { servedVersions } from "../../lib/orch/resources/served.ts";
import { type ArchivePart, fileName } from "../../lib/offline/report/archive.ts";
import { withoutSecretJson } from "../../lib/offline/report/secret_json.ts";
import { withoutSecretText } from "../../lib/offline/report/secret_text.ts";
import type { ReportScope } from "./report_scope.ts";

/** Most objects of a kind. */
const MAX_OBJECTS = 2000;

/** Bounds of a log. */
const LOG = { lines: 5000, bytes: 4 * 1024 * 1024 };

/** Longest silence of a log, in milliseconds. */
const LOG_IDLE = 10_000;

/** Containers with logs in every namespace. */
const PROXY_CONTAINERS: ReadonlySet<string> = new Set(["mesh-proxy", "istio-proxy"]);

/** Most names of pods in a note. */
const MAX_NAMED = 5;

/** Lists beside the kinds of the mesh, by their name in the archive. */
const LISTS: Readonly<Record<string, string>> = {
  nodes: "/api/v1/nodes",
  namespaces: "/api/v1/namespaces",
  events: "/api/v1/events",
  services: "/api/v1/services",
  deployments: "/apis/apps/v1/deployments",
  daemonsets: "/apis/apps/v1/daemonsets",
  mutatingwebhookconfigurations: "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations",
  validatingwebhookconfigurations: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
};

const NAMED = z.looseObject({
  metadata: z.looseObject({ name: z.string(), namespace: z.string().default("") }),
});

const CONTAINERS = z.array(z.looseObject({ name: z.string() })).default([]);

const POD = z.looseObject({
  ...NAMED.shape,
  spec: z.looseObject({ containers: CONTAINERS, initContainers: CONTAINERS }),
});

/** The parts of a cluster. @param systemNamespace of the servers */
export async function* clusterParts(
  client: ApiClient,
  systemNamespace: string,
  scope: ReportScope,
): AsyncGenerator<ArchivePart> {
  yield* onePart("cluster/version", scope, () => client.json({ path: "/version", within: scope.left() }));
  for (const [name, path] of Object.entries(LISTS)) yield* listPart(client, name, path, scope);
  yield* meshKinds(client, scope);
  const pods: z.output<typeof POD>[] = [];
  yield* listPart(client, "pods", "/api/v1/pods", scope, (item) => {
    const read = POD.safeParse(item);
    if (read.success) pods.push(read.data);
  });
  noteElsewhere(pods, scope);
  let left = scope.maxProxies;
  for (const { metadata: { name, namespace }, spec: { containers, initContainers } } of pods) {
    const isOwn = namespace === systemNamespace;
    // A native sidecar is an init container.
    const logged = [...initContainers, ...containers].filter((one) => isOwn || PROXY_CONTAINERS.has(one.name));
    if (logged.length === 0) continue;
    if (!isOwn && left-- <= 0) continue;
    for (const container of logged) yield* logPart(client, namespace, name, container.name, scope);
  }
  if (left < 0) scope.failed("logs", `only those of the first ${scope.maxProxies} proxies are in the report`);
}

/** Notes the proxies that the asked server does not know: the proxies are connected to other servers, or to none. */
function noteElsewhere(pods: readonly z.output<typeof POD>[], scope: ReportScope): void {
  const { connected } = scope;
  if (connected === undefined) return;
  const hasProxy = ({ spec: { containers, initContainers } }: z.output<typeof POD>) =>
    [...initContainers, ...containers].some(({ name }) => PROXY_CONTAINERS.has(name));
  const names = pods.filter(hasProxy).map(({ metadata: { name, namespace } }) => `${name}.${namespace}`);
  const elsewhere = names.filter((name) => !connected.has(name));
  if (elsewhere.length === 0) return;
  const more = elsewhere.length > MAX_NAMED ? ` and ${elsewhere.length - MAX_NAMED} more` : "";
  const named = `${elsewhere.slice(0, MAX_NAMED).join(", ")}${more}`;
  scope.failed("proxies", `${named}: not connected to the server that was asked; ask each server for its proxies`);
}

async function* meshKinds(client: ApiClient, scope: ReportScope): AsyncGenerator<ArchivePart> {
  const all: readonly MeshDefinition[] = [...KIND_DEFINITIONS, ...GATEWAY_API_DEFINITIONS];
  for (const [group, kinds] of Map.groupBy(all, (one) => one.group)) {
    if (scope.isOver()) return;
    try {
      const served = await servedVersions(client, group, AbortSignal.timeout(Math.max(1, scope.left())));
      for (const { kind, plural } of kinds) {
        const version = readVersions(kind, true).find((one) => served.get(plural)?.has(one));
        if (version === undefined) continue;
        yield* listPart(client, `${plural}.${group}`, `/apis/${group}/${version}/${plural}`, scope);
      }
    } catch (error) {
      scope.failed(`cluster/${group}`, errorMessage(error));
    }
  }
}

/** The objects of a list that the scope takes. */
async function* listPart(
  client: ApiClient,
  name: string,
  path: string,
  scope: ReportScope,
  also: (item: unknown) => void = () => {},
): AsyncGenerator<ArchivePart> {
  yield* onePart(`cluster/${fileName(name)}`, scope, async () => {
    const items: unknown[] = [];
    const answer = await client.send({ path: `${path}?limit=${MAX_OBJECTS}`, within: scope.left() });
    const list = await answer.list((item) => {
      const read = NAMED.safeParse(item);
      if (!read.success || !scope.takes(read.data.metadata.namespace)) return;
      items.push(item);
      also(item);
    });
    const { metadata } = z.looseObject({ metadata: z.looseObject({ continue: z.string().default("") }) }).parse(list);
    if (metadata.continue !== "") scope.failed(`cluster/${name}`, `only the first ${MAX_OBJECTS} were read`);
    return items;
  });
}

async function* onePart(path: string, scope: ReportScope, read: () => Promise<unknown>): AsyncGenerator<ArchivePart> {
  if (scope.isOver()) return;
  try {
    const value = await read();
    yield { path: `${path}.json`, text: `${JSON.stringify(withoutSecretJson(value, scope.known), undefined, 1)}\n` };
  } catch (error) {
    scope.failed(path, errorMessage(error));
  }
}

async function* logPart(
  client: ApiClient,
  namespace: string,
  pod: string,
  container: string,
  scope: ReportScope,
): AsyncGenerator<ArchivePart> {
  const path = `logs/${fileName(namespace)}/${fileName(pod)}/${fileName(container)}.log`;
  if (scope.isOver()) return;
  try {
    const query = new URLSearchParams({ container, tailLines: `${LOG.lines}`, limitBytes: `${LOG.bytes}` });
    const answer = await client.send({
      path: `/api/v1/namespaces/${namespace}/pods/${pod}/log?${query}`,
      ...{ accept: "*/*", within: Math.max(1, scope.left()) },
    });
    const lines: string[] = [];
    for await (const some of answer.lines(LOG_IDLE)) lines.push(...some);
    // A key of several lines is a key only as a whole.
    yield { path, text: withoutSecretText(`${lines.join("\n")}\n`) };
  } catch (error) {
    scope.failed(path, errorMessage(error));
  }
}
