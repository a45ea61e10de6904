/** Several folders, facts and derivations of one running server. */
import assert from "node:assert/strict";
import type { Derivation } from "../../lib/config/derive/derivation.ts";
import { readFact } from "../../lib/config/facts/read.ts";
import type { Finding } from "../../lib/finding/finding.ts";
import type { DiscoveryServer } from "../../lib/discovery/server.ts";
import { StartError } from "../../mod.ts";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";

const entry = (name: string, port: number) =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x }
spec:
  hosts: [${name}.example.com]
  ports: [{ number: ${port}, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;

/** Runs a server with the folder of the flag and a folder of the mesh configuration. */
async function withFolders(
  first: Record<string, string>,
  second: Record<string, string>,
  run: (server: DiscoveryServer, folders: { first: string; second: string; mesh: string }) => Promise<void>,
  more: {
    readonly sources?: string;
    readonly derivations?: readonly Derivation[];
    readonly log?: ReturnType<typeof openLog>;
  } = {},
): Promise<void> {
  const other = await Deno.makeTempDir();
  const meshFolder = await Deno.makeTempDir();
  const mesh = `${meshFolder}/mesh`;
  try {
    for (const [name, text] of Object.entries(second)) await Deno.writeTextFile(`${other}/${name}`, text);
    await Deno.writeTextFile(mesh, `configSources: [{ address: "fs://${other}" }${more.sources ?? ""}]\n`);
    await withServer(first, (server, folder) => run(server, { first: folder, second: other, mesh }), {
      options: { meshConfig: mesh, derivations: more.derivations ?? [] },
      ...more.log === undefined ? {} : { log: more.log.log },
    });
  } finally {
    await Deno.remove(other, { recursive: true });
    await Deno.remove(meshFolder, { recursive: true });
  }
}

async function json<T>(server: DiscoveryServer, path: string): Promise<T> {
  return JSON.parse((await page(server.ports.http, path)).body);
}

const ports = ({ pipeline }: DiscoveryServer) =>
  [...pipeline.aggregate.services()].map(({ hostname, ports }) => `${hostname}:${ports[0]?.port}`).sort();

/** Waits until the files of the folders have been pushed. */
async function pushed(server: DiscoveryServer): Promise<void> {
  await server.configuration.settled();
  server.pipeline.flush();
}

Deno.test("folders of the mesh configuration are read beside the flag's folder, whose objects have precedence until they are removed", async () => {
  const log = openLog();
  await withFolders(
    { "a.yaml": entry("a", 80) },
    { "a.yaml": entry("a", 81), "b.yaml": entry("b", 82) },
    async (server, folders) => {
      assert.deepEqual(ports(server), ["a.example.com:80", "b.example.com:82"]);
      const [hidden, ...more] = await json<Finding[]>(server, "/debug/problemz");
      assert.deepEqual([more, hidden?.name, hidden?.severity], [[], "hidden-object", "warning"]);
      assert.ok(hidden?.message.includes(`is hidden by the object in ${folders.first}/a.yaml:1, which has precedence`));
      assert.equal(hidden?.place.origin?.source, folders.second);
      assert.equal(log.lines.filter(({ what }) => what === "hidden-object").length, 1);
      await Deno.remove(`${folders.first}/a.yaml`);
      await pushed(server);
      assert.deepEqual(ports(server), ["a.example.com:81", "b.example.com:82"]);
      assert.deepEqual(await json(server, "/debug/problemz"), []);
      const live = await json<{ origin: { source: string } }>(server, "/debug/live?object=ServiceEntry/x/a");
      assert.equal(live.origin.source, folders.second);
      await Deno.writeTextFile(`${folders.first}/a.yaml`, entry("a", 83));
      await pushed(server);
      assert.deepEqual(ports(server), ["a.example.com:83", "b.example.com:82"]);
      await Deno.writeTextFile(`${folders.second}/b.yaml`, entry("b", 700000));
      await pushed(server);
      const stale = server.store.get("ServiceEntry", "x", "b");
      assert.ok(stale !== undefined && server.configuration.isStale(stale), "of the folder that it is in");
    },
    { log },
  );
});

Deno.test("sources that are not read are named, and a changed list needs a restart", async () => {
  const sources = ', { address: "k8s://east" }';
  await withFolders({ "a.yaml": entry("a", 80) }, {}, async (server, { mesh, second }) => {
    const codes = async () =>
      (await json<Finding[]>(server, "/debug/problemz")).map(({ name, place }) => [name, place.field]);
    assert.deepEqual(await codes(), [["no-effect", "configSources[1].address"]]);
    const changed = Promise.withResolvers<void>();
    server.mesh.onChange(() => changed.resolve());
    await Deno.writeTextFile(mesh, `configSources: [{ address: "fs://${second}" }]\n`);
    await changed.promise;
    assert.deepEqual(await codes(), [["no-effect", "configSources[1].address"], ["needs-restart", "configSources"]]);
  }, { sources });
});

Deno.test("a missing folder or a malformed address is reported at the start with its place", async () => {
  const start = (sources: string) => withFolders({}, {}, () => Promise.resolve(), { sources });
  await assert.rejects(start(', { address: "fs:///no/such/folder" }'), (error: Error) => {
    assert.ok(error instanceof StartError);
    assert.match(
      error.message,
      /^meshConfig: configSources\[1\]\.address: got "\/no\/such\/folder", expected a folder/,
    );
    return true;
  });
  for (const address of ["fs://relative", "http://x", "/etc/mesh", "xds://", "xds://h", "xds://h:99999"]) {
    await assert.rejects(start(`, { address: "${address}" }`), /configSources\[1\]\.address: ".*expected an a/);
  }
});

/** A limit of connections for each entry, in namespaces that ask for a limit. */
const limits: Derivation = {
  name: "limits",
  from: ["ServiceEntry"],
  derive(input, read) {
    if (input.kind !== "ServiceEntry") return [];
    const { name, namespace } = input.meta;
    const limit = read.fact("Namespace", "", namespace)?.meta.annotations["example.com/limit"];
    if (limit === undefined) return [];
    const trafficPolicy = { connectionPool: { tcp: { maxConnections: Number(limit) } } };
    return [{
      kind: "DestinationRule",
      meta: { name, namespace },
      spec: { host: input.spec.hosts[0] ?? "", trafficPolicy },
    }];
  },
};

Deno.test("a server derives objects from its folders and from facts, and shows where they come from", async () => {
  await withFolders({ "a.yaml": entry("a", 80) }, {}, async (server, folders) => {
    const rules = async () =>
      (await json<{ kind: string; spec: { host: string }; origin: unknown }[]>(server, "/debug/configz"))
        .filter(({ kind }) => kind === "DestinationRule");
    assert.deepEqual(await rules(), []);
    const api = server.configuration.facts.addSource("cluster-1", 0);
    const tree = { metadata: { name: "x", annotations: { "example.com/limit": "7" } } };
    const { fact } = readFact("Namespace", tree, { from: "api", source: "cluster-1", uid: "1" }, {
      digestKey: new Uint8Array(32),
    });
    assert.ok(fact !== undefined);
    api.apply({ upserted: [fact], removed: [] });
    server.pipeline.flush();
    const [rule] = await rules();
    assert.equal(rule?.spec.host, "a.example.com");
    assert.deepEqual(rule?.origin, {
      from: "derived",
      source: "limits",
      of: "ServiceEntry/x/a",
      parent: { from: "file", source: folders.first, file: "a.yaml", line: 1, within: "" },
    });
    const [push] = await json<{ objects: { key: string; origin: { from: string } }[] }[]>(server, "/debug/pushes");
    assert.deepEqual(push?.objects, [{ key: "DestinationRule/x/a", origin: rule?.origin }], "in the ledger");
    await Deno.remove(`${folders.first}/a.yaml`);
    await pushed(server);
    assert.deepEqual(await rules(), []);
  }, { derivations: [limits] });
});
