import assert from "node:assert/strict";
import { discoveryFlags } from "../../cmd/pilot-discovery/discovery_flags.ts";
import { discoveryOptions } from "../../cmd/pilot-discovery/discovery_options.ts";
import { logFlags, vklogFlag } from "../../lib/cli/log_flags.ts";
import { flagsNotBuilt, notBuilt } from "../../lib/kernel/not_built/catalogue.ts";
import { defaultSettings } from "../../lib/kernel/settings/read.ts";
import { namesFound } from "../surface/source_scan.ts";

const code = (file: string) => Deno.readTextFileSync(new URL(`../../cmd/pilot-discovery/${file}`, import.meta.url));

/** Options used by the program after the check of the command line. */
const used = namesFound(code("discovery.ts") + code("start.ts") + code("read_options.ts"), /\boptions\.(\w+)/g);

/** Flags of logging, covered by tests of logging. */
const logging = new Set(Object.keys({ ...logFlags("pilot-discovery"), ...vklogFlag }));

/** Options from the defaults of all flags, with one flag changed. */
function options(change: Record<string, unknown> = {}) {
  const values = Object.fromEntries(Object.entries(discoveryFlags).map(([name, flag]) => [name, flag.default]));
  const flags = { ...values, ...change } as Parameters<typeof discoveryOptions>[0];
  return discoveryOptions(flags, new Set(Object.keys(change)), defaultSettings("pilot-discovery"));
}

/** Another valid value for a flag. */
const others: Readonly<Record<string, Record<string, unknown>>> = {
  clusterAliases: { clusterAliases: { a: "b" } },
  registries: { registries: ["Mock"] },
  "tls-cipher-suites": { "tls-cipher-suites": ["TLS_AES_128_GCM_SHA256"] },
  caCertFile: { caCertFile: "/z", tlsCertFile: "/x", tlsKeyFile: "/y" },
  tlsCertFile: { caCertFile: "/z", tlsCertFile: "/x", tlsKeyFile: "/y" },
  tlsKeyFile: { caCertFile: "/z", tlsCertFile: "/x", tlsKeyFile: "/y" },
};

function changed(name: string): Record<string, unknown> {
  const { default: value } = discoveryFlags[name as keyof typeof discoveryFlags];
  if (others[name]) return others[name];
  if (typeof value === "boolean") return { [name]: !value };
  if (typeof value === "number") return { [name]: value / 2 };
  return { [name]: name.toLowerCase().endsWith("addr") ? ":1" : "other" };
}

const isIdle = (name: string) => notBuilt("flag", `pilot-discovery --${name}`) !== undefined;

for (const name of Object.keys(discoveryFlags).filter((flag) => !logging.has(flag))) {
  Deno.test(`--${name} ${isIdle(name) ? "is idle, as the list says" : "reaches the server"}`, () => {
    const before = options();
    const after = options(changed(name));
    const moved = Object.keys(before).filter((key) =>
      JSON.stringify(before[key as keyof typeof before]) !== JSON.stringify(after[key as keyof typeof after])
    );
    assert.notDeepEqual(moved, [], "the flag changes no option");
    // The namespace is also the default of two other options.
    const own = moved.filter((key) => name !== "namespace" || key === "namespace");
    assert.deepEqual(own.map((option) => used.has(option)), own.map(() => !isIdle(name)));
  });
}

Deno.test("no flag is reported as idle", () => {
  assert.deepEqual(flagsNotBuilt("install-cni", new Set(["ztunnel-uds-address", "configDir"])), []);
  assert.deepEqual(flagsNotBuilt("pilot-discovery", new Set()), []);
});
