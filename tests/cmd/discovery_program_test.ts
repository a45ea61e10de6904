/** `pilot-discovery discovery` as a process, under exactly its permission set. */
import assert from "node:assert/strict";
import { OPENSSL_PATHS } from "../../lib/pki/openssl/library.ts";
import { type Finding, findingFile } from "../../lib/finding/finding.ts";
import { TestProxy } from "../debug/proxy.ts";
import { until } from "../patience.ts";

const repository = new URL("../../", import.meta.url).pathname;

type Line = Readonly<Record<string, unknown>>;

/** A running server: log, pages, end. */
class Program {
  readonly lines: Line[] = [];
  readonly #process: Deno.ChildProcess;
  readonly #serving = Promise.withResolvers<Line>();
  readonly #reading: Promise<void>;
  readonly #awaited = new Map<string, () => void>();

  constructor(args: readonly string[], env: Record<string, string> = {}) {
    this.#process = new Deno.Command(Deno.execPath(), {
      args: [
        ...["run", "--quiet", "--no-prompt", "-P=pilot-discovery", "cmd/pilot-discovery/main.ts", "discovery"],
        ...[
          "--grpcAddr=127.0.0.1:0",
          "--httpAddr=127.0.0.1:0",
          "--monitoringAddr=127.0.0.1:0",
          "--ctrlz_port=0",
          "--secureGRPCAddr=",
        ],
        "--log_as_json",
        ...args,
      ],
      cwd: repository,
      env,
      stdin: "null",
      stdout: "piped",
      stderr: "inherit",
    }).spawn();
    this.#reading = this.#read();
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#process.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const parsed = JSON.parse(line) as Line;
        this.lines.push(parsed);
        if (parsed["msg"] === "serving") this.#serving.resolve(parsed);
        this.#awaited.get(String(parsed["msg"]))?.();
      }
    }
    this.#serving.promise.catch(() => {}); // Only callers awaiting `port` are concerned.
    this.#serving.reject(new Error(`it ended: ${JSON.stringify(this.lines)}`));
  }

  /** Resolves at the next line with a message, or at the program's end. */
  async logs(message: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#awaited.set(message, resolve);
    await Promise.race([promise, this.#reading]);
  }

  /** Text of a page. */
  async page(path: string): Promise<string> {
    const { http } = await this.#serving.promise;
    return await (await fetch(`http://127.0.0.1:${http}${path}`)).text();
  }

  /** A port, by its name in the log. */
  async port(name: "grpc" | "introspection"): Promise<number> {
    return Number((await this.#serving.promise)[name]);
  }

  /** The exit code, after the program's own end. */
  async ended(): Promise<number> {
    const { code } = await this.#process.status;
    await this.#reading;
    return code;
  }

  /** Ends the program in order. @returns the exit code */
  async stop(): Promise<number> {
    this.#process.kill("SIGTERM");
    const { code } = await this.#process.status;
    await this.#reading;
    return code;
  }
}

async function withProgram(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  run: (program: Program) => Promise<void>,
  env: Record<string, string> = {},
): Promise<void> {
  const folder = await Deno.makeTempDir();
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, text);
  const program = new Program([`--configDir=${folder}`, ...args], env);
  try {
    await run(program);
  } finally {
    const code = await program.stop();
    await Deno.remove(folder, { recursive: true });
    assert.equal(code, 0);
  }
}

const head = "apiVersion: networking.mesh.io/v1\nkind: ServiceEntry\n";

/** A folder with an object, so that the root namespace is not fixed by an empty folder, which would be a finding. */
const ONE_OBJECT = {
  "one.yaml":
    `${head}metadata: { name: one, namespace: x }\nspec: { hosts: [one.example.com], ports: [{ number: 80, name: http, protocol: HTTP }], resolution: DNS }\n`,
};

/** A service in each form of YAML outside of the fast parser. */
const FORMS: Readonly<Record<string, string>> = {
  anchors: `${head}metadata: { name: anchors, namespace: x }
spec:
  hosts: [anchors.example.com]
  ports: [&http { number: 80, name: http, protocol: HTTP }]
  resolution: STATIC
  endpoints: [{ address: &ip 10.0.0.1 }]
  subjectAltNames: [*ip]
`,
  merged: `${head}metadata: { name: merged, namespace: x }
spec:
  hosts: [merged.example.com]
  ports:
  - &port { number: 80, name: http, protocol: HTTP }
  - { <<: *port, number: 81, name: http-2 }
`,
  tagged: `${head}metadata: { name: !!str tagged, namespace: x, labels: { version: !!str 1 } }
spec: !!map
  hosts: !!seq [tagged.example.com]
  ports: [{ number: !!int "80", name: http, protocol: HTTP }]
`,
  literal: `${head}metadata:
  name: literal
  namespace: x
  annotations:
    note: |
      two
      lines
    folded: >-
      one
      line
spec:
  hosts:
  - literal.example.com
  ports: [{ number: 80, name: http, protocol: HTTP }]
`,
  broken: `${head}metadata: { name: broken, namespace: x }\nspec: { hosts: [*nowhere] }\n`,
  unclosed: `${head}metadata: { name: "unclosed\nspec: [\n`,
};

Deno.test("every form of YAML parses under the program's permissions", async () => {
  const files = Object.fromEntries(Object.entries(FORMS).map(([name, text]) => [`${name}.yaml`, text]));
  await withProgram(files, ["--registries="], async (program) => {
    const services = JSON.parse(await program.page("/debug/registryz")) as { hostname: string }[];
    assert.deepEqual(services.map((s) => s.hostname.split(".")[0]), ["anchors", "literal", "merged", "tagged"]);
    const findings = JSON.parse(await program.page("/debug/problemz")) as Finding[];
    assert.deepEqual([...new Set(findings.map(findingFile))].sort(), ["broken.yaml", "unclosed.yaml"]);
    assert.ok(!findings.some((p) => /NotCapable|permission|Requires/.test(p.message)), JSON.stringify(findings));
  });
});

Deno.test("/dev/null means no mesh files, and nothing is reported", async () => {
  const args = [
    "--registries=",
    "--meshConfig=/dev/null",
    "--networksConfig=/dev/null",
  ];
  await withProgram(ONE_OBJECT, args, async (program) => {
    assert.equal(JSON.parse(await program.page("/debug/mesh")).proxyListenPort, 15001);
    assert.deepEqual(JSON.parse(await program.page("/debug/networkz")), {});
    const reported = program.lines.filter((line) => line["level"] === "warn" || line["level"] === "error");
    assert.deepEqual(reported, []);
  });
});

Deno.test("a server that may take no time to stop still stops cleanly, with a proxy connected", async () => {
  // The exit code is looked at in `withProgram`.
  await withProgram({ "a.yaml": `${head}metadata: { name: a }\n` }, [
    "--registries=",
    "--shutdownDuration=0s",
    "--ctrlz_port=0",
  ], async (program) => {
    using _proxy = await TestProxy.attach(await program.port("grpc"));
    assert.equal(await program.page("/ready"), "");
  });
});

Deno.test("the introspection port shows the process's variables and arguments, and ends it on request", async () => {
  const folder = await Deno.makeTempDir();
  const program = new Program([`--configDir=${folder}`, "--registries=", "--ctrlz_port=0"]);
  try {
    const at = `http://127.0.0.1:${await program.port("introspection")}`;
    const args = await (await fetch(`${at}/argsj/`)).json();
    assert.deepEqual([args[0], args.at(-1)], ["discovery", "--ctrlz_port=0"]);
    assert.equal((await (await fetch(`${at}/procj/`)).json()).wd, repository.replace(/\/$/, ""));
    const exit = await fetch(`${at}/homej/exit`, { method: "PUT" });
    assert.deepEqual([exit.status, await exit.text()], [202, ""]);
    assert.equal(await program.ended(), 0);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("profiles are served with --profile alone, and the program may make them", async () => {
  await withProgram({}, ["--registries=", "--ctrlz_port=0", "--profile"], async (program) => {
    const profile = JSON.parse(await program.page("/debug/pprof/profile?seconds=0.1&form=v8"));
    assert.ok(profile.nodes.length > 0);
    assert.match(await program.page("/debug/pprof"), /go tool pprof/);
  });
  await withProgram({}, ["--registries=", "--ctrlz_port=0"], async (program) => {
    assert.match(await program.page("/debug/pprof"), /no page \/debug\/pprof/);
  });
});

Deno.test("variables without effect are reported, and the others are not", async () => {
  const env = { MUTEX_PROFILE_FRACTION: "5", ISTIO_DUAL_STACK: "true", ENABLE_VTPROTOBUF: "false" };
  await withProgram({}, ["--registries=", "--ctrlz_port=0"], async (program) => {
    await program.page("/ready");
    const line = program.lines.find(({ msg }) => msg === "variables without effect in this version");
    assert.deepEqual(line?.["variables"], ["ENABLE_VTPROTOBUF", "MUTEX_PROFILE_FRACTION"]);
  }, env);
});

Deno.test("a signal while it reads a large folder ends it; it does not serve first", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const entry = (i: number) =>
      `${head}metadata: {name: s${i}, namespace: n}\nspec: {hosts: [s${i}.test], ports: [{number: 80, name: http}]}\n`;
    for (let file = 0; file < 20; file++) {
      const entries = Array.from({ length: 2000 }, (_, i) => entry(2000 * file + i));
      await Deno.writeTextFile(`${folder}/${file}.yaml`, entries.join("---\n"));
    }
    await Deno.mkdir(`${folder}/.mesh`);
    await Deno.writeTextFile(`${folder}/.mesh/mesh`, "verifyCertificateAtClient: true\n");
    const program = new Program([`--configDir=${folder}`, `--meshConfig=${folder}/.mesh/mesh`]);
    await program.logs("fields without effect in this version"); // The mesh file is read before the folder.
    assert.equal(await program.stop(), 0);
    const messages = program.lines.map(({ msg }) => msg);
    assert.ok(messages.includes("stopping") && !messages.includes("serving"), messages.join());
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("with its permissions it keeps the root that it makes, for its owner alone, and serves over TLS", async () => {
  const folder = await Deno.makeTempDir();
  const env = { MESH_SELF_SIGNED_CA_DIR: `${folder}/ca` };
  await withProgram(ONE_OBJECT, ["--registries=Mock", "--secureGRPCAddr=127.0.0.1:0"], async (program) => {
    await program.port("grpc");
    const made = program.lines.find(({ msg }) => msg === "the authority is self-signed");
    assert.equal(made?.["place"], `${folder}/ca/authority.pem`);
    assert.equal((await Deno.stat(`${folder}/ca/authority.pem`)).mode! & 0o777, 0o600);
    assert.ok(program.lines.some(({ msg, secureGrpc }) => msg === "serving" && Number(secureGrpc) > 0));
    assert.deepEqual(program.lines.filter(({ level }) => level === "warn" || level === "error"), []);
    const library = OPENSSL_PATHS.find((path) => exists(path));
    const signs = program.lines.find(({ msg }) => `${msg}`.includes("signs certificates"));
    assert.equal(signs?.msg, `${library === undefined ? "the runtime" : "OpenSSL"} signs certificates`);
    assert.equal(signs["path"], library);
  }, env);
  await Deno.remove(folder, { recursive: true });
});

function exists(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

Deno.test("a named pipe in the folder holds neither what is beside it nor the stop of the server", async () => {
  const folder = await Deno.makeTempDir();
  const program = new Program([`--configDir=${folder}`]);
  const warned = program.logs(
    "changes of the configuration folder give no events now; the folder is searched each second",
  );
  await program.page("/ready");
  const made = await new Deno.Command(Deno.execPath(), {
    args: ["eval", 'await new Deno.Command("mkfifo", { args: Deno.args }).output()', `${folder}/pipe.yaml`],
  }).output();
  assert.equal(made.code, 0);
  const a = `${head}metadata: {name: a}\nspec: {hosts: [a.test], ports: [{number: 80, name: http, protocol: HTTP}]}\n`;
  await Deno.writeTextFile(`${folder}/a.yaml`, a);
  await warned;
  await until("the file beside the pipe", async () => (await program.page("/debug/configz")).includes('"a"'));
  assert.equal(await program.stop(), 0);
  await Deno.remove(folder, { recursive: true });
});
