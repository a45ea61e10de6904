/**
 * Where log lines go: standard output, standard error, files that are rotated by size.
 *
 * Permissions: write (the files' paths), read (their sizes at start); none for the standard streams.
 *
 * @module
 */

/** Receives whole lines. */
export interface Target {
  /** People read it on a terminal that shows colours. */
  readonly colour?: boolean;
  write(line: Uint8Array): void;
  close(): void;
}

/** Size, in bytes, at which a file is put aside: 100 MiB, Istio's default. */
export const ROTATE_AT_BYTES = 100 * 1024 * 1024;

/** Files put aside that are kept: `path.1` is the newest. */
export const ROTATED_FILES = 5;

/** A stream of the process. */
export interface LogStream {
  writeSync(bytes: Uint8Array): number;
  /** Default: it is none. */
  isTerminal?(): boolean;
}

/** Standard output or error. A closed or full stream loses lines; logging never ends the program. */
export function streamTarget(stream: LogStream): Target {
  return {
    // NO_COLOR of the environment is the runtime's to read.
    colour: stream.isTerminal?.() === true && !Deno.noColor,
    write(line) {
      try {
        for (let rest = line; rest.length > 0;) rest = rest.subarray(stream.writeSync(rest));
      } catch {
        // Nowhere is left to say it.
      }
    },
    close() {},
  };
}

/** Limits of a rotated file. */
export interface RotationLimits {
  readonly bytes: number;
  readonly files: number;
}

/**
 * A file that is appended to and rotated by size.
 *
 * @throws When the file cannot be opened: at start, so that a bad path is refused there. Later failures lose lines.
 */
export function fileTarget(
  path: string,
  limits: RotationLimits = { bytes: ROTATE_AT_BYTES, files: ROTATED_FILES },
): Target {
  const open = () => {
    requireWritable(path);
    return Deno.openSync(path, { append: true, create: true, write: true });
  };
  let file: Deno.FsFile | undefined = open();
  let size = file.statSync().size;
  const rotate = () => {
    file?.close();
    file = undefined;
    for (let n = limits.files - 1; n >= 1; n--) renameIfThere(`${path}.${n}`, `${path}.${n + 1}`);
    if (limits.files > 0) renameIfThere(path, `${path}.1`);
    else Deno.truncateSync(path);
    file = open();
    size = 0;
  };
  return {
    write(line) {
      try {
        if (size > 0 && size + line.length > limits.bytes) rotate();
        file ??= open();
        for (let rest = line; rest.length > 0;) rest = rest.subarray(file.writeSync(rest));
        size += line.length;
      } catch {
        // A full disk or a folder taken away must not end the server; the next line tries again.
      }
    },
    close() {
      file?.close();
      file = undefined;
    },
  };
}

/** The open of a named pipe waits for a reader: a program would never start. */
function requireWritable(path: string): void {
  try {
    if (Deno.statSync(path).isFifo) throw new Error(`${path}: got a named pipe, expected a file`);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function renameIfThere(from: string, to: string): void {
  try {
    Deno.renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

/** Target of a `--log_target` value: `stdout`, `stderr`, or a path. */
export function openTarget(name: string): Target {
  if (name === "stdout") return streamTarget(Deno.stdout);
  if (name === "stderr") return streamTarget(Deno.stderr);
  return fileTarget(name);
}
