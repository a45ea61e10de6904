import assert from "node:assert/strict";
import { complete, completionText } from "../../lib/cli/completion/candidates.ts";
import { pilotAgent } from "../../cmd/pilot-agent/commands.ts";
import { pilotDiscovery } from "../../cmd/pilot-discovery/commands.ts";

function values(...words: string[]): string[] {
  return complete(pilotDiscovery, words).candidates.map((c) => c.value);
}

Deno.test("subcommands are offered, and help", () => {
  assert.deepEqual(values(""), [
    "completion",
    "discovery",
    "request",
    "check",
    "diff",
    "explain",
    "manifests",
    "size",
    "translate",
    "waypoint",
    "create-remote-secret",
    "tag",
    "dashboard",
    "describe",
    "proxy-config",
    "proxy-status",
    "rollout",
    "scope",
    "wait",
    "bug-report",
    "precheck",
    "version",
    "help",
  ]);
  assert.deepEqual(values("dis"), ["discovery"]);
  assert.deepEqual(values("--vklog", "3", "ver"), ["version"]);
  assert.deepEqual(values("help", "co"), ["completion"]);
  assert.deepEqual(values("completion", ""), ["bash", "fish", "powershell", "zsh"]);
});

Deno.test("flags are offered, global flags too", () => {
  assert.deepEqual(values("discovery", "--keepalive"), [
    "--keepaliveInterval",
    "--keepaliveMaxServerConnectionAge",
    "--keepaliveTimeout",
  ]);
  assert(values("request", "-").includes("--vklog"));
  assert(values("version", "--").includes("--help"));
});

Deno.test("values of a closed set are offered, behind a space and behind =", () => {
  assert.deepEqual(values("version", "-o", ""), ["yaml", "json"]);
  assert.deepEqual(values("version", "--output=j"), ["--output=json"]);
  assert.deepEqual(values("version", "--short="), ["--short=true", "--short=false"]);
  assert.deepEqual(values("discovery", "--registries", "Orch,"), ["Orch,Orch", "Orch,File", "Orch,Mock"]);
});

Deno.test("scopes are offered, then their levels, in comma lists", () => {
  const first = complete(pilotDiscovery, ["discovery", "--log_output_level", "ad"]);
  assert.deepEqual(first, {
    candidates: [{ value: "ads:", description: "" }, { value: "adsc:", description: "" }],
    directive: "nospace",
  });
  assert.deepEqual(values("discovery", "--log_output_level=ads:debug,krt:w"), [
    "--log_output_level=ads:debug,krt:warn",
  ]);
});

Deno.test("files and folders are left to the shell", () => {
  assert.equal(complete(pilotDiscovery, ["discovery", "--meshConfig", ""]).directive, "files");
  assert.equal(complete(pilotDiscovery, ["discovery", "--configDir=x"]).directive, "folders");
});

Deno.test("nothing is offered where nothing is known", () => {
  assert.deepEqual(values("discovery", "--domain", ""), []);
  assert.deepEqual(values("nonsense", "x", ""), []);
  assert.deepEqual(values("discovery", "--nonsense=x"), []);
});

Deno.test("arguments and the agent's roles are offered", () => {
  assert.deepEqual(values("request", "P"), ["POST", "PUT"]);
  assert.deepEqual(complete(pilotAgent, ["proxy", ""]).candidates.map((c) => c.value), [
    "router",
    "sidecar",
    "waypoint",
  ]);
});

Deno.test("the completion scripts read value, tab, description, then the directive", () => {
  const found = complete(pilotDiscovery, ["disc"]);
  assert.equal(completionText(found, true), "discovery\tStart the proxy discovery service\n:space\n");
  assert.equal(completionText(found, false), "discovery\n:space\n");
});

Deno.test("arguments that are files are completed by the shell", () => {
  assert.deepEqual(complete(pilotDiscovery, ["translate", "me"]), { candidates: [], directive: "files" });
});
