/** Deployments and container files start the present programs, under matching names. */
import assert from "node:assert/strict";
import { validate } from "dockerfile-utils";
import { parseAllDocuments } from "yaml";
import { installCni } from "../../cmd/install-cni/commands.ts";
import { pilotDiscovery } from "../../cmd/pilot-discovery/commands.ts";
import { parseLine } from "../../lib/cli/parse.ts";
import { readInjectionConfig } from "../../lib/injection/config.ts";
import { injectPod } from "../../lib/injection/steps/inject.ts";
import { readPod } from "../../lib/injection/pod.ts";
import { readValues } from "../../lib/injection/values.ts";
import { readSettings } from "../../lib/kernel/settings/read.ts";
import { catalogue } from "../../lib/kernel/settings/catalogue.ts";
import { parseMeshConfig, parseMeshNetworks } from "../../lib/config/mesh/parse.ts";
import { bundleSpec, launcherPath } from "../../scripts/bundle.ts";
import { settingsOf } from "../injection/support.ts";

const root = new URL("../../", import.meta.url);
const { version } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", root))) as { version: string };

interface Container {
  readonly name: string;
  readonly image: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports?: readonly { readonly containerPort: number }[];
  readonly volumeMounts?: readonly { readonly name: string }[];
}

interface Template {
  readonly metadata: { readonly labels: Readonly<Record<string, string>> };
  readonly spec: { readonly containers: readonly Container[]; readonly volumes?: readonly { readonly name: string }[] };
}

interface Manifest {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly template?: Template;
    readonly selector?: { readonly matchLabels?: Readonly<Record<string, string>> } & Readonly<Record<string, unknown>>;
    readonly ports?: readonly { readonly port: number }[];
  };
}

function manifest(file: string, kind: string, name?: string): Manifest {
  const text = Deno.readTextFileSync(new URL(`manifests/${file}.yaml`, root));
  const all = parseAllDocuments(text).map((document) => document.toJS() as Manifest);
  const found = all.find((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  assert.ok(found, `${file}: ${kind}`);
  return found;
}

const containerFile = (name: string) => Deno.readTextFileSync(new URL(`containers/${name}.Containerfile`, root));
const workloads = [
  ["meshd", "Deployment", "pilot-discovery", pilotDiscovery],
  ["node-agent", "DaemonSet", "install-cni", installCni],
] as const;

for (const [file, kind, program, command] of workloads) {
  Deno.test(`${program}: its deployment has flags and variables that the program reads, and an image of this version`, () => {
    const { spec } = manifest(file, kind);
    const { containers: [container], volumes = [] } = spec!.template!.spec;
    assert.equal(container!.image, `docker.io/mesh/${program}:${version}`);
    const { labels } = spec!.template!.metadata;
    assert.deepEqual({ ...labels, ...spec!.selector!.matchLabels }, labels);
    parseLine(command, [...container!.args ?? []]);
    const env = Object.fromEntries(container!.env!.map(({ name, value }) => [name, value ?? "node-1"]));
    for (const name of Object.keys(env)) assert.ok(name in catalogue, name);
    readSettings(program, env);
    const mounts = container!.volumeMounts!.map(({ name }) => name).sort();
    assert.deepEqual(mounts, volumes.map(({ name }) => name).sort());
  });
}

Deno.test("the server's service has the ports that webhooks and proxies call, and its pods listen on them", () => {
  const ports = manifest("meshd", "Service").spec!.ports!.map(({ port }) => port);
  const { containers: [container] } = manifest("meshd", "Deployment").spec!.template!.spec;
  const open = container!.ports!.map(({ containerPort }) => containerPort);
  assert.deepEqual(ports.filter((port) => !open.includes(port)), []);
  for (const port of [15010, 15012, 15014, 15017]) assert.ok(ports.includes(port), String(port));
  const called = Deno.readTextFileSync(new URL("manifests/webhooks.yaml", root)).matchAll(/^\s+port: (\d+)$/gm);
  for (const [, port] of called) assert.ok(ports.includes(Number(port)), `port ${port}`);
});

Deno.test("the config maps are read without a word, and inject as no config map does, with images of this version", () => {
  const { data } = manifest("meshd", "ConfigMap", "mesh");
  assert.deepEqual(parseMeshConfig(data!["mesh"]!, { systemNamespace: "mesh-system" }).findings, []);
  assert.deepEqual(parseMeshNetworks(data!["meshNetworks"]!).findings, []);
  const injector = manifest("meshd", "ConfigMap", "mesh-sidecar-injector").data!;
  const [config, values] = ["config", "values"].map((key) => parseAllDocuments(injector[key]!)[0]!.toJS());
  assert.deepEqual(readInjectionConfig(config), readInjectionConfig(undefined));
  const read = readValues(values);
  const tag = { global: { tag: version } };
  assert.deepEqual(read, readValues(tag));
});

Deno.test("a gateway's pod is filled in with the proxy of a gateway", () => {
  const { template } = manifest("gateway", "Deployment").spec!;
  const read = readPod(template);
  assert.ok("pod" in read);
  const result = injectPod({ pod: read.pod, namespace: "mesh-ingress" }, settingsOf({}));
  assert.ok(result.kind === "injected");
  const [proxy] = result.pod.spec.containers;
  assert.deepEqual([proxy?.image, proxy?.args?.slice(0, 2)], ["docker.io/mesh/proxy:1.0.0", ["proxy", "router"]]);
  assert.equal(result.pod.spec.initContainers, undefined);
});

for (const name of ["pilot-discovery", "proxy", "install-cni"]) {
  Deno.test(`the container file of ${name} has no fault, and copies what is there or what its head says to build`, () => {
    const text = containerFile(name);
    assert.deepEqual(validate(text).map(({ message, range }) => `${range.start.line + 1}: ${message}`), []);
    assert.ok(text.includes(`:${version} .`));
    for (const [, from] of text.matchAll(/^COPY (?!--from)(\S+)(?: \S+)? \S+$/gm)) {
      const built = /^(dist|node_modules|proto\/gen)\b/.test(from!);
      if (!built) assert.ok(Deno.statSync(new URL(from!, root)), `COPY ${from}`);
    }
  });
}

for (
  const [name, program] of [["pilot-discovery", "pilot-discovery"], ["proxy", "pilot-agent"], [
    "install-cni",
    "install-cni",
  ]] as const
) {
  Deno.test(`the image of JavaScript of ${name} runs the launcher that its bundle has`, () => {
    const text = containerFile(name);
    const { folder } = bundleSpec(program);
    const [, place] = new RegExp(`^COPY ${folder} (\\S+)$`, "m").exec(text) ?? [];
    const [, launcher] = /^RUN \["ln", "-s", "(\S+)", "\S+"\]$/m.exec(text) ?? [];
    assert.equal(launcher, `${place}${launcherPath(program).slice(folder.length)}`);
  });
}
