/** Where the program `pilot-discovery` looks for an orchestrator, by its variables, under its own permission set. */
import assert from "node:assert/strict";
import { MemoryApi } from "../../discovery/orch/memory_api.ts";
import { PATIENCE } from "../../patience.ts";

const repository = new URL("../../../", import.meta.url).pathname;
const START = ["run", "--quiet", "--no-prompt", "-P=pilot-discovery", "cmd/pilot-discovery/main.ts", "discovery"];
const PORTS = ["grpcAddr", "httpAddr", "monitoringAddr"].map((name) => `--${name}=127.0.0.1:0`);
const ROOT = Deno.uid() === 0;
/** Any certificate: nobody answers there. */
const AUTHORITY = `${repository}tests/testdata/pem/root.pem`;

/** Runs the program until its output matches, or until the program ends. @returns the whole output */
async function printed(
  expected: RegExp,
  env: Record<string, string>,
  inside: (command: string[]) => string[] = (command) => command,
  flags: readonly string[] = [],
): Promise<string> {
  const all = [...START, ...PORTS, "--ctrlz_port=0", "--secureGRPCAddr=", ...flags];
  const [program = "", ...args] = inside([Deno.execPath(), ...all]);
  const nowhere = { HOME: "/nowhere", KUBECONFIG: "", KUBERNETES_SERVICE_HOST: "", NO_COLOR: "1" };
  const child = new Deno.Command(program, {
    args,
    cwd: repository,
    env: { ...nowhere, ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let text = "";
  const read = async (stream: ReadableStream<Uint8Array>) => {
    for await (const part of stream.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (expected.test(text)) end();
    }
  };
  let ended = false;
  const end = () => {
    if (!ended) child.kill("SIGTERM");
    ended = true;
  };
  const late = setTimeout(end, PATIENCE);
  await Promise.all([read(child.stdout), read(child.stderr), child.status]);
  clearTimeout(late);
  return text;
}

/** A folder with a kubeconfig for a running API. */
async function withAccess(
  run: (api: MemoryApi, folder: string, file: string) => Promise<void>,
  user = "",
): Promise<void> {
  const api = new MemoryApi();
  api.start();
  const folder = await Deno.makeTempDir({ prefix: "orch-" });
  const file = `${folder}/.kube/config`;
  await Deno.mkdir(`${folder}/.kube`);
  await Deno.writeTextFile(
    file,
    `current-context: c
clusters: [{name: k, cluster: {server: "${api.address}"}}]
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: {${user}}}]
`,
  );
  try {
    await run(api, folder, file);
  } finally {
    await api.stop();
    await Deno.remove(folder, { recursive: true });
  }
}

Deno.test("KUBECONFIG names files, and only objects of the namespace in MESH_WATCH_NAMESPACE are read", () =>
  withAccess(async (api, _, file) => {
    const text = await printed(/serving/, { KUBECONFIG: file, MESH_WATCH_NAMESPACE: "shop" });
    assert.match(text, /objects are read.*variable KUBECONFIG/);
    const services = api.asked.filter((one) => one.includes("/services"));
    assert.ok(services.length > 0);
    assert.deepEqual(services.filter((one) => !one.includes("/api/v1/namespaces/shop/services")), []);
  }));

const asItIs = (command: string[]) => command;

Deno.test("--vklog=4 logs each request of the client, and without the flag no request is logged", () =>
  withAccess(async (_, __, file) => {
    const request = /\tdebug\tklog\tGET \/api\/v1\/services\?\S* 200\tms=\d+\twaited=0/;
    assert.match(await printed(/serving/, { KUBECONFIG: file }, asItIs, ["--vklog=4"]), request);
    assert.doesNotMatch(await printed(/serving/, { KUBECONFIG: file }), /klog/);
  }));

Deno.test("--orchApiQPS and --orchApiBurst hold requests back: one at once, and then so many a second", () =>
  withAccess(async (_, __, file) => {
    const flags = ["--vklog=4", "--orchApiQPS=20", "--orchApiBurst=1"];
    const text = await printed(/serving/, { KUBECONFIG: file }, asItIs, flags);
    const waited = [...text.matchAll(/klog.*waited=(\d+)/g)].map(([, ms]) => Number(ms));
    assert.equal(waited.filter((ms) => ms === 0).length > 0, true, text);
    // More than ten lists want to go out together: the last list waits for nine twentieths of a second.
    assert.ok(Math.max(...waited) > 300, waited.join());
    const free = await printed(/serving/, { KUBECONFIG: file }, asItIs, ["--vklog=4", "--orchApiQPS=0"]);
    assert.deepEqual([...free.matchAll(/klog.*waited=([1-9]\d*)/g)].map(([line]) => line), []);
  }));

Deno.test("scope orch speaks of the orchestrator, and its level is set apart", () =>
  withAccess(async (_, __, file) => {
    const env = { KUBECONFIG: file };
    assert.match(await printed(/serving/, env), /\tinfo\torch\tthe orchestrator's objects are read/);
    const quiet = await printed(/serving/, env, asItIs, ["--log_output_level=orch:none"]);
    assert.doesNotMatch(quiet, /\torch\t/);
    assert.match(quiet, /\tdefault\t/);
    assert.match(await printed(/never/, env, asItIs, ["--log_output_level=orchestra:none"]), /orchestra/);
  }));

Deno.test("--orchconfig is before KUBECONFIG", () =>
  withAccess(async (api, _, file) => {
    const text = await printed(/serving/, { KUBECONFIG: "/nowhere/config" }, asItIs, [`--orchconfig=${file}`]);
    assert.match(text, /accessBy="flag --orchconfig"/);
    assert.ok(api.asked.length > 0);
  }));

Deno.test("the file of access is a regular file: a pipe, which may never be written, is refused and not waited for", () =>
  withAccess(async (_, folder) => {
    const pipe = `${folder}/pipe`;
    await new Deno.Command("mkfifo", { args: [pipe] }).output();
    const text = await printed(/serving/, { KUBECONFIG: pipe });
    assert.match(text, /^Error: variable KUBECONFIG: \S*pipe: got a named pipe, expected a regular file$/m);
  }));

Deno.test("without it the file of the home folder is read", () =>
  withAccess(async (api, folder, file) => {
    assert.ok((await printed(/serving/, { HOME: folder })).includes(file));
    assert.ok(api.asked.some((one) => one.startsWith("list /api/v1/services")), api.asked.join("\n"));
  }));

Deno.test("a user that a program speaks for is refused until PILOT_INSECURE_MULTICLUSTER_ORCHCONFIG_OPTIONS allows it", () =>
  withAccess(async (_, __, file) => {
    const name = "PILOT_INSECURE_MULTICLUSTER_ORCHCONFIG_OPTIONS";
    const refused = await printed(/never/, { KUBECONFIG: file });
    assert.match(refused, new RegExp(`exec.*${name}`, "s"));
    // The setting allows the program now; the permission set of `pilot-discovery` has no right to run it.
    const allowed = await printed(/never/, { KUBECONFIG: file, [name]: "exec" });
    assert.doesNotMatch(allowed, new RegExp(name));
    assert.match(allowed, /no-such-program/);
  }, "exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-program}"));

Deno.test("the program reads the clusters that secrets in --clusterRegistriesNamespace name", () =>
  withAccess(async (api, _, file) => {
    const remote = new MemoryApi();
    remote.start();
    const access = `current-context: c
clusters: [{name: k, cluster: {server: "${remote.address}"}}]
contexts: [{name: c, context: {cluster: k}}]
`;
    const labels = { "mesh/multiCluster": "true" };
    api.put("/api/v1/secrets", {
      metadata: { namespace: "clusters", name: "all", labels },
      data: { west: btoa(access) },
    });
    const flags = ["--clusterRegistriesNamespace=clusters"];
    const text = await printed(/serving/, { KUBECONFIG: file }, undefined, flags);
    assert.match(text, /\tsecretcontroller\ta remote cluster.*west.*synced/);
    assert.ok(api.asked.some((one) => /^list .*\/namespaces\/clusters\/secrets\?.*multiCluster/.test(one)));
    await remote.stop();
  }));

Deno.test("LOCAL_CLUSTER_SECRET_WATCHER is for a pod: elsewhere it is refused, and without EXTERNAL_MESHD it has no effect", () =>
  withAccess(async (_, __, file) => {
    const watcher = { KUBECONFIG: file, LOCAL_CLUSTER_SECRET_WATCHER: "true" };
    const refused = await printed(/serving/, { ...watcher, EXTERNAL_MESHD: "true" });
    assert.match(refused, /LOCAL_CLUSTER_SECRET_WATCHER: got true, expected a pod/);
    assert.match(await printed(/serving/, watcher), /serving/);
  }));

Deno.test({
  name: `in a pod ORCH_SERVICE_HOST and ORCH_SERVICE_PORT say where the API is, in Istio's spelling too${
    ROOT ? "" : " (ignored: only root makes mount namespaces)"
  }`,
  ignore: !ROOT,
  fn: async () => {
    const account = "/run/secrets/kubernetes.io/serviceaccount";
    const pod = (command: string[]) => [
      ...["unshare", "--mount", "sh", "-c"],
      `mount -t tmpfs none /run && mkdir -p ${account} && echo t > ${account}/token && cp ${AUTHORITY} ${account}/ca.crt && exec "$@"`,
      ...["sh", ...command],
    ];
    for (const spelling of ["ORCH", "KUBERNETES"]) {
      const env = { [`${spelling}_SERVICE_HOST`]: "127.31.32.33", [`${spelling}_SERVICE_PORT`]: "7443" };
      assert.match(await printed(/127\.31\.32\.33:7443/, env, pod), /objects are read.*the pod's account/, spelling);
    }
  },
});
