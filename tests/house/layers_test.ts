import assert from "node:assert/strict";
import { importsOf, sourceFiles } from "../../scripts/imports.ts";

const root = new URL("../..", import.meta.url).pathname;

/** What each package of `lib/` may import beside itself, and why nothing else. Some are planned and not there yet. */
const packages: Readonly<Record<string, { readonly may: readonly string[]; readonly why: string }>> = {
  kernel: { may: [], why: "it is the ground floor of all three programs; move what it needs down, or pass it in" },
  pb: { may: [], why: "a codec knows messages, not the mesh" },
  resource: { may: [], why: "encoded bytes know nothing of what they mean" },
  cli: { may: ["kernel"], why: "version and completion must load nothing heavy; run engines from cmd" },
  incremental: { may: [], why: "it knows what was read, not what it means: no mesh, no Envoy" },
  config: {
    may: ["kernel", "incremental", "pki"],
    why: "what users write does not depend on what runs; secrets and the mesh configuration have certificates in them",
  },
  registry: { may: ["config", "kernel"], why: "registries tell what runs; mesh decides who sees it" },
  mesh: { may: ["config", "registry"], why: "the view of config and registry is pure; give it values, not sources" },
  patches: {
    may: ["kernel", "config", "pb"],
    why: "what a patch does to a message depends on both alone; which proxies it is for is the mesh's matter",
  },
  translate: {
    may: ["incremental", "config", "registry", "mesh", "patches", "pb", "resource"],
    why: "translation is a pure function of the mesh; the wire asks it, never the other way",
  },
  analyze: {
    may: ["incremental", "kernel", "config", "registry", "mesh", "ingress"],
    why: "it finds what is written and takes no effect; it judges by the mesh, not by what translation made of it",
  },
  effect: {
    may: ["config", "registry", "mesh", "patches", "translate", "resource"],
    why: "it finds what is written and reaches no proxy, by what translation made of it",
  },
  gateway_api: {
    may: ["incremental", "kernel", "config", "registry", "mesh"],
    why: "it turns Gateway API objects into kinds that users could write; translation knows the kinds alone",
  },
  ambient: {
    may: ["incremental", "config", "registry", "mesh", "pb", "resource"],
    why: "workloads and policies for the node tunnel are a translation beside the other one, and as pure",
  },
  ingress: {
    may: ["config"],
    why: "it turns Ingresses into kinds that users could write; what runs is decided by those",
  },
  simulate: { may: ["pb", "config"], why: "it judges what Envoy would get, so it must not know how that was made" },
  folder: { may: ["config", "kernel"], why: "it reads files into objects; what they mean is decided elsewhere" },
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
    may: ["kernel", "config", "pb", "resource"],
    why: "configuration on the wire between control planes is a codec and a state machine; discovery has the stream",
  },
  injection: {
    may: ["kernel", "config", "iptables"],
    why: "a pod comes in and goes out; who asks for it, and over which wire, is decided elsewhere",
  },
  webhook: {
    may: ["kernel", "http", "config", "orch", "pki", "injection"],
    why: "injection and validation answer one object at a time; they do not see the mesh",
  },
  status: {
    may: ["kernel", "config", "orch"],
    why: "it writes back what others report to it; it finds nothing out by itself",
  },
  debug: {
    may: ["kernel", "http", "config", "registry", "mesh", "translate", "xds", "pb", "resource", "simulate", "dns"],
    why: "pages look at everything; nothing looks at pages",
  },
  web: {
    may: ["kernel", "http", "config", "registry", "mesh", "translate", "xds", "pb", "resource", "simulate", "debug"],
    why: "pages for people show what pages for programs tell; programs do without them",
  },
  discovery: {
    may: [
      ...[
        "kernel",
        "config",
        "folder",
        "registry",
        "mesh",
        "patches",
        "translate",
        "sockets",
        "http",
        "grpc",
        "xds",
        "pb",
      ],
      ...[
        "resource",
        "incremental",
        "simulate",
        "debug",
        "web",
        "analyze",
        "effect",
        "ingress",
        "gateway_api",
        "ambient",
        "pki",
        "authority",
        "authenticators",
      ],
      ...["orch", "webhook", "status", "injection", "mcp"],
    ],
    why: "it assembles the server; programs use it, packages do not",
  },
  offline: {
    may: [
      ...["kernel", "config", "folder", "registry", "mesh", "translate", "discovery", "simulate", "resource", "pb"],
      ...["xds", "analyze", "effect", "debug"],
    ],
    why: "it runs the server's own way over files, for programs; no package, and no server, needs it",
  },
  dns: { may: ["kernel", "resource"], why: "names come as bytes of the wire; of the mesh it sees nothing else" },
  iptables: { may: ["kernel"], why: "the agent's parts never need the control plane's view of the mesh" },
  cni: {
    may: ["kernel", "http", "sockets", "iptables", "orch"],
    why: "the node's parts never need the control plane's view of the mesh",
  },
  agent: {
    may: ["kernel", "config", "resource", "sockets", "http", "grpc", "pb", "pki", "dns", "iptables"],
    why: "the agent relays configuration, it does not make it; of config it needs the settings of a proxy alone",
  },
};

const files = sourceFiles(root, ["lib", "cmd"]);

function packageOf(path: string): string | undefined {
  return path.startsWith("lib/") ? path.split("/")[1] : undefined;
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

const purePackages = new Set([
  "incremental",
  "config",
  "ingress",
  "injection",
  "mesh",
  "patches",
  "translate",
  "resource",
  "pb",
  "registry",
  "simulate",
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

/** Modules that touch the system by themselves. */
function touchesSystem(text: string, file: string): boolean {
  const code = text.replace(/\/\*[\s\S]*?\*\/|\/\/.*$|`[^`]*`/gm, "");
  return /\bDeno\.(?!errors\b|Command\b\s*\|)\w+\(|\bfetch\(|new Deno\.Command\(/.test(code) ||
    importsOf(root, file).some(({ to, typeOnly }) => !typeOnly && effects.test(to));
}

Deno.test("every module says what it is; one that touches the system names its permissions", () => {
  const silent = files.filter((file) => {
    const text = Deno.readTextFileSync(`${root}/${file}`);
    const head = /^\/\*\*[\s\S]*?\*\//.exec(text)?.[0] ?? "";
    return !/@module\n \*\/$/.test(head) || (touchesSystem(text, file) && !/Permissions: \w/.test(head)) ||
      /Permissions: none/.test(head);
  });
  assert.deepEqual(silent, []);
});
