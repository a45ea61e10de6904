/** Authority and certificate of the webhooks are replaced while pods are created: no call is refused. */
import assert from "node:assert/strict";
import https from "node:https";
import { writeCertificates } from "../../../lib/pki/certificate.ts";
import { openLog } from "../../discovery/open_log.ts";
import { withServer } from "../../discovery/running.ts";
import { DAY, makeLeaf, makeRoot, P256 } from "../../pki/support/make.ts";
import type { ApiServer } from "../support/server/api_server.ts";
import { manifests } from "../support/server/rights.ts";
import { apiServerTests } from "../support/server/tests.ts";
import { until } from "../../patience.ts";

const test = apiServerTests();

/** Puts a new authority with a leaf into a folder. */
async function replaceFiles(folder: string, name: string): Promise<void> {
  const times = { notAfter: Date.now() + DAY };
  const root = await makeRoot(P256, { ...times, name });
  const leaf = await makeLeaf(root, P256, { ...times, dns: ["localhost"] });
  const texts = {
    "tls.crt": writeCertificates([leaf.certificate]),
    "tls.key": leaf.key.pem(),
    "ca.crt": writeCertificates([root.certificate]),
  };
  for (const [file, text] of Object.entries(texts)) {
    await Deno.writeTextFile(`${folder}/${file}.next`, text);
    await Deno.rename(`${folder}/${file}.next`, `${folder}/${file}`);
  }
}

interface Entry {
  readonly name: string;
  readonly clientConfig: { readonly caBundle?: string };
}

/** A call over a new connection, verified as the API would. */
function call(port: number, ca: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const review = {
      ...{ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" },
      request: {
        ...{ uid: "7", operation: "CREATE", namespace: "shop" },
        resource: { group: "", version: "v1", resource: "pods" },
        object: { metadata: { name: "a" }, spec: { containers: [{ name: "app", image: "a" }] } },
      },
    };
    const options = { method: "POST", host: "127.0.0.1", servername: "localhost", port, path: "/inject", ca };
    const headers = { "content-type": "application/json" };
    const request = https.request({ ...options, headers, agent: false }, (response) => {
      response.resume().on("end", () => resolve(response.statusCode!));
    });
    request.on("error", reject).end(JSON.stringify(review));
  });
}

/** Work repeated until it is stopped, or fails. */
class Load {
  times = 0;
  #stopped = false;
  readonly #running: Promise<void>;

  constructor(once: () => Promise<void>) {
    const run = async () => {
      for (; !this.#stopped; this.times++) await once();
    };
    this.#running = run();
    this.#running.catch(() => {}); // Thrown on by whoever waits for the work.
  }

  /** Resolves after so many further repetitions. */
  async more(times: number): Promise<void> {
    const enough = this.times + times;
    await Promise.race([this.#running, until("more calls", () => Promise.resolve(this.times >= enough))]);
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#running;
  }
}

async function bundleOf({ objects }: ApiServer): Promise<string> {
  const [, manifest] = manifests("webhooks");
  const [first] = (await objects.get(manifest!))?.["webhooks"] as readonly Entry[];
  return atob(first!.clientConfig.caBundle ?? "");
}

test("while the authority is replaced, the API and clients that follow caBundle are never refused", async ({ server, namespace }) => {
  const folder = await Deno.makeTempDir();
  await replaceFiles(folder, "first");
  const place = { from: "files", files: [server.kubeconfig], by: "test" } as const;
  const orch = { place, qps: 80, burst: 160, allowed: [], namespace: "", kinds: false, services: false };
  const files = { tlsCertFile: `${folder}/tls.crt`, tlsKeyFile: `${folder}/tls.key`, caCertFile: `${folder}/ca.crt` };
  const options = {
    ...{ configDir: undefined, orch, systemNamespace: namespace },
    ...{ secureGrpc: "127.0.0.1:0", tls: { cipherSuites: [], files }, webhooks: "127.0.0.1:0" },
  };
  const settings = { MESHD_CUSTOM_HOST: "localhost", MESH_SELF_SIGNED_CA_DIR: `${folder}/self` };
  const { log, lines } = openLog();
  const isShown = (line: Readonly<Record<string, unknown>>) =>
    line["port"] === "port of webhooks" && line["changed"] === "the server's certificate";
  await withServer({}, async ({ ports: { webhooks: port } }) => {
    const [, manifest] = manifests("webhooks");
    const webhooks = (manifest!["webhooks"] as readonly Entry[])
      .map((entry) => ({ ...entry, clientConfig: { url: `https://localhost:${port}/inject` } }));
    await server.objects.create({ ...manifest!, webhooks });
    try {
      await until("the first roots", async () => await bundleOf(server) !== "");
      const of = await server.namespace({ "mesh-injection": "enabled" });
      const pod = {
        ...{ apiVersion: "v1", kind: "Pod", metadata: { generateName: "a-" } },
        spec: { serviceAccountName: "default", containers: [{ name: "app", image: "a" }] },
      };
      const create = async () => {
        const path = `/api/v1/namespaces/${of}/pods?dryRun=All`;
        const { spec } = await server.client.json({ method: "POST", path, body: pod });
        assert.match(JSON.stringify(spec), /"mesh-proxy"/);
      };
      await until("the API to ask", () => create().then(() => true, () => false));
      const loads = [
        new Load(create),
        new Load(create),
        new Load(async () => assert.equal(await call(port!, await bundleOf(server)), 200)),
      ];
      const before = await bundleOf(server);
      await replaceFiles(folder, "second");
      await until("the new leaf", () => Promise.resolve(lines.some(isShown)));
      const after = await bundleOf(server);
      assert.ok(after.endsWith(before) && after !== before, "old and new roots together");
      for (const load of loads) await load.more(20);
      for (const load of loads) await load.stop();
      await assert.rejects(call(port!, before), "the old root alone verifies the new leaf no more");
    } finally {
      await server.objects.delete(manifest!);
    }
  }, { options, settings, log });
  await Deno.remove(folder, { recursive: true });
});
