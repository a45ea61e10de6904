import assert from "node:assert/strict";
import { importsOf, sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;

/** The allowed imports of each package of `lib/` beside itself, and the reason of the limit. */
const packages: Readonly<Record<string, { readonly may: readonly string[]; readonly why: string }>> = {
  kernel: { may: [], why: "it is the ground floor of all three programs; move what it needs down, or pass it in" },
  pb: { may: [], why: "a codec knows messages, not the mesh" },
  resource: { may: ["incremental"], why: "encoded bytes know nothing of what they mean" },
  cli: { may: ["kernel"], why: "version and completion must load nothing heavy; run engines from cmd" },
  incremental: { may: [], why: "it knows what was read, not what it means: no mesh, no Envoy" },
  finding: {
    may: ["kernel"],
    why: "what is wrong with an object is said in one form; who finds it is decided elsewhere",
  },
  config: {
    may: ["kernel", "incremental", "pki", "finding"],
    why: "what users write does not depend on what runs; secrets and the mesh configuration have certificates in them",
  },
  registry: { may: ["config", "kernel"], why: "registries tell what runs; mesh decides who sees it" },
  mesh: {
    may: ["config", "registry", "incremental"],
    why: "the view of config and registry is pure; give it values, not sources",
  },
  graph: {
    may: ["config", "mesh", "registry"],
    why: "who may call whom follows from what is written and what runs; how it looks is a page's matter",
  },
  prometheus: {
    may: ["graph", "kernel"],
    why: "it asks another server for numbers and bounds its answer; where the numbers belong is the graph's matter",
  },
  ambient: {
    may: ["config", "incremental", "mesh", "pb", "registry", "resource"],
    why: "what node tunnels get is a pure function of what runs and of the mesh's policies; no proxy is behind it",
  },
  patches: {
    may: ["kernel", "config", "pb"],
    why: "what a patch does to a message depends on both alone; which proxies it is for is the mesh's matter",
  },
  translate: {
    may: ["finding", "incremental", "config", "registry", "mesh", "patches", "pb", "resource"],
    why: "translation is a pure function of the mesh; the wire asks it, never the other way",
  },
  analyze: {
    may: [
      "ambient",
      "finding",
      "incremental",
      "kernel",
      "config",
      "registry",
      "mesh",
      "ingress",
      "gateway_api",
      "gateway_api/attach",
      "rollout",
    ],
    why: "it finds what is written and takes no effect; it judges by the mesh, not by what translation made of it",
  },
  rollout: {
    may: ["config", "finding", "kernel", "mesh", "patches"],
    why: "which proxies get the newest version of an object, as plain data; who connects and answers is told to it",
  },
  effect: {
    may: ["finding", "config", "registry", "mesh", "patches", "translate", "resource"],
    why: "it finds what is written and reaches no proxy, by what translation made of it",
  },
  ingress: {
    may: ["config"],
    why: "it turns Ingresses into kinds that users could write; what runs is decided by those",
  },
  gateway_api: {
    may: ["config", "finding", "injection", "kernel", "gateway_api/attach"],
    why:
      "it turns objects of the Gateway API into kinds of the mesh, and Gateways into pods as injection makes them; which proxy gets which configuration is decided by those kinds",
  },
  "gateway_api/status": {
    may: ["config", "status", "gateway_api", "gateway_api/attach"],
    why: "a status is made from what is attached, never from derived objects, and merged as statuses of other kinds",
  },
  "gateway_api/attach": {
    may: ["config", "kernel"],
    why: "who is attached to what is decided once, before anything is derived or reported",
  },
  simulate: { may: ["pb", "config"], why: "it judges what Envoy would get, so it must not know how that was made" },
  folder: {
    may: ["finding", "config", "kernel"],
    why: "it reads files into objects; what they mean is decided elsewhere",
  },
  sockets: {
    may: ["kernel", "pki"],
    why: "a connection carries bytes for any server; it knows names in certificates, no more",
  },
  http: { may: ["kernel", "sockets"], why: "a server of pages knows no page; routes are parameters of it" },
  grpc: {
    may: ["sockets", "resource", "pb"],
    why: "a server of calls knows no service; services are parameters of it",
  },
  xds: {
    may: ["sockets", "grpc", "resource", "pb", "kernel"],
    why: "the wire owns streams and nothing else; it asks a ResourceSource",
  },
  pki: { may: ["kernel"], why: "keys, certificates and names of both ends: the agent needs them without the server" },
  authority: {
    may: ["kernel", "pki", "pb", "grpc"],
    why: "it signs what an authenticated caller may have; who calls is reported by a call's peer and authenticators",
  },
  authenticators: {
    may: ["kernel", "pki", "sockets", "orch"],
    why: "they say who is calling from what a connection proved; what the caller may do is decided elsewhere",
  },
  orch: {
    may: ["kernel", "config"],
    why: "the orchestrator's API as plain objects and events; config and registry take them as from a folder",
  },
  mcp: {
    may: ["finding", "kernel", "config", "pb", "resource"],
    why: "configuration on the wire between control planes is a codec and a state machine; discovery has the stream",
  },
  injection: {
    may: ["kernel", "config", "iptables"],
    why: "a pod comes in and goes out; who asks for it, and over which wire, is decided elsewhere",
  },
  webhook: {
    may: ["finding", "kernel", "http", "config", "injection"],
    why: "injection and validation answer one object at a time; they do not see the mesh",
  },
  status: {
    may: ["finding", "kernel", "config", "orch"],
    why: "it writes back what others report to it; it finds nothing out by itself",
  },
  debug: {
    may: [
      "ambient",
      "finding",
      "graph",
      "kernel",
      "http",
      "config",
      "registry",
      "mesh",
      "translate",
      "xds",
      "pb",
      "resource",
      "simulate",
      "dns",
      "sizing",
    ],
    why: "pages look at everything; nothing looks at pages",
  },
  web: {
    may: [
      "finding",
      "graph",
      "kernel",
      "http",
      "config",
      "registry",
      "mesh",
      "translate",
      "xds",
      "pb",
      "resource",
      "simulate",
      "debug",
    ],
    why: "pages for people show what pages for programs tell; programs do without them",
  },
  "discovery/settings": {
    may: ["grpc", "kernel", "registry", "translate", "xds", "discovery/pipeline"],
    why:
      "the settings of the program as options of packages, and the faults of options: all rooms of the server read them",
  },
  "discovery/pipeline": {
    may: ["config", "finding", "incremental", "kernel", "mesh", "registry", "resource", "rollout", "translate", "xds"],
    why: "it is the way from changes to resources, without I/O: sources hand changes to it, and the wire asks it",
  },
  "discovery/sources": {
    may: [
      "config",
      "finding",
      "folder",
      "grpc",
      "ingress",
      "kernel",
      "mcp",
      "mesh",
      "orch",
      "pb",
      "registry",
      "status",
      "discovery/pipeline",
      "discovery/settings",
      "gateway_api",
    ],
    why:
      "what the server reads, from folders, the orchestrator and other control planes; what becomes of it is decided elsewhere",
  },
  "discovery/credentials": {
    may: ["config", "incremental", "kernel", "orch", "pb", "registry", "resource", "translate", "xds"],
    why: "which secret a proxy may read, and its bytes; who the proxy is was proven before",
  },
  "discovery/clusters": {
    may: [
      "authenticators",
      "config",
      "debug",
      "kernel",
      "orch",
      "registry",
      "discovery/credentials",
      "discovery/pipeline",
      "discovery/settings",
      "discovery/sources",
    ],
    why: "remote clusters are sources whose access comes and goes",
  },
  "discovery/identity": {
    may: [
      "authenticators",
      "authority",
      "config",
      "finding",
      "grpc",
      "kernel",
      "orch",
      "pki",
      "resource",
      "sockets",
      "translate",
      "xds",
      "discovery/settings",
      "discovery/sources",
    ],
    why:
      "who the server is and who calls it: authority, certificates, roots and proofs; what a caller is given is decided elsewhere",
  },
  "discovery/registration": {
    may: [
      "config",
      "grpc",
      "kernel",
      "orch",
      "pb",
      "pki",
      "registry",
      "status",
      "translate",
      "xds",
      "discovery/settings",
      "discovery/sources",
    ],
    why: "entries of workloads that come by themselves, and their health",
  },
  "discovery/lookups": {
    may: [
      "authenticators",
      "config",
      "finding",
      "kernel",
      "mesh",
      "sockets",
      "translate",
      "discovery/pipeline",
      "discovery/settings",
    ],
    why: "what translation needs of the world outside: keys of token issuers, addresses of gateways",
  },
  "discovery/stand_ins": {
    may: ["incremental", "mesh", "patches", "resource", "translate", "xds"],
    why: "what a proxy gets in place of a resource that it rejected; it judges resources alone",
  },
  "discovery/ambient": {
    may: [
      "ambient",
      "config",
      "grpc",
      "kernel",
      "mesh",
      "pb",
      "resource",
      "translate",
      "xds",
      "discovery/identity",
      "discovery/pipeline",
      "discovery/settings",
      "discovery/sources",
    ],
    why: "node tunnels are clients that are no proxies: all of them get the same resources",
  },
  "discovery/calls": {
    may: ["kernel", "orch", "discovery/settings"],
    why: "what workloads have called, remembered by name: what a name stands for is decided elsewhere",
  },
  "discovery/rollout": {
    may: [
      "config",
      "graph",
      "kernel",
      "mesh",
      "orch",
      "rollout",
      "status",
      "translate",
      "xds",
      "discovery/pipeline",
      "discovery/settings",
      "discovery/status",
    ],
    why: "drives rollouts by what proxies answer; what a rollout is stands in `rollout`",
  },
  "discovery/proxies": {
    may: [
      "discovery/ambient",
      "discovery/calls",
      "grpc",
      "incremental",
      "pki",
      "resource",
      "translate",
      "xds",
      "discovery/credentials",
      "discovery/identity",
      "discovery/other_clients",
      "discovery/pipeline",
      "discovery/registration",
      "discovery/stand_ins",
    ],
    why: "what a connected proxy is given, behind one interface",
  },
  "discovery/other_clients": {
    may: [
      "authenticators",
      "config",
      "debug",
      "grpc",
      "http",
      "kernel",
      "mcp",
      "pb",
      "pki",
      "resource",
      "translate",
      "xds",
      "discovery/identity",
      "discovery/pipeline",
    ],
    why: "what clients that are not proxies are given: control planes and tools, on streams and on pages",
  },
  "discovery/findings": {
    may: [
      "analyze",
      "config",
      "effect",
      "finding",
      "kernel",
      "mesh",
      "patches",
      "translate",
      "discovery/clusters",
      "discovery/pipeline",
      "discovery/sources",
      "discovery/stand_ins",
    ],
    why: "the analysis of the running server; status and pages report what it found",
  },
  "discovery/status": {
    may: [
      "config",
      "finding",
      "kernel",
      "orch",
      "registry",
      "resource",
      "status",
      "xds",
      "discovery/findings",
      "discovery/pipeline",
      "discovery/settings",
      "discovery/sources",
      "gateway_api",
      "gateway_api/attach",
      "gateway_api/status",
    ],
    why: "what is found and what is live, written back into objects",
  },
  "discovery/ambient_status": {
    may: ["ambient", "config", "kernel", "mesh", "orch", "status", "discovery/settings", "discovery/sources"],
    why: "what ambient mode does with an object, said in the object; it decides nothing",
  },
  "discovery/gateways": {
    may: ["config", "gateway_api", "injection", "kernel", "orch", "discovery/settings"],
    why: "objects that run the proxies of managed Gateways; what they are is decided by the pure packages",
  },
  "discovery/injector": {
    may: [
      "authenticators",
      "config",
      "debug",
      "http",
      "injection",
      "kernel",
      "orch",
      "sockets",
      "webhook",
      "discovery/duties",
      "discovery/identity",
      "discovery/settings",
      "discovery/sources",
    ],
    why: "webhooks of the running server: injection and validation with its configuration and its certificate",
  },
  "discovery/duties": {
    may: [
      "config",
      "ingress",
      "kernel",
      "orch",
      "pki",
      "translate",
      "webhook",
      "xds",
      "discovery/clusters",
      "discovery/findings",
      "discovery/pipeline",
      "discovery/registration",
      "discovery/settings",
      "discovery/sources",
      "discovery/status",
    ],
    why: "what one server of several does for all of them",
  },
  discovery: {
    may: [
      "config",
      "debug",
      "finding",
      "graph",
      "grpc",
      "http",
      "kernel",
      "orch",
      "pb",
      "prometheus",
      "registry",
      "rollout",
      "sockets",
      "translate",
      "web",
      "xds",
      "discovery/ambient_status",
      "discovery/ambient",
      "discovery/calls",
      "discovery/clusters",
      "discovery/credentials",
      "discovery/duties",
      "discovery/findings",
      "discovery/gateways",
      "discovery/identity",
      "discovery/injector",
      "discovery/lookups",
      "discovery/other_clients",
      "discovery/pipeline",
      "discovery/proxies",
      "discovery/registration",
      "discovery/rollout",
      "discovery/settings",
      "discovery/sources",
      "gateway_api",
    ],
    why: "it is the list of parts, and starts them; programs use it, packages do not",
  },
  sizing: { may: [], why: "an answer rests on measured rows alone; the mesh that somebody plans does not exist yet" },
  offline: {
    may: [
      "ambient",
      "analyze",
      "config",
      "debug",
      "discovery",
      "effect",
      "finding",
      "folder",
      "gateway_api",
      "graph",
      "kernel",
      "mesh",
      "pb",
      "registry",
      "resource",
      "simulate",
      "translate",
      "xds",
      "discovery/credentials",
      "discovery/pipeline",
      "discovery/settings",
      "discovery/sources",
    ],
    why: "it runs the server's own way over files, for programs; no package, and no server, needs it",
  },
  install: {
    may: ["config", "injection", "kernel", "registry", "webhook"],
    why:
      "the objects of an installation are data made of values; its precheck judges pods as the injector does and ports as the registry does",
  },
  dns: { may: ["kernel", "resource"], why: "names come as bytes of the wire; of the mesh it sees nothing else" },
  iptables: { may: ["kernel"], why: "the agent's parts never need the control plane's view of the mesh" },
  cni: {
    may: ["kernel", "http", "iptables", "orch"],
    why: "the node's parts never need the control plane's view of the mesh",
  },
  agent: {
    may: ["kernel", "config", "resource", "sockets", "http", "grpc", "pki", "dns"],
    why: "the agent relays configuration, it does not make it; of config it needs the settings of a proxy alone",
  },
};

const files = sourceFiles(root, ["lib", "cmd"]);

/** The room of a file: a package of `lib/`, or a folder of a package with its own row. */
function packageOf(path: string): string | undefined {
  const [top, name, folder] = path.split("/");
  if (top !== "lib") return undefined;
  return Object.hasOwn(packages, `${name}/${folder}`) ? `${name}/${folder}` : name;
}

Deno.test("every import goes downhill", () => {
  const refused: string[] = [];
  for (const file of files) {
    const folder = packageOf(file);
    if (folder === undefined) continue;
    const rule = packages[folder];
    assert.ok(rule, `lib/${folder} is a package without a rule: say in this test what it may import, and why`);
    for (const arrow of importsOf(root, file)) {
      const target = packageOf(arrow.to);
      const at = `${file}:${arrow.line} imports ${arrow.to}`;
      if (arrow.to.startsWith("cmd/")) refused.push(`${at}: lib never imports a program; pass it in`);
      else if (target !== undefined && target !== folder && !rule.may.includes(target)) {
        refused.push(`${at}: ${rule.why}`);
      }
    }
  }
  assert.deepEqual(refused, []);
});

/** Rooms that put many others together, and the reason. */
const assemblers: Readonly<Record<string, string>> = {
  discovery: "the list of parts of the server",
  offline: "the same way over files, for commands and the library",
};

Deno.test("a room imports at most 15 others", () => {
  const wide = Object.entries(packages).filter(([name, { may }]) =>
    may.length > 15 && !Object.hasOwn(assemblers, name)
  );
  assert.deepEqual(wide.map(([name, { may }]) => `${name}: ${may.length}`), []);
});

Deno.test("every allowed import of a room is used: an unused row would allow later imports unseen", () => {
  const used = new Map<string, Set<string>>();
  for (const file of files) {
    const from = packageOf(file);
    if (from === undefined) continue;
    for (const arrow of importsOf(root, file)) {
      const to = packageOf(arrow.to);
      if (to !== undefined) used.set(from, (used.get(from) ?? new Set()).add(to));
    }
  }
  const idle = Object.entries(packages).flatMap(([name, { may }]) =>
    may.filter((to) => !used.get(name)?.has(to)).map((to) => `${name} -> ${to}`)
  );
  assert.deepEqual(idle, []);
});

const purePackages = new Set([
  "incremental",
  "finding",
  "config",
  "discovery/pipeline",
  "discovery/stand_ins",
  "gateway_api",
  "gateway_api/attach",
  "gateway_api/status",
  "ingress",
  "injection",
  "install",
  "mesh",
  "patches",
  "translate",
  "resource",
  "rollout",
  "pb",
  "registry",
  "simulate",
  "sizing",
]);
const effects = /^node:(fs|net|http|https|http2|tls|dgram|dns|child_process|worker_threads|os|process)\b/;

Deno.test("pure packages touch neither the disk nor the network nor processes", () => {
  const refused: string[] = [];
  for (const file of files) {
    if (!purePackages.has(packageOf(file) ?? "")) continue;
    const code = Deno.readTextFileSync(`${root}/${file}`).replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
    if (/\bDeno\.|\bprocess\.|\bfetch\(/.test(code)) {
      refused.push(`${file}: uses the runtime; keep effects at the edge`);
    }
    for (const arrow of importsOf(root, file)) {
      if (effects.test(arrow.to)) refused.push(`${file}:${arrow.line} imports ${arrow.to}; keep effects at the edge`);
    }
  }
  assert.deepEqual(refused, []);
});

/** Whether a module touches the system directly. */
function touchesSystem(text: string, file: string): boolean {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$|`[^`]*`/gm, "");
  return /\bDeno\.(?!errors\b|Command\b\s*\|)\w+\(|\bfetch\(|new Deno\.Command\(/.test(code) ||
    importsOf(root, file).some(({ to, typeOnly }) => !typeOnly && effects.test(to));
}

Deno.test("every module has a description; a module that uses the system names its permissions", () => {
  const silent = files.filter((file) => {
    const text = Deno.readTextFileSync(`${root}/${file}`);
    const head = /^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? "";
    return !/@module\n \*\/$/.test(head) || (touchesSystem(text, file) && !/Permissions: \w/.test(head)) ||
      /Permissions: none/.test(head);
  });
  assert.deepEqual(silent, []);
});

/** Files with all settings, or the whole kernel: the list of parts, the server, and the ports. */
const WHOLE = ["server.ts", "server_parts.ts", "start.ts", "ports.ts"].map((name) => `lib/discovery/${name}`);

Deno.test("a part of the server names the settings that it reads and the services of the kernel that it uses", () => {
  const parcel = /\bsettings\??: DiscoverySettings\b(?!\[)|\bkernel\??: Kernel\b(?!\[)|\}: Kernel\b/;
  const found = files.filter((file) =>
    file.startsWith("lib/discovery/") && !WHOLE.includes(file) && parcel.test(Deno.readTextFileSync(`${root}/${file}`))
  );
  assert.deepEqual(found, []);
});
