/** Servers with configuration from another control plane over xDS, and the control plane's side. */
import assert from "node:assert/strict";
import type { ConfigSource } from "../../lib/config/mesh/types.ts";
import type { Finding } from "../../lib/finding/finding.ts";
import { sourceServer } from "../../lib/discovery/sources/remote_server.ts";
import type { DiscoveryServer } from "../../lib/discovery/server.ts";
import { StartError } from "../../mod.ts";
import { type ServerCall, ServerStream } from "../../lib/grpc/client/server_stream.ts";
import { encode } from "../../lib/pb/codec.ts";
import { decode } from "../../lib/pb/reflect.ts";
import { struct } from "../../lib/pb/wellknown.ts";
import { TestIssuer } from "../authenticators/support/issuer.ts";
import { openLog } from "./open_log.ts";
import { page, withServer } from "./running.ts";
import { until } from "../patience.ts";

const entry = (name: string, host: string, more = "") =>
  `apiVersion: networking.mesh.io/v1
kind: ServiceEntry
metadata: { name: ${name}, namespace: x${more} }
spec:
  hosts: [${host}]
  ports: [{ number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: 10.0.0.1 }]
`;

const hosts = ({ store }: DiscoveryServer) => store.list("ServiceEntry").map(({ spec }) => spec.hosts[0]).sort();

/** A lasting address for changing servers. */
class Door implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  #open = new AbortController();
  /** Undefined: callers are sent away. */
  #target: number | undefined;

  constructor() {
    void this.#serve();
  }

  get address(): string {
    return `xds://127.0.0.1:${(this.#listener.addr as Deno.NetAddr).port}`;
  }

  /** Leads new connections to a port, and ends open connections. */
  lead(target: number | undefined): void {
    this.#target = target;
    this.#open.abort();
    this.#open = new AbortController();
  }

  [Symbol.dispose](): void {
    this.#listener.close();
    this.lead(undefined);
  }

  async #serve(): Promise<void> {
    for await (const outer of this.#listener) {
      if (this.#target === undefined) {
        outer.close();
        continue;
      }
      const inner = await Deno.connect({ hostname: "127.0.0.1", port: this.#target });
      const { signal } = this.#open;
      outer.readable.pipeTo(inner.writable, { signal }).catch(() => {});
      inner.readable.pipeTo(outer.writable, { signal }).catch(() => {});
    }
  }
}

/** Runs a server whose configuration comes from an address. */
async function withSource(
  source: object,
  run: (server: DiscoveryServer, mesh: string) => Promise<void>,
  { files = {}, log = openLog() }: { files?: Record<string, string>; log?: ReturnType<typeof openLog> } = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await Deno.writeTextFile(`${folder}/mesh`, JSON.stringify({ configSources: [source] }));
    const options = { meshConfig: `${folder}/mesh` };
    await withServer(files, (server) => run(server, `${folder}/mesh`), { options, log: log.log });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("objects of another control plane are in force in their state there: new, edited, gone", async () => {
  await withServer({ "a.yaml": entry("a", "a.example.com") }, async (there, folder) => {
    await withSource({ address: `xds://127.0.0.1:${there.ports.grpc}` }, async (here) => {
      assert.deepEqual(hosts(here), ["a.example.com"]);
      assert.deepEqual([...here.pipeline.aggregate.services()].map(({ hostname }) => hostname), ["a.example.com"]);
      const live = JSON.parse((await page(here.ports.http, "/debug/live?object=ServiceEntry/x/a")).body);
      assert.equal(live.origin.source, `xds://127.0.0.1:${there.ports.grpc}`);
      await Deno.writeTextFile(`${folder}/b.yaml`, entry("b", "b.example.com"));
      await until("the new one", () => hosts(here).length === 2);
      await Deno.writeTextFile(`${folder}/a.yaml`, entry("a", "c.example.com"));
      await until("the edit", () => hosts(here).includes("c.example.com"));
      await Deno.remove(`${folder}/b.yaml`);
      await until("the end", () => hosts(here).length === 1);
      assert.deepEqual(hosts(here), ["c.example.com"]);
    });
  });
});

Deno.test("a control plane's objects stay while it is away; afterwards they follow its present state", async () => {
  using door = new Door();
  const log = openLog();
  const away = () => log.lines.filter(({ msg }) => `${msg}`.includes("the control plane is away")).length;
  const stopped = Promise.withResolvers<void>();
  const first = Promise.withResolvers<void>();
  const before = withServer(
    { "a.yaml": entry("a", "a.example.com"), "b.yaml": entry("b", "b.example.com") },
    async (there) => {
      door.lead(there.ports.grpc);
      first.resolve();
      await stopped.promise;
    },
  );
  await first.promise;
  await withSource({ address: door.address }, async (here) => {
    assert.deepEqual(hosts(here), ["a.example.com", "b.example.com"]);
    door.lead(undefined);
    stopped.resolve();
    await before;
    await until("the loss is logged", () => away() === 1);
    assert.deepEqual(hosts(here), ["a.example.com", "b.example.com"]);
    await withServer({ "b.yaml": entry("b", "b2.example.com") }, async (there) => {
      door.lead(there.ports.grpc);
      await until("what it has now", () => hosts(here).join() === "b2.example.com");
    });
  }, { log });
});

Deno.test("a server waits for a control plane that is away, and is ready when that was heard", async () => {
  using door = new Door();
  const log = openLog();
  let isReady = false;
  const here = withSource({ address: door.address }, (server) => {
    isReady = true;
    assert.deepEqual(hosts(server), ["a.example.com"]);
    return Promise.resolve();
  }, { log });
  await until("it was called", () => log.lines.some(({ msg }) => `${msg}`.includes("the control plane is away")));
  assert.equal(isReady, false);
  await withServer({ "a.yaml": entry("a", "a.example.com") }, async (there) => {
    door.lead(there.ports.grpc);
    await here;
  });
  assert.ok(isReady);
});

Deno.test("the folder of the flag has precedence over a control plane, and a hidden object is reported", async () => {
  await withServer({ "a.yaml": entry("a", "there.example.com") }, async (there) => {
    const address = `xds://127.0.0.1:${there.ports.grpc}`;
    await withSource({ address }, (here) => {
      assert.deepEqual(hosts(here), ["here.example.com"]);
      const hidden = ([...here.findings()] as Finding[]).filter(({ name }) => name === "hidden-object");
      assert.deepEqual(hidden.map(({ place }) => place.origin?.source), [address]);
      return Promise.resolve();
    }, { files: { "a.yaml": entry("a", "here.example.com") } });
  });
});

Deno.test("TLS settings of a source that cannot be used are all named at the start", async () => {
  const tlsSettings = { mode: "MUTUAL", credentialName: "a", insecureSkipVerify: true };
  await assert.rejects(
    withSource({ address: "xds://127.0.0.1:1", tlsSettings }, () => Promise.resolve()),
    (error: Error) => {
      assert.ok(error instanceof StartError);
      for (const field of ["credentialName", "insecureSkipVerify", "clientCertificate", "privateKey"]) {
        assert.match(error.message, new RegExp(`configSources\\[0\\]\\.tlsSettings\\.${field}: got`));
      }
      return true;
    },
  );
});

Deno.test("a control plane is called over TLS, and must have one of the names that its settings list", async () => {
  const kept = await Deno.makeTempDir();
  const settings = { MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: kept, XDS_AUTH: false };
  const options = { secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [] } } as const;
  await withServer({ "a.yaml": entry("a", "a.example.com") }, async ({ ports }) => {
    const source = (subjectAltNames: readonly string[]): ConfigSource => ({
      address: `xds://127.0.0.1:${ports.secureGrpc}`,
      tlsSettings: { mode: "SIMPLE", caCertificates: `${kept}/authority.pem`, subjectAltNames },
    });
    await withSource(source(["other", "localhost"]), (here) => {
      assert.deepEqual(hosts(here), ["a.example.com"]);
      return Promise.resolve();
    });
    const port = ports.secureGrpc ?? 0;
    const server = sourceServer({ kind: "control plane", host: "127.0.0.1", port }, source(["other"]));
    assert.match(await asked(server, "mesh-system"), /does not match certificate's altnames|other/);
  }, { options, settings });
  await Deno.remove(kept, { recursive: true });
});

/** Asks for configuration as a control plane does. @returns the names of the first answer, or the stream's end */
async function asked(server: () => Promise<ServerCall>, namespace: string): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  const method = "/envoy.service.discovery.v3.AggregatedDiscoveryService/StreamAggregatedResources";
  const stream: ServerStream = new ServerStream(method, {
    opened: () => {
      const node = { id: `sidecar~10.0.0.1~a.${namespace}~${namespace}.svc.cluster.local` };
      const request = {
        node: { ...node, metadata: struct({ GENERATOR: "api", NAMESPACE: namespace }) },
        type_url: "networking.istio.io/v1/ServiceEntry",
      };
      stream.send(encode("envoy.service.discovery.v3.DiscoveryRequest", request));
    },
    message: (bytes) => {
      const answer = decode<{ readonly type_url: string; readonly resources: readonly object[] }>(
        "envoy.service.discovery.v3.DiscoveryResponse",
        bytes,
      );
      resolve(`${answer.type_url}: ${answer.resources.length}`);
    },
    closed: resolve,
  }, { server, keepaliveInterval: 30_000, keepaliveTimeout: 10_000 });
  try {
    return await promise;
  } finally {
    stream.close();
  }
}

/** A server in plain text whose callers show a token. */
function plain(port: number, token?: string): () => Promise<ServerCall> {
  const metadata: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
  return () => Promise.resolve({ target: { host: "127.0.0.1", port }, authority: "xds", metadata });
}

Deno.test("of clients with a proven identity only clients of the system's namespace get all configuration", async () => {
  await using issuer = await TestIssuer.start();
  const rule = JSON.stringify({ issuer: issuer.url, jwksUri: `${issuer.url}/keys`, audiences: ["mesh-ca"] });
  const token = (namespace: string) => issuer.token({ sub: `system:serviceaccount:${namespace}:a` });
  await withServer({ "a.yaml": entry("a", "a.example.com") }, async ({ ports }) => {
    const all = "networking.istio.io/v1/ServiceEntry: 1";
    assert.equal(await asked(plain(ports.grpc, await token("mesh-system")), "mesh-system"), all);
    const refused = /PermissionDenied: configuration is for identities of namespace mesh-system: got one of shop$/;
    assert.match(await asked(plain(ports.grpc, await token("shop")), "shop"), refused);
    assert.match(await asked(plain(ports.grpc), "mesh-system"), /Unauthenticated/);
  }, { settings: { JWT_RULE: rule, XDS_AUTH_PLAINTEXT: true } });
  await withServer({ "a.yaml": entry("a", "a.example.com") }, async ({ ports }) => {
    assert.equal(
      await asked(plain(ports.grpc), "shop"),
      "networking.istio.io/v1/ServiceEntry: 1",
      "plain text proves nothing",
    );
  });
});
