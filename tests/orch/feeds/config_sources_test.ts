/** The orchestrator among the sources of the mesh configuration. */
import assert from "node:assert/strict";
import { StartError } from "../../../lib/discovery/settings/start_error.ts";
import type { DiscoveryServer } from "../../../lib/discovery/server.ts";
import { withServer } from "../../discovery/running.ts";
import { meshDraft, namespaceDraft, serviceDraft } from "../support/drafts.ts";
import { defineKinds } from "../support/feeds.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();

const entry = (namespace: string, name: string, host: string) =>
  meshDraft("ServiceEntry", namespace, name, {
    hosts: [host],
    ports: [{ number: 80, name: "http", protocol: "HTTP" }],
    resolution: "NONE",
  });

/** Runs a server with a folder that has one entry. `FOLDER` in the list stands for the folder's path. */
async function withSources(
  { server, namespace }: { readonly server?: ApiServer; readonly namespace: string },
  list: readonly string[],
  run: (server: DiscoveryServer, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir({ prefix: "sources-" });
  try {
    const listed = `${folder}/listed`;
    await Deno.mkdir(listed);
    await Deno.writeTextFile(`${listed}/a.yaml`, JSON.stringify(entry(namespace, "both", "folder.example")));
    const configSources = list.map((address) => ({ address: address.replace("FOLDER", listed) }));
    await Deno.writeTextFile(`${folder}/mesh`, JSON.stringify({ configSources }));
    const place = server && { from: "files", files: [server.kubeconfig], by: "test" } as const;
    const orch = place && { place, qps: 0, burst: 1, allowed: [], namespace: "", kinds: true, services: true };
    const options = { configDir: undefined, meshConfig: `${folder}/mesh`, orch };
    await withServer({}, (started) => run(started, listed), { options });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

const hosts = ({ store }: DiscoveryServer, namespace: string) =>
  store.list("ServiceEntry", namespace).map(({ spec }) => spec.hosts[0]);

const hidden = (server: DiscoveryServer) =>
  [...server.findings()].filter(({ name }) => name === "hidden-object").map(({ message }) => message);

test("of a folder and the orchestrator the first listed source counts; the other source's object is reported, and takes over when the first is removed", async ({ server, namespace }) => {
  await defineKinds(server);
  const { objects } = server;
  await objects.create(entry(namespace, "both", "api.example"));
  await objects.create(entry(namespace, "one", "one.example"));
  await withSources({ server, namespace }, ["fs://FOLDER", "k8s://"], async (started, folder) => {
    assert.deepEqual(hosts(started, namespace), ["folder.example", "one.example"]);
    assert.match(
      hidden(started).join(),
      new RegExp(`^ServiceEntry ${namespace}/both is hidden by the object in ${folder}`),
    );
    await Deno.remove(`${folder}/a.yaml`);
    await until("the orchestrator's", () => hosts(started, namespace)[0] === "api.example");
    assert.deepEqual(hidden(started), []);
  });
  await withSources({ server, namespace }, ["orch://", "fs://FOLDER"], async (started) => {
    assert.deepEqual(hosts(started, namespace), ["api.example", "one.example"]);
    assert.equal(hidden(started).length, 1);
    await objects.delete(entry(namespace, "both", ""));
    await until("the folder's", () => hosts(started, namespace)[0] === "folder.example");
  });
});

test("a list without the orchestrator leaves its kinds out, not its services", async ({ server, namespace }) => {
  await defineKinds(server);
  await server.objects.apply(namespaceDraft(namespace));
  await server.objects.create(entry(namespace, "one", "one.example"));
  await server.objects.create(serviceDraft(namespace, "cart"));
  await withSources({ server, namespace }, ["fs://FOLDER"], (started) => {
    assert.deepEqual(hosts(started, namespace), ["folder.example"]);
    assert.ok(started.pipeline.aggregate.service(`${namespace}/cart.${namespace}.svc.cluster.local`) !== undefined);
    return Promise.resolve();
  });
});

Deno.test("an orchestrator that is listed and to which there is no access is an error at the start, with its place", async () => {
  await assert.rejects(
    withSources({ namespace: "x" }, ["fs://FOLDER", "k8s://"], () => Promise.resolve()),
    (error: Error) => {
      assert.ok(error instanceof StartError);
      assert.match(
        error.message,
        /^meshConfig: configSources\[1\]\.address: got "k8s:\/\/", expected access to an orch/,
      );
      return true;
    },
  );
});
