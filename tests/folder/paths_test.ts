import assert from "node:assert/strict";
import { isConfigName, scanTaskOf } from "../../lib/folder/paths.ts";

const NAMES: readonly (readonly [string, boolean])[] = [
  ["a.yaml", true],
  ["a.yml", true],
  ["a.json", true],
  ["a.txt", false],
  ["yaml", false],
  [".a.yaml", false],
  [".a.yaml.swp", false],
  ["a.yaml~", false],
  ["#a.yaml#", false],
  ["4913", false],
];

for (const [name, expected] of NAMES) {
  Deno.test({
    name: `${name} is ${expected ? "" : "no "}configuration`,
    permissions: "none",
    fn: () => assert.equal(isConfigName(name), expected),
  });
}

const TASKS: readonly (readonly [string, string])[] = [
  ["a.yaml", "path a.yaml"],
  ["sub", "path sub"],
  ["sub/a.yaml", "path sub/a.yaml"],
  ["..data", "folder "],
  ["sub/..data_tmp", "folder sub"],
  ["..2024_01_01/a.yaml", "folder "],
  [".git/config", "nothing "],
  ["sub/.a.yaml.swp", "nothing "],
  ["a.yaml~", "nothing "],
  ["", "folder "],
];

for (const [path, expected] of TASKS) {
  Deno.test({
    name: `an event of ${JSON.stringify(path)} asks for: ${expected}`,
    permissions: "none",
    fn() {
      const task = scanTaskOf(path);
      assert.equal(`${task.kind} ${"path" in task ? task.path : ""}`, expected);
    },
  });
}
