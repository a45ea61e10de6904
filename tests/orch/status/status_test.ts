/** What a server writes into objects of a real API server, with the rights of the manifests and no others. */
import assert from "node:assert/strict";
import { OwnReport } from "../../../lib/discovery/status/server_reports.ts";
import { KIND_DEFINITIONS } from "../../../lib/orch/resources/definitions.ts";
import { withServer } from "../../discovery/running.ts";
import { openDefinition } from "../support/open_definition.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { kubeconfigOf } from "../support/server/kubeconfig.ts";
import type { ObjectDraft, ObjectId } from "../support/server/objects.ts";
import { everyRightIsNeeded, type Right, SYSTEM } from "../support/server/one_right_less.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { PATIENCE, until } from "../../patience.ts";

const test = apiServerTests();
const GROUP = "networking.mesh.io";

type Draft = ObjectDraft & ObjectId;

const entry = (namespace: string, name: string, spec: Record<string, unknown> = {}): Draft => ({
  ...{ apiVersion: `${GROUP}/v1`, kind: "ServiceEntry", metadata: { namespace, name } },
  spec: {
    ...{ hosts: [`${name}.example.com`], ports: [{ number: 80, name: "http", protocol: "HTTP" }] },
    ...{ resolution: "STATIC", endpoints: [{ address: "10.0.0.1" }] },
    ...spec,
  },
});

const route = (namespace: string, destination: string): Draft => ({
  ...{ apiVersion: `${GROUP}/v1`, kind: "VirtualService", metadata: { namespace, name: "v" } },
  spec: { hosts: ["a.example.com"], http: [{ route: [{ destination: { host: destination } }] }] },
});

/** The definition of Istio's service entries. There the conditions are an atomic list, which is one value. */
const THEIRS = openDefinition(KIND_DEFINITIONS.find(({ kind, own }) => kind === "ServiceEntry" && !own)!);

async function prepare(server: ApiServer): Promise<void> {
  for (const definition of manifests("definitions")) await server.objects.define(definition);
  await server.objects.define(THEIRS);
  for (const manifest of manifests("pilot-discovery")) await server.objects.apply(manifest);
  const what = { verb: "patch", group: GROUP, resource: "serviceentries", subresource: "status" };
  await server.users.granted(SYSTEM, "meshd", what);
}

interface ReadStatus {
  readonly addresses?: readonly { readonly host: string; readonly value: string }[];
  readonly conditions?: readonly Record<string, unknown>[];
  readonly validationMessages?: readonly Record<string, unknown>[];
  readonly observedGeneration?: number;
}

async function statusOf(server: ApiServer, id: Draft): Promise<ReadStatus> {
  return ((await server.objects.get(id))?.["status"] ?? {}) as ReadStatus;
}

function said({ conditions = [] }: ReadStatus): Record<string, string> {
  return Object.fromEntries(conditions.map(({ type, status, message }) => [type, `${status}: ${message}`]));
}

/** Runs a server as the account of the manifests. */
async function withStatus(server: ApiServer, run: () => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "status-" });
  const file = `${folder}/kubeconfig`;
  const token = await server.users.token(SYSTEM, "meshd");
  await Deno.writeTextFile(file, kubeconfigOf(server.users.byToken(token)));
  const place = { from: "files", files: [file], by: "test" } as const;
  const orch = { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
  const settings = { PILOT_ENABLE_ANALYSIS: true, PILOT_ANALYSIS_INTERVAL: 200, PILOT_STATUS_UPDATE_INTERVAL: 50 };
  try {
    await withServer({}, run, { options: { configDir: undefined, orch }, settings });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

test("a server writes addresses and what it finds with the rights of the manifests, beside what others wrote", async ({ server, namespace }) => {
  await prepare(server);
  const theirs: Draft = { ...entry(namespace, "theirs"), apiVersion: "networking.istio.io/v1" };
  const condition = { type: "Theirs", status: "True", message: "theirs" };
  await server.objects.create(theirs);
  await server.objects.patch(theirs, { status: { conditions: [condition] } }, "status");
  await server.objects.create(entry(namespace, "a"));
  await server.objects.create(route(namespace, "absent.example.com"));
  await withStatus(server, async () => {
    await until(
      "addresses",
      async () => (await statusOf(server, entry(namespace, "a"))).addresses?.length === 2,
    );
    const { addresses } = await statusOf(server, entry(namespace, "a"));
    assert.deepEqual(addresses!.map(({ host }) => host), ["a.example.com", "a.example.com"]);
    assert.match(addresses![0]!.value, /^240\.240\./);
    await until("the other definition's", async () => {
      const { addresses, conditions } = await statusOf(server, theirs);
      return addresses?.length === 2 && conditions?.length === 3;
    });
    assert.deepEqual((await statusOf(server, theirs)).conditions![0], condition);
    const id = route(namespace, "");
    await until(
      "the finding",
      async () => said(await statusOf(server, id))["PassedValidation"]?.startsWith("False") ?? false,
    );
    const found = await statusOf(server, id);
    assert.equal(found.observedGeneration, 1);
    assert.match(
      said(found)["Reconciled"]!,
      /^False: 0\/0 proxies up to date\. Parts of the object have no effect: MSH0101: /,
    );
    assert.match(JSON.stringify(found.validationMessages), /absent\.example\.com.*"code":"MSH0101"/);
    await server.objects.apply(route(namespace, "a.example.com"));
    await until("the edit", async () => (await statusOf(server, id)).observedGeneration === 2);
    assert.deepEqual(said(await statusOf(server, id)), {
      Reconciled: "Unknown: No connected proxy has a resource of the object.",
      PassedValidation: "True: No errors found.",
    });
    // A user writes the allocated address.
    await server.objects.create(entry(namespace, "user", { addresses: [addresses![0]!.value] }));
    await until("another address", async () => {
      const now = (await statusOf(server, entry(namespace, "a"))).addresses ?? [];
      return now.length === 2 && now.every(({ value }) => addresses!.every((one) => one.value !== value));
    });
  });
});

test("the reports of servers take the rights of the manifests; with one verb less the request is refused", async ({ server }) => {
  const writes = ({ resource, verb, name }: Right) =>
    resource === "configmaps" && name === undefined && ["create", "patch", "delete"].includes(verb);
  await everyRightIsNeeded(server, ["pilot-discovery"], writes, async ({ client, account }) => {
    const signal = AbortSignal.timeout(PATIENCE);
    const report = new OwnReport(client, SYSTEM, account);
    await report.write(new Map(), 0, signal);
    await report.remove(signal);
  });
});
