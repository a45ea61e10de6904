/**
 * libcni, the library of container runtimes for network configurations: the Go program of `tests/cni/go`.
 *
 * Permissions: env (GO), read and write (temp folder), run (go, the program).
 * @module
 */
import assert from "node:assert/strict";
import { buildGo } from "../../wire_conformance/support/go.ts";
import { run } from "./commands.ts";

/** libcni's reading of a file. */
export interface LibcniFile {
  readonly name: string;
  readonly error?: string;
  readonly network: string;
  readonly version: string;
  readonly types: readonly string[];
}

let built: Promise<string> | undefined;

/** Builds the program once. */
function program(): Promise<string> {
  return built ??= buildGo(new URL("../go/", import.meta.url));
}

/** Reads folders. @returns the files of each folder in the order of a runtime */
export async function readByLibcni(folders: readonly string[]): Promise<LibcniFile[][]> {
  const { code, out, err } = await run(await program(), ["read", ...folders]);
  assert.equal(code, 0, err);
  return out.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Calls the plugins of the first valid file of a folder with ADD. @returns an empty text, or the error */
export async function addByLibcni(folder: string, bin: string, cache: string): Promise<string> {
  const { code, err } = await run(await program(), ["add", folder, bin, cache]);
  return code === 0 ? "" : err;
}
