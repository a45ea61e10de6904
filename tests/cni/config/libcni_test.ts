/** Our reading of network configurations beside the reading of libcni, which container runtimes use. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { choosePrimary, inOrder, readConfig } from "../../../lib/cni/config/libcni.ts";
import { protocolVersions } from "../../../lib/cni/config/network.ts";
import { configFiles, placeConfig } from "../../../lib/cni/install/installer.ts";
import { systemFileCalls } from "../../../lib/cni/node/file_calls.ts";
import { go } from "../../wire_conformance/support/go.ts";
import { addByLibcni, type LibcniFile, readByLibcni } from "../support/libcni.ts";
import { Place } from "../support/place.ts";
import { corpus, type CorpusFolder, differing, listMembers, members } from "./corpus.ts";

async function write(folder: string, files: CorpusFolder): Promise<void> {
  for (const [name, text] of Object.entries(files)) {
    const path = `${folder}/${name}`;
    await Deno.mkdir(path.slice(0, path.lastIndexOf("/")), { recursive: true });
    await Deno.writeFile(path, typeof text === "string" ? new TextEncoder().encode(text) : text);
  }
}

/** Our reading, in libcni's words. */
function ours(folder: string): LibcniFile[] {
  return inOrder(configFiles(folder, systemFileCalls)).map((file) => {
    const read = readConfig(file);
    if ("problem" in read) return { name: file.name, error: read.problem, network: "", version: "", types: [] };
    return {
      name: file.name,
      // Go replaces a lone surrogate.
      network: read.name.toWellFormed(),
      version: read.version ?? "",
      types: [...read.types, ...read.furtherTypes],
    };
  });
}

/** Whether a file is valid, without the words of either reader. */
const judged = (files: readonly LibcniFile[]) => files.map(({ error, ...file }) => ({ ...file, valid: !error }));

/** Writes folders, and compares each with libcni's reading. */
async function compare(folders: readonly CorpusFolder[], each: (i: number, theirs: LibcniFile[], dir: string) => void) {
  const root = await Deno.makeTempDir({ prefix: "mcni-" });
  try {
    const paths = folders.map((_, i) => `${root}/${i}`);
    for (const [i, path] of paths.entries()) {
      await Deno.mkdir(path);
      await write(path, folders[i]!);
    }
    (await readByLibcni(paths)).forEach((theirs, i) => each(i, theirs, paths[i]!));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

Deno.test({
  name: "validity, content and choice of the primary are those of libcni",
  ignore: go === undefined,
  async fn(t) {
    const rows = Object.entries(corpus);
    assert(rows.length >= 100);
    const results: [string, () => void][] = [];
    await compare(rows.map(([, folder]) => folder), (i, theirs, dir) => {
      const [mine, choice] = [ours(dir), choosePrimary(configFiles(dir, systemFileCalls))];
      results.push([rows[i]![0], () => {
        assert.deepEqual(judged(mine), judged(theirs), JSON.stringify({ mine, theirs }, null, 2));
        assert.equal(choice.primary?.file, theirs.find(({ error }) => !error)?.name);
      }]);
    });
    for (const [name, check] of results) await t.step(name, check);
  },
});

Deno.test({
  name: "what docs/differences/cni.md lists differs from libcni",
  ignore: go === undefined,
  async fn() {
    const rows = Object.entries(differing);
    await compare(rows.map(([, folder]) => folder), (i, theirs, dir) => {
      assert.notDeepEqual(judged(ours(dir)), judged(theirs), rows[i]![0]);
    });
  },
});

/** Keys of members, in small letters: libcni does not tell `Type` from `type`. */
const keysOf = (members: string) => Object.keys(JSON.parse(`{${members}}`)).map((key) => key.toLowerCase());

/** Any value, and members with meaningful names, each name once. */
const anyMember = fc.letrec<{ value: string; member: string }>((tie) => ({
  value: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(`"bridge"`, `"1.0.0"`, `""`, "true", "null", "7", "1e40", `"True"`) },
    {
      weight: 1,
      arbitrary: fc.uniqueArray(tie("member"), { maxLength: 2, selector: (member) => keysOf(member)[0] })
        .map((found) => `{${found.join(",")}}`),
    },
    { weight: 1, arbitrary: fc.array(tie("value"), { maxLength: 2 }).map((found) => `[${found.join(",")}]`) },
  ),
  member: fc.tuple(
    fc.constantFrom(
      ...["type", "name", "cniVersion", "cniVersions", "ipam", "dns", "nameservers", "domain", "x", "plugins"],
      ...["capabilities", "prevResult", "disableCheck", "disableGC", "loadOnlyInlinedPlugins"],
      ...["cni.dev/valid-attachments", "containerID"],
    ),
    tie("value"),
  ).map(([key, value]) => `"${key}":${value}`),
})).member;

/** An object: the members of a valid object, and others before and behind. */
const around = (core: string, known: Readonly<Record<string, string>>) => {
  const more = fc.array(fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...Object.values(known)) }, anyMember), {
    maxLength: 2,
  });
  return fc.tuple(more, more).map(([before, behind]) => {
    const taken = new Set(keysOf(core));
    const isNew = (members: string) => {
      const keys = keysOf(members);
      if (keys.some((key) => taken.has(key))) return false;
      for (const key of keys) taken.add(key);
      return true;
    };
    return `{${[...before.filter(isNew), core, ...behind.filter(isNew)].join(",")}}`;
  });
};

Deno.test({
  name: "of random configurations, too",
  ignore: go === undefined,
  async fn() {
    const plugin = around(`"type":"bridge"`, members);
    const plugins = fc.array(plugin, { minLength: 1, maxLength: 2 });
    const folder = fc.record({
      "10-a.conf": plugin,
      "20-b.conflist": plugins.chain((row) => around(`"name":"n","plugins":[${row.join(",")}]`, listMembers)),
    });
    const folders = fc.sample(folder, { numRuns: 800, seed: 20261122 });
    let valid = 0;
    await compare(folders, (i, theirs, dir) => {
      valid += theirs.filter(({ error }) => !error).length;
      assert.deepEqual(judged(ours(dir)), judged(theirs), JSON.stringify([folders[i], ours(dir), theirs], null, 2));
    });
    assert(valid > 200 && valid < 1400, `${valid} of 1600 are valid`);
  },
});

/** A plugin that notes its type and command, and answers with a result. */
const fakePlugin = `#!/bin/sh
echo "\${0##*/} $CNI_COMMAND" >> "\${0%/*}/calls"
echo '{"cniVersion":"1.0.0","ips":[]}'
`;

Deno.test({
  name:
    "after an installation libcni calls our plugin for a new pod, once and last, or the installer says why it waits",
  ignore: go === undefined,
  async fn(t) {
    for (const [what, files] of Object.entries(corpus)) {
      await t.step(what, async () => {
        using place = new Place();
        const { net, bin } = place.folders;
        await write(net, files);
        const types = [...new Set(ours(net).flatMap((file) => file.types)), "mesh-cni"].filter((type) => type !== "");
        for (const type of types) await Deno.writeTextFile(`${bin}/${type}`, fakePlugin, { mode: 0o755 });
        const { config, waiting } = placeConfig(place.folders, place.desired(), systemFileCalls, () => 0);
        const primary = choosePrimary(configFiles(net, systemFileCalls)).primary;
        if (waiting !== undefined) {
          const version = primary?.version ?? "";
          const known = (protocolVersions as readonly string[]).includes(version);
          const name = primary?.name === "" ? /: name: got ""/ : /are in files of the folder net/;
          return assert.match(waiting, known ? name : /: cniVersion: got /);
        }
        assert.equal(primary?.file, config);
        const error = await addByLibcni(net, bin, `${place.dir}/cache`);
        assert.equal(error, "");
        const calls = (await Deno.readTextFile(`${bin}/calls`)).trimEnd().split("\n");
        const before = primary?.types.slice(0, -1).map((type) => `${type} ADD`);
        assert.deepEqual(calls, [...before!, "mesh-cni ADD", ...primary!.furtherTypes.map((type) => `${type} ADD`)]);
      });
    }
  },
});
