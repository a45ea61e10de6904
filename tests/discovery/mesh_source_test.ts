/** The mesh files at run time, against real files. Tests await log lines, never a time. */
import assert from "node:assert/strict";
import { findingFile, findingObject } from "../../lib/finding/finding.ts";
import { type MeshSource, type MeshState, startMeshSource } from "../../lib/discovery/sources/mesh_source.ts";
import { StartError } from "../../lib/discovery/settings/start_error.ts";
import { type Kernel, startKernel } from "../../lib/kernel/kernel.ts";
import { createLog, defaultLogOptions } from "../../lib/kernel/log/log.ts";
import { scopes } from "../../lib/kernel/log/scopes.ts";

/** Both files in a folder, the past states in force, and the log. */
class Fixture {
  readonly states: MeshState[] = [];
  readonly lines: Record<string, unknown>[] = [];
  readonly mesh: string;
  readonly networks: string;
  readonly kernel: Kernel;
  source: MeshSource | undefined;
  #wake: (() => void) | undefined;

  constructor(readonly folder: string) {
    this.mesh = `${folder}/mesh`;
    this.networks = `${folder}/networks`;
    const write = (bytes: Uint8Array) => {
      this.lines.push(JSON.parse(new TextDecoder().decode(bytes)));
      this.#wake?.();
    };
    const options = { ...defaultLogOptions, json: true, targets: ["test"] };
    const log = createLog(scopes["pilot-discovery"], options, { open: () => ({ write, close() {} }) });
    this.kernel = startKernel("pilot-discovery", undefined, { log });
  }

  async start(): Promise<MeshSource> {
    const { mesh: meshFile, networks: networksFile } = this;
    this.source = await startMeshSource({ meshFile, networksFile, systemNamespace: "mesh-system" }, this.kernel);
    this.source.onChange((state) => {
      this.states.push(state);
      this.#wake?.();
    });
    return this.source;
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>((resolve) => this.#wake = resolve);
  }

  /** Waits for a log line. */
  async reported(pattern: RegExp, count = 1): Promise<void> {
    await this.until(() => this.lines.filter(({ msg }) => pattern.test(String(msg))).length >= count);
  }

  get port(): number | undefined {
    return this.source?.state.mesh.proxyListenPort;
  }
}

function test(name: string, run: (fixture: Fixture) => Promise<void>): void {
  Deno.test(name, async () => {
    const fixture = new Fixture(await Deno.makeTempDir());
    try {
      await run(fixture);
    } finally {
      await fixture.source?.stop();
      await fixture.kernel.stopper.stop();
      await Deno.remove(fixture.folder, { recursive: true });
    }
  });
}

test("files that are absent at the start mean the defaults, and no problem", async (fixture) => {
  const source = await fixture.start();
  assert.equal(fixture.port, 15001);
  assert.deepEqual(source.state.networks, { networks: {} });
  assert.deepEqual(source.findings(), []);
});

test("the settings of a removed mesh file stay in force until it is back, with a finding", async (fixture) => {
  await Deno.writeTextFile(fixture.mesh, "proxyListenPort: 15009\n");
  const source = await fixture.start();
  await Deno.remove(fixture.mesh);
  await fixture.reported(/the file is gone/);
  assert.equal(fixture.port, 15009);
  const [problem] = source.findings();
  assert.equal(problem && findingFile(problem), fixture.mesh);
  assert.equal(problem?.severity, "error");
  assert.match(problem?.message ?? "", /gone; its last settings stay in force, expected .*\{\} for the defaults/);
  assert.match(
    (await fixture.kernel.metrics.scrape()).body.toString(),
    /pilot_total_rejected_configs\{.*type="MeshConfig".*\} 1/,
  );
  await Deno.writeTextFile(fixture.mesh, "proxyListenPort: 15009\n");
  await fixture.reported(/a finding is gone/);
  assert.deepEqual(source.findings(), []);
  assert.deepEqual(fixture.states, [], "nothing changed, so nothing is translated anew");
  await Deno.writeTextFile(fixture.mesh, "{}\n");
  await fixture.until(() => fixture.states.length === 1);
  assert.equal(fixture.port, 15001, "{} asks for the defaults");
});

test("the settings of a removed networks file stay in force", async (fixture) => {
  await Deno.writeTextFile(fixture.networks, "networks: { a: { endpoints: [{ fromRegistry: c }] } }\n");
  const source = await fixture.start();
  await Deno.remove(fixture.networks);
  await fixture.reported(/the file is gone/);
  assert.deepEqual(Object.keys(source.state.networks.networks), ["a"]);
  assert.deepEqual(source.findings().map((found) => findingObject(found).kind), ["MeshNetworks"]);
});

test("remove and copy, again and again, never puts the defaults in force", async (fixture) => {
  await Deno.writeTextFile(fixture.mesh, "proxyListenPort: 15009\n");
  await fixture.start();
  for (let round = 0; round < 40; round++) {
    await Deno.remove(fixture.mesh);
    // Like `cp`: the file is there and empty before its text.
    const file = await Deno.open(fixture.mesh, { create: true, write: true });
    await new Promise((resolve) => setTimeout(resolve, round % 8));
    await file.write(new TextEncoder().encode(`proxyListenPort: ${20000 + round}\n`));
    file.close();
  }
  await fixture.until(() => fixture.port === 20039);
  const ports = fixture.states.map(({ mesh }) => mesh.proxyListenPort);
  assert.ok(ports.every((port) => port >= 20000), ports.join(" "));
});

test("the settings of a file that stays empty stay in force, with a finding", async (fixture) => {
  await Deno.writeTextFile(fixture.mesh, "proxyListenPort: 15009\n");
  const source = await fixture.start();
  await Deno.writeTextFile(fixture.mesh, "");
  await fixture.reported(/the file is empty/);
  assert.equal(fixture.port, 15009);
  assert.equal(source.findings().length, 1);
  await Deno.writeTextFile(fixture.mesh, "proxyListenPort: 15010\n");
  await fixture.until(() => fixture.port === 15010);
  assert.deepEqual(source.findings(), []);
});

test("a path that is a folder is refused at the start, and not taken for an absent file", async (fixture) => {
  await Deno.mkdir(fixture.mesh);
  await assert.rejects(fixture.start(), (error) => {
    assert.ok(error instanceof StartError);
    assert.deepEqual(error.faults.map(({ option }) => option), ["meshConfig"]);
    assert.match(error.message, /mesh: the file cannot be read \(.*folder.*\), expected a file that can be read/i);
    return true;
  });
});

test("errors of both files at the start are reported at once, by option and file", async (fixture) => {
  await Deno.writeTextFile(fixture.mesh, "proxyListenPort: 99999\nproxyHttpPort: x\n");
  await Deno.writeTextFile(fixture.networks, "networks: 3\n");
  await assert.rejects(fixture.start(), (error) => {
    assert.ok(error instanceof StartError);
    assert.deepEqual(error.faults.map(({ option }) => option).toSorted(), [
      "meshConfig",
      "meshConfig",
      "networksConfig",
    ]);
    return true;
  });
});

test("a problem of the mesh configuration has the line of the field that is wrong", async (fixture) => {
  await Deno.writeTextFile(fixture.mesh, "proxyListenPort: 15009\n");
  const source = await fixture.start();
  const lines = ["# ports", "---", "proxyListenPort: 15009", "defaultConfig:", "  concurrency: many", "nonsense: 1"];
  await Deno.writeTextFile(fixture.mesh, `${lines.join("\n")}\n`);
  await fixture.reported(/concurrency/);
  const reported = source.findings().map(({ place }) => [place.field, place.line]);
  assert.deepEqual(reported.toSorted(), [["defaultConfig.concurrency", 5], ["nonsense", 6]]);
  assert.equal(fixture.lines.find(({ msg }) => /concurrency/.test(String(msg)))?.["line"], 5);
  await Deno.writeTextFile(fixture.mesh, '{\n  "proxyListenPort":\n  99999\n}\n');
  await fixture.reported(/99999/);
  assert.deepEqual(source.findings().map(({ place }) => place.line), [2]);
});
