/** The commit of a clone, from git's files. */
import assert from "node:assert/strict";
import { gitRevision } from "../../../lib/kernel/program/build_info.ts";

const A = "a".repeat(40);
const B = "b".repeat(40);

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function revision(files: Readonly<Record<string, string>>): string | undefined {
  return gitRevision("/r", (path) => files[path]);
}

test("a branch is a file of its own, or a line of the packed refs; its file wins", () => {
  const head = { "/r/.git/HEAD": "ref: refs/heads/main\n" };
  const packed = { "/r/.git/packed-refs": `# pack-refs\n${B} refs/heads/main2\n${A} refs/heads/main\n` };
  assert.equal(revision({ ...head, ...packed }), A);
  assert.equal(revision({ ...head, ...packed, "/r/.git/refs/heads/main": `${B}\n` }), B);
  assert.equal(revision(head), undefined);
});

test("a commit that is checked out without a branch, and a text that is not a commit", () => {
  assert.equal(revision({ "/r/.git/HEAD": `${A}\n` }), A);
  assert.equal(revision({ "/r/.git/HEAD": "ref: refs/../../etc/passwd" }), undefined);
  assert.equal(revision({ "/r/.git/HEAD": "nonsense" }), undefined);
  assert.equal(revision({}), undefined);
});

test("a work tree has its HEAD apart and its refs in the repository", () => {
  const files = {
    "/r/.git": "gitdir: /main/.git/worktrees/r\n",
    "/main/.git/worktrees/r/HEAD": "ref: refs/heads/x\n",
    "/main/.git/worktrees/r/commondir": "../..\n",
    "/main/.git/worktrees/r/../../refs/heads/x": `${A}\n`,
  };
  assert.equal(revision(files), A);
});
