/**
 * Objects that have left their file while another file of the folder holds a refused text of them, as after a rename
 * with a mistake in the new text. The last good version then lives in the other file, as if it had always been there.
 *
 * @module
 */
import { objectInFile } from "../config/hashed_object.ts";
import { HashedFact } from "../config/facts/hashed_fact.ts";
import { type AnyFact, isFactKind } from "../config/facts/types.ts";
import type { ConfigObject } from "../config/types.ts";
import { contentOf, type FileDocument, type FolderObject, type ReadFileState } from "./file.ts";

/** The keys of the objects whose texts a file refuses. A text without a kind or a name stands for no object. */
export function refusedKeys({ documents }: ReadFileState): readonly string[] {
  return documents.flatMap(({ content }) =>
    (content?.refused ?? []).filter(({ kind, name }) => kind !== "" && name !== "").map(keyOf)
  );
}

function keyOf({ kind, namespace, name }: Pick<ConfigObject["meta"], "namespace" | "name"> & { kind: string }): string {
  return `${kind}/${namespace}/${name}`;
}

/** The state of a file with the last good version of an object whose text the file refuses. */
export function withLastGood(state: ReadFileState, orphan: FolderObject): ReadFileState {
  const at = state.documents.findIndex((one) => one.content?.refused.some((name) => keyOf(name) === orphan.key));
  const document = state.documents[at];
  if (document === undefined) return state;
  const object = inDocument(orphan, state.path, document);
  const kept: FileDocument = { ...document, content: contentOf(document), live: [...document.live, object] };
  return {
    ...state,
    documents: state.documents.with(at, kept),
    objects: new Map([...state.objects, [object.key, object]]),
    stale: new Set([...state.stale, object.key]),
  };
}

function inDocument(object: FolderObject, file: string, { line }: FileDocument): FolderObject {
  if (!isFactKind(object.kind)) return objectInFile(object as ConfigObject, file, line);
  // `readFact` reads all facts of files, and makes only this class.
  return object instanceof HashedFact ? object.inFile(file, line) as AnyFact : object;
}
