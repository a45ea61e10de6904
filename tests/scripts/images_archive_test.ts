/** Archives of images are read back as containerd reads them, and have the same bytes for the same content. */
import assert from "node:assert/strict";
import { mirrorOf } from "../../scripts/images/base.ts";
import { makeArchive, presentArchive, removeUnusedLayers } from "../../scripts/images/archive.ts";
import type { Image } from "../../scripts/images/description.ts";
import { BlobStore, digestOf, digestOfFile } from "../../scripts/images/store.ts";
import { attempt, command } from "../../scripts/setup/command.ts";

const silent = () => {};

/** An image of two layers, without a base. */
const image: Image = {
  reference: "registry.test/shop/cart:7",
  base: "empty",
  content: [
    { name: "program", files: [{ from: "bin/cart", to: "/usr/bin/cart" }] },
    {
      name: "texts",
      files: [{ from: "texts", to: "/usr/lib/cart" }, { to: "/usr/bin/shop", target: "/usr/bin/cart" }],
    },
  ],
  env: { MODE: "shop" },
  user: "1337:1337",
  entrypoint: ["/usr/bin/cart"],
};

/** A tree with the image's files, and a folder for archives. */
async function tree(): Promise<{ root: string; target: string; store: BlobStore } & AsyncDisposable> {
  const folder = await Deno.makeTempDir({ prefix: "images-" });
  const [root, target] = [`${folder}/tree/`, `${folder}/out`];
  await Deno.mkdir(`${root}bin`, { recursive: true });
  await Deno.mkdir(`${root}texts/more`, { recursive: true });
  await Deno.writeTextFile(`${root}bin/cart`, "#!/bin/sh\n", { mode: 0o700 });
  await Deno.writeTextFile(`${root}texts/b`, "b", { mode: 0o600 });
  await Deno.writeTextFile(`${root}texts/more/a`, "a");
  const store = new BlobStore(`${target}/store`);
  await store.prepare();
  return { root, target, store, [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }) };
}

const make = ({ root, target, store }: Awaited<ReturnType<typeof tree>>, of = image) =>
  makeArchive(root, "echo", of, target, store, silent);

/** The files of an archive, unpacked. */
async function unpacked(path: string) {
  const folder = await Deno.makeTempDir({ prefix: "images-" });
  await command("tar", ["-xf", path, "-C", folder], "/");
  const blobPath = (digest: string) => `${folder}/blobs/${digest.replace(":", "/")}`;
  return {
    json: (name: string) => JSON.parse(Deno.readTextFileSync(`${folder}/${name}`)),
    blob: (digest: string) => JSON.parse(Deno.readTextFileSync(blobPath(digest))),
    blobPath,
    [Symbol.asyncDispose]: () => Deno.remove(folder, { recursive: true }),
  };
}

/** Mode, owner and name of a layer's entries, as tar prints them. */
async function entriesOf(layer: string): Promise<string[]> {
  const { out } = await attempt("tar", ["--numeric-owner", "-tvf", layer], "/");
  return out.trimEnd().split("\n").map((line) => line.replace(/^(\S+ \S+) +\d+ (\S+ \S+) /, "$1 $2 "));
}

Deno.test("an archive names its image, and every digest and size is that of the bytes", async () => {
  await using place = await tree();
  const archive = await make(place);
  await using read = await unpacked(archive.path);
  assert.deepEqual(read.json("oci-layout"), { imageLayoutVersion: "1.0.0" });
  const [entry, ...others] = read.json("index.json").manifests;
  assert.deepEqual(others, []);
  assert.equal(entry.annotations["io.containerd.image.name"], "registry.test/shop/cart:7");
  assert.equal(entry.annotations["org.opencontainers.image.ref.name"], "7");
  assert.equal(entry.digest, archive.digest);
  const manifest = read.blob(entry.digest);
  for (const { digest, size } of [entry, manifest.config, ...manifest.layers]) {
    assert.equal(await digestOfFile(read.blobPath(digest)), digest);
    assert.equal((await Deno.stat(read.blobPath(digest))).size, size);
  }
  const config = read.blob(manifest.config.digest);
  assert.deepEqual(config.rootfs.diff_ids, manifest.layers.map(({ digest }: { digest: string }) => digest));
  assert.deepEqual(config.history.map((row: { created_by: string }) => row.created_by), ["program", "texts"]);
  assert.equal(config.os, "linux");
  assert.deepEqual(config.config, {
    Env: ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "MODE=shop"],
    User: "1337:1337",
    WorkingDir: "/",
    Entrypoint: ["/usr/bin/cart"],
  });
});

Deno.test("layers have the described files by name, of root, with modes for everyone, and links", async () => {
  await using place = await tree();
  await using read = await unpacked((await make(place)).path);
  const [entry] = read.json("index.json").manifests;
  const layers: { digest: string }[] = read.blob(entry.digest).layers;
  const lists = await Promise.all(layers.map(({ digest }) => entriesOf(read.blobPath(digest))));
  assert.deepEqual(lists, [["-rwxr-xr-x 0/0 1970-01-01 00:00 usr/bin/cart"], [
    "lrwxrwxrwx 0/0 1970-01-01 00:00 usr/bin/shop -> /usr/bin/cart",
    "-rw-r--r-- 0/0 1970-01-01 00:00 usr/lib/cart/b",
    "-rw-r--r-- 0/0 1970-01-01 00:00 usr/lib/cart/more/a",
  ]]);
});

Deno.test("the same content in another folder, of other times, is the same archive byte by byte", async () => {
  await using one = await tree();
  await using other = await tree();
  await Deno.utime(`${other.root}texts/b`, 1000, 1000);
  const [first, second] = [await make(one), await make(other)];
  assert.equal(first.digest, second.digest);
  assert.equal(await digestOfFile(first.path), await digestOfFile(second.path));
});

Deno.test("a change makes its layer again, and no other layer", async () => {
  await using place = await tree();
  const before = await make(place);
  const program = before.blobs[2]!;
  const state = () => Deno.statSync(place.store.path({ digest: program, size: 0 }));
  const { ino, ctime } = state();
  await Deno.writeTextFile(`${place.root}texts/b`, "another");
  const after = await make(place);
  assert.equal(after.blobs[2], program);
  assert.deepEqual([state().ino, state().ctime], [ino, ctime]);
  assert.notEqual(after.blobs[3], before.blobs[3]);
  assert.notEqual(after.digest, before.digest);
});

Deno.test("an archive counts as present until an input, its description or its file changes", async () => {
  await using place = await tree();
  const { root, store } = place;
  const present = (of = image) => presentArchive(root, "echo", of, store)?.digest;
  assert.equal(present(), undefined);
  const { digest, path } = await make(place);
  assert.equal(present(), digest);
  assert.equal(present({ ...image, user: "0:0" }), undefined);
  await Deno.chmod(`${root}texts/b`, 0o755);
  assert.equal(present(), undefined);
  await Deno.chmod(`${root}texts/b`, 0o600);
  assert.equal(present(), digest);
  await Deno.writeTextFile(`${root}texts/more/new`, "");
  assert.equal(present(), undefined);
  await Deno.remove(`${root}texts/more/new`);
  await Deno.truncate(path, 512);
  assert.equal(present(), undefined);
});

Deno.test("what a killed run left in the store is removed, and layers that no archive has any more", async () => {
  await using place = await tree();
  const { store, root } = place;
  await Deno.mkdir(store.unfinished("stage"));
  await Deno.writeTextFile(store.unfinished("layer"), "half");
  await store.prepare();
  const names = () => [...Deno.readDirSync(store.folder)].map(({ name }) => name).sort();
  assert.deepEqual(names(), ["blobs", "inputs"]);
  const old = await make(place);
  await Deno.writeTextFile(`${root}texts/b`, "another");
  const present = await make(place);
  await removeUnusedLayers(["echo"], store);
  const blobs = [...Deno.readDirSync(`${store.folder}/blobs/sha256`)].map(({ name }) => `sha256:${name}`);
  assert.deepEqual(blobs.sort(), present.blobs.toSorted());
  assert.ok(old.blobs.some((digest) => !blobs.includes(digest)));
});

Deno.test("a missing source is named", async () => {
  await using place = await tree();
  await Deno.remove(`${place.root}bin/cart`);
  await assert.rejects(make(place), /bin\/cart/);
});

Deno.test("a blob whose file was cut short is not taken for complete", async () => {
  await using place = await tree();
  const { store } = place;
  await Deno.writeTextFile(store.unfinished("one"), "content");
  const blob = await store.take(store.unfinished("one"), "inputs-1");
  assert.deepEqual(blob, { digest: digestOf("content"), size: 7 });
  assert.deepEqual(store.find("inputs-1"), blob);
  await Deno.truncate(store.path(blob), 3);
  assert.equal(store.find("inputs-1"), undefined);
});

Deno.test("the mirror is Debian's own, in either format of apt's sources", () => {
  const deb822 = "Types: deb\nURIs: http://mirror.test/debian/\nSuites: trixie\n";
  const security = "Types: deb\nURIs: http://mirror.test/debian-security\n";
  const vendor = "deb [signed-by=/key.gpg] https://vendor.test/apt stable main\n";
  assert.equal(mirrorOf([vendor, security, deb822]), "http://mirror.test/debian");
  assert.equal(mirrorOf(["deb [arch=amd64] http://mirror.test/debian trixie main\n"]), "http://mirror.test/debian");
  assert.equal(mirrorOf(["# deb http://mirror.test/debian trixie main\n", vendor, security]), undefined);
});
