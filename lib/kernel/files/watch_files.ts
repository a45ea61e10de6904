/**
 * Watches files that belong together, such as a certificate and its key, and reports the texts together. Tools and
 * mounted secrets replace the files one after the other. So a report may combine an old text with a new text; the next
 * report follows.
 *
 * Permissions: read of the files and their folders.
 *
 * @module
 */
import type { Cancel, Clock } from "../time/clock.ts";
import { type FileText, type WatchedFile, watchFile } from "./watch_file.ts";

/** Quiet time before changes are reported, ms. Files replaced one after the other are usually reported once. */
const SETTLE_MS = 100;

/** The files' texts, by path. */
export type FileTexts<Path extends string> = Readonly<Record<Path, FileText>>;

/** The watched files, and the listener for changes. */
export interface WatchFilesOptions<Path extends string> {
  readonly paths: readonly Path[];
  /** Called once before {@linkcode watchFiles} resolves, and after each change. Must not throw. */
  readonly onTexts: (texts: FileTexts<Path>) => void;
  readonly clock: Pick<Clock, "after">;
}

/**
 * Reads files and keeps watching them. The text of an absent file is undefined until the file appears.
 *
 * @throws {Deno.errors.PermissionDenied} and others when a folder cannot be watched.
 */
export async function watchFiles<Path extends string>(
  { paths, onTexts, clock }: WatchFilesOptions<Path>,
): Promise<WatchedFile> {
  const texts = new Map<Path, FileText>();
  const watched: WatchedFile[] = [];
  let started = false;
  let cancel: Cancel | undefined;
  // At the time of a report, all paths are in the map.
  const report = () => onTexts(Object.fromEntries(texts) as FileTexts<Path>);
  const stop = async () => {
    cancel?.();
    await Promise.all(watched.map((file) => file.stop()));
    cancel?.();
  };
  try {
    for (const path of paths) {
      watched.push(
        await watchFile(path, (text) => {
          texts.set(path, text);
          if (!started) return;
          cancel?.();
          cancel = clock.after(SETTLE_MS, report);
        }),
      );
    }
  } catch (error) {
    await stop();
    throw error;
  }
  started = true;
  report();
  return { stop };
}
